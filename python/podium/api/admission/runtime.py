"""RuntimeClass: a runtime's overhead and nodes become the pod's."""

from collections.abc import Mapping, Sequence

from podium.api.admission.tolerations import merge
from podium.api.objects.base import ResourceList
from podium.api.objects.pod import PodSpec
from podium.api.objects.policy import RuntimeClass
from podium.api.quantities import exact

_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


def _same(left: ResourceList, right: ResourceList) -> bool:
    return left.keys() == right.keys() and all(exact(left[name]) == exact(right[name]) for name in left)


def admit(spec: PodSpec, found: RuntimeClass | None, *, bound: bool) -> Sequence[str]:
    """Set overhead, node selector and tolerations in place; a bound pod keeps its own overhead."""
    if found is None:
        return () if bound else (f'pod rejected: RuntimeClass "{spec.runtime_class_name}" not found',)
    if found.overhead is not None:
        if spec.overhead and not bound and not _same(spec.overhead, found.overhead.pod_fixed):
            return (_MISMATCH,)
        if not (bound and spec.overhead):
            spec.overhead = found.overhead.pod_fixed
    if found.scheduling is None:
        return ()
    wanted, own = found.scheduling.node_selector, spec.node_selector or {}
    for key, value in wanted.items():
        if own.get(key, value) != value and not bound:
            return (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {own[key]}",
            )
    if wanted:
        spec.node_selector = {**wanted, **own}
    spec.tolerations = merge(spec.tolerations, found.scheduling.tolerations)
    return ()


def judge(spec: PodSpec, classes: Mapping[str, RuntimeClass]) -> Sequence[str]:
    """Return why a pod's overhead is refused."""
    found = classes.get(spec.runtime_class_name) if spec.runtime_class_name is not None else None
    if found is not None and found.overhead is not None:
        same = spec.overhead is not None and _same(spec.overhead, found.overhead.pod_fixed)
        return () if same else (_MISMATCH,)
    if spec.overhead is not None:
        return ("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",)
    return ()
