"""Tolerations: DefaultTolerationSeconds, and merging two lists."""

from collections.abc import Iterable

from podium.api.objects.affinity import Toleration
from podium.api.objects.pod import PodSpec

DEFAULT_SECONDS = 300
_NODE_PROBLEMS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def _covers(toleration: Toleration, key: str) -> bool:
    return toleration.key in ("", key) and toleration.effect in ("", "NoExecute")


def add_defaults(spec: PodSpec) -> None:
    """Let the pod stay 300 s on a node that is not ready or unreachable, unless it says otherwise."""
    added = [
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=DEFAULT_SECONDS)
        for key in _NODE_PROBLEMS
        if not any(_covers(toleration, key) for toleration in spec.tolerations)
    ]
    if added:
        spec.tolerations = [*spec.tolerations, *added]


def merge(first: Iterable[Toleration], second: Iterable[Toleration]) -> list[Toleration]:
    """Join two lists; what another one covers is dropped."""
    everything = [*first, *second]
    merged: list[Toleration] = []
    for index, toleration in enumerate(everything):
        later = (other for other in everything[index + 1 :] if other != toleration)
        if not any(_is_superset(other, toleration) for other in (*merged, *later)):
            merged.append(toleration)
    return merged


def _is_superset(wide: Toleration, narrow: Toleration) -> bool:
    if wide == narrow:
        return True
    if narrow.key != wide.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in ("", narrow.effect):
        return False
    if wide.effect == "NoExecute" and wide.toleration_seconds is not None:
        seconds = narrow.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    if wide.operator in ("", "Equal"):
        return narrow.operator == "Equal" and narrow.value == wide.value
    return wide.operator == "Exists"
