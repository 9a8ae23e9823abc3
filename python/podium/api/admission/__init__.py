"""What the API server's admission plugins do to a new object: fill in from classes and ranges, or refuse.

The order is kube-apiserver's: LimitRanger, Priority, DefaultTolerationSeconds, DefaultStorageClass and
RuntimeClass change the object; then the pod strategy merges label keys and pod-level resources; after
validation LimitRanger and RuntimeClass judge the result.

A bound pod has been through this already: what it says of itself is kept and nothing refuses it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from podium.api.admission import limits, priority, runtime, strategy, tolerations, volumes
from podium.api.objects.base import Object
from podium.api.objects.groups import PodGroup
from podium.api.objects.pod import Pod
from podium.api.objects.policy import LimitRange, PriorityClass, RuntimeClass
from podium.api.objects.storage import PersistentVolumeClaim, StorageClass
from podium.errors import InputError

__all__ = ["Admission", "label_keys"]

label_keys = strategy.label_keys


class Admission(NamedTuple):
    """The admission plugins with the objects that they look up."""

    priorities: priority.Priorities
    limit_ranges: Mapping[str, Sequence[LimitRange]]
    runtime_classes: Mapping[str, RuntimeClass]
    default_storage_class: str | None

    @classmethod
    def over(cls, items: Iterable[Object]) -> "Admission":
        """Build the plugins over defaulted objects; kinds that none of them reads are passed over."""
        ranges: dict[str, list[LimitRange]] = {}
        priorities: list[PriorityClass] = []
        runtimes: dict[str, RuntimeClass] = {}
        storage: list[StorageClass] = []
        for item in items:
            if isinstance(item, LimitRange):
                ranges.setdefault(item.metadata.namespace, []).append(item)
            elif isinstance(item, PriorityClass):
                priorities.append(item)
            elif isinstance(item, RuntimeClass):
                runtimes[item.metadata.name] = item
            elif isinstance(item, StorageClass):
                storage.append(item)
        return cls(priority.Priorities.of(priorities), ranges, runtimes, volumes.default_class(storage))

    def mutate_pod(self, pod: Pod) -> None:
        """Complete a defaulted pod in place; raises InputError."""
        spec, bound = pod.spec, bool(pod.spec.node_name)
        for item in self.limit_ranges.get(pod.metadata.namespace, ()):
            limits.set_defaults(spec, item)
        refuse(pod, self.priorities.admit(spec, bound=bound))
        tolerations.add_defaults(spec)
        if spec.runtime_class_name is not None:
            found = self.runtime_classes.get(spec.runtime_class_name)
            refuse(pod, runtime.admit(spec, found, bound=bound))
        strategy.merge_label_keys(spec, pod.metadata.labels)
        strategy.default_pod_level(spec)

    def judge_pod(self, pod: Pod) -> None:
        """Judge a completed and valid pod; raises InputError."""
        if pod.spec.node_name:
            return
        for item in self.limit_ranges.get(pod.metadata.namespace, ()):
            refuse(pod, limits.judge_pod(pod.spec, item))
        refuse(pod, runtime.judge(pod.spec, self.runtime_classes))

    @staticmethod
    def judge_class(item: PriorityClass, others: Iterable[Object]) -> None:
        """Judge a priority class beside those that are there: raises InputError for a second default."""
        if item.global_default:
            refuse(item, priority.second_default(others))

    def mutate_claim(self, claim: PersistentVolumeClaim) -> None:
        """Give a claim the default class, in place."""
        volumes.set_class(claim, self.default_storage_class)

    def judge_claim(self, claim: PersistentVolumeClaim) -> None:
        """Judge a claim by its namespace's limits; raises InputError."""
        for item in self.limit_ranges.get(claim.metadata.namespace, ()):
            refuse(claim, limits.judge_claim(claim.spec, item))

    def mutate_group(self, group: PodGroup) -> None:
        """Give a group of scheduling.k8s.io its priority, in place; raises InputError."""
        refuse(group, self.priorities.admit_group(group.spec))


_PLURALS: Mapping[type[Object], str] = {
    Pod: "pods",
    PersistentVolumeClaim: "persistentvolumeclaims",
    PodGroup: "podgroups.scheduling.k8s.io",
    PriorityClass: "priorityclasses.scheduling.k8s.io",
}


def refuse(item: Object, reasons: Sequence[str]) -> None:
    """Raise InputError in the API server's words if there is a reason."""
    if not reasons:
        return
    name = item.metadata.name or item.metadata.generate_name or "Unknown"
    reason = reasons[0] if len(reasons) == 1 else f"[{', '.join(reasons)}]"
    raise InputError(f'{_PLURALS[type(item)]} "{name}" is forbidden: {reason}')
