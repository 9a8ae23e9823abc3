"""Priority: a pod's class becomes its number."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from podium.api.objects.base import Object, ObjectMeta
from podium.api.objects.groups import PodGroupSpec
from podium.api.objects.pod import PodSpec
from podium.api.objects.policy import PriorityClass

SYSTEM_CRITICAL = 2_000_000_000
HIGHEST_USER_PRIORITY = 1_000_000_000

SYSTEM_CLASSES: Mapping[str, int] = {
    "system-node-critical": SYSTEM_CRITICAL + 1000,
    "system-cluster-critical": SYSTEM_CRITICAL,
}
"""The classes that every cluster has."""


def _builtin(name: str, value: int) -> PriorityClass:
    metadata = ObjectMeta(name=name)
    return PriorityClass(metadata=metadata, value=value, preemption_policy="PreemptLowerPriority")


class Resolved(NamedTuple):
    """What a class means for a pod."""

    class_name: str
    value: int
    policy: str | None


_NO_CLASS = Resolved("", 0, "PreemptLowerPriority")


class Priorities(NamedTuple):
    """The classes by name, and what a pod without a class gets."""

    classes: Mapping[str, PriorityClass]
    default: Resolved

    @classmethod
    def of(cls, items: Iterable[PriorityClass]) -> "Priorities":
        """Look up in these classes and the built-in ones; of two global defaults the lower counts."""
        classes = {name: _builtin(name, value) for name, value in SYSTEM_CLASSES.items()}
        classes |= {item.metadata.name: item for item in items}
        defaults = [item for item in classes.values() if item.global_default]
        lowest = min(defaults, key=lambda item: item.value, default=None)
        return cls(classes, _NO_CLASS if lowest is None else _resolved(lowest))

    def admit(self, spec: PodSpec, *, bound: bool) -> Sequence[str]:
        """Set class, priority and preemption policy; a bound pod keeps what it has."""
        if bound and spec.priority is not None:
            return ()
        found = self._find(spec.priority_class_name)
        if found is None:
            return (_unknown(spec.priority_class_name),)
        refusal = _contradiction(spec, found)
        if refusal:
            return (refusal,)
        spec.priority_class_name = found.class_name
        spec.priority = found.value
        spec.preemption_policy = found.policy or spec.preemption_policy
        return ()

    def admit_group(self, spec: PodGroupSpec) -> Sequence[str]:
        """Set a group's class and priority."""
        found = self._find(spec.priority_class_name)
        if found is None:
            return (_unknown(spec.priority_class_name),)
        if spec.priority is not None and spec.priority != found.value:
            return (
                f"priority set in the pod group ({spec.priority}) must match the priority computed "
                f"({found.value}) based on the priority class set in the spec",
            )
        spec.priority_class_name = found.class_name
        spec.priority = found.value
        return ()

    def _find(self, name: str) -> Resolved | None:
        if not name:
            return self.default
        found = self.classes.get(name)
        return None if found is None else _resolved(found)


def second_default(others: Iterable[Object]) -> Sequence[str]:
    """Return why a global default is refused where there is one already."""
    for other in others:
        if isinstance(other, PriorityClass) and other.global_default:
            name = other.metadata.name
            return (f"PriorityClass {name} is already marked as default. Only one default can exist",)
    return ()


def _resolved(item: PriorityClass) -> Resolved:
    return Resolved(item.metadata.name, item.value, item.preemption_policy)


def _unknown(name: str) -> str:
    return f"no PriorityClass with name {name} was found"


def _contradiction(spec: PodSpec, found: Resolved) -> str:
    if spec.priority is not None and spec.priority != found.value:
        return (
            f"the integer value of priority ({spec.priority}) must not be provided in pod spec; "
            f"priority admission controller computed {found.value} from the given PriorityClass name"
        )
    if found.policy and spec.preemption_policy not in (None, found.policy):
        return (
            f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod "
            f"spec; priority admission controller computed {found.policy} from the given PriorityClass name"
        )
    return ""
