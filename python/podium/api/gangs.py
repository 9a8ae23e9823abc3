"""Gangs, whatever way a user declares one: which pods belong together and what their group asks for.

Four ways lead to one :class:`Description`: a label with the minimum in an annotation, and the PodGroups of
``scheduling.k8s.io``, ``scheduling.x-k8s.io`` (coscheduling) and ``scheduling.volcano.sh``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from podium.api.objects.base import Object
from podium.api.objects.groups import CoschedulingPodGroup, PodGroup, VolcanoPodGroup
from podium.api.objects.pod import Pod

COSCHEDULING_LABEL = "scheduling.x-k8s.io/pod-group"
VOLCANO_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
ROLE_ANNOTATION = "volcano.sh/task-spec"
TOPOLOGY_REQUIRED = "podium.dev/topology-required"
TOPOLOGY_PREFERRED = "podium.dev/topology-preferred"
RUN_TIME = "podium.dev/run-time"

_MOST = 2**31 - 1
_NOTHING: Mapping[str, str] = {}


class Way(StrEnum):
    """How a gang is declared."""

    LABEL = "label"
    POD_GROUP = "scheduling.k8s.io"
    COSCHEDULING = "scheduling.x-k8s.io"
    VOLCANO = "scheduling.volcano.sh"


#: An enumeration's member costs more to look up than all else that is asked of a pod.
LABEL: Final = Way.LABEL


class GangKey(NamedTuple):
    """Names one gang."""

    way: Way
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


#: The object that declares a gang, by type.
WAY_OF: Mapping[type[Object], Way] = {
    PodGroup: Way.POD_GROUP,
    CoschedulingPodGroup: Way.COSCHEDULING,
    VolcanoPodGroup: Way.VOLCANO,
}


@dataclass(frozen=True, slots=True)
class Description:
    """What a gang asks for.

    Attributes:
        minimum: members that must have places together; not less than the sum of the roles' minimums.
        roles: role -> its minimum.
        timeout: seconds that members wait in Permit; None: the configured time.
        priority, class_name: the group's own priority, or the class that says it; None, "": its members'.
        may_preempt: False where the group says that it never preempts; None: as its members say.
        topology: label keys whose values all members must share.
        preferred: whether they may be apart where no domain has room for all.
        problem: why it cannot be a gang; empty if it can.

    """

    minimum: int = 1
    roles: Mapping[str, int] | None = None
    timeout: float | None = None
    priority: int | None = None
    class_name: str = ""
    may_preempt: bool | None = None
    topology: tuple[str, ...] = ()
    preferred: bool = False
    problem: str = ""

    @property
    def priority_or_zero(self) -> int:
        """Its priority, once its members were heard."""
        return self.priority or 0


def gang_of(pod: Pod, label: str) -> GangKey | None:
    """Return the gang that a pod says it belongs to, None if it is in none.

    Args:
        pod: the pod.
        label: the key of the label that names a gang.

    """
    metadata = pod.metadata
    group = pod.spec.scheduling_group
    if group is not None and group.pod_group_name:
        return GangKey(Way.POD_GROUP, metadata.namespace, group.pod_group_name)
    labels = metadata.labels
    if labels:
        name = labels.get(label)
        if name:
            return GangKey(LABEL, metadata.namespace, name)
        name = labels.get(COSCHEDULING_LABEL)
        if name:
            return GangKey(Way.COSCHEDULING, metadata.namespace, name)
    annotations = metadata.annotations
    if annotations:
        for key in VOLCANO_ANNOTATIONS:
            name = annotations.get(key)
            if name:
                return GangKey(Way.VOLCANO, metadata.namespace, name)
    return None


def role_of(pod: Pod) -> str:
    """Return the role of a pod in its gang, empty if it names none."""
    return (pod.metadata.annotations or _NOTHING).get(ROLE_ANNOTATION, "")


def by_label(pods: Sequence[Pod], min_available: str) -> Description:
    """Describe a gang that its members' annotations declare; the largest minimum counts.

    Without any such annotation there is nothing that must go together: the minimum is 1.
    """
    minimum, seen = 1, None
    for pod in pods:
        given = (pod.metadata.annotations or _NOTHING).get(min_available)
        if given is None or given == seen:
            continue
        seen = given
        if not given.isascii() or not given.isdigit() or not 1 <= int(given) <= _MOST:
            what = f"annotation {min_available} of {pod.metadata.name}"
            problem = f"{what}: {given!r} is no number from 1 to {_MOST}"
            return Description(problem=problem)
        minimum = max(minimum, int(given))
    topology, preferred = _annotated_topology(pods)
    return Description(minimum=minimum, topology=topology, preferred=preferred)


def by_pod_group(group: PodGroup, pods: Sequence[Pod]) -> Description:
    """Describe a group of ``scheduling.k8s.io``; one with the policy ``basic`` has nothing to wait for."""
    spec = group.spec
    gang = spec.scheduling_policy.gang
    constraints = spec.scheduling_constraints
    keys = tuple(c.key for c in constraints.topology if c.key) if constraints is not None else ()
    preferred = False
    if not keys:
        keys, preferred = _annotated_topology(pods)
    policy = spec.preemption_policy
    return Description(
        minimum=max(1, gang.min_count) if gang is not None else 1,
        priority=spec.priority,
        class_name=spec.priority_class_name,
        may_preempt=None if not policy else policy != "Never",
        topology=keys,
        preferred=preferred,
    )


def by_coscheduling(group: CoschedulingPodGroup, pods: Sequence[Pod]) -> Description:
    """Describe a group of the coscheduling plugin; ``minResources`` is no placement and decides nothing."""
    topology, preferred = _annotated_topology(pods)
    timeout = group.spec.schedule_timeout_seconds
    return Description(
        minimum=max(1, group.spec.min_member),
        timeout=None if timeout is None else float(timeout),
        topology=topology,
        preferred=preferred,
    )


def by_volcano(group: VolcanoPodGroup, pods: Sequence[Pod]) -> Description:
    """Describe a group of Volcano; the minimum of all and those of the roles both hold."""
    topology, preferred = _annotated_topology(pods)
    roles = {role: least for role, least in group.spec.min_task_member.items() if least > 0}
    return Description(
        minimum=max(1, group.spec.min_member, sum(roles.values())),
        roles=roles or None,
        class_name=group.spec.priority_class_name,
        topology=topology,
        preferred=preferred,
    )


def describe(key: GangKey, group: Object | None, pods: Sequence[Pod], min_available: str) -> Description:
    """Return what a gang asks for.

    Args:
        key: the gang.
        group: the object that declares it; None for gangs by label, and where it does not exist.
        pods: its members.
        min_available: key of the annotation with the minimum of a gang by label.

    """
    if key.way is Way.LABEL:
        return by_label(pods, min_available)
    if isinstance(group, PodGroup):
        return by_pod_group(group, pods)
    if isinstance(group, CoschedulingPodGroup):
        return by_coscheduling(group, pods)
    if isinstance(group, VolcanoPodGroup):
        return by_volcano(group, pods)
    return Description(problem=f"PodGroup {key} of {key.way.value} does not exist")


def _annotated_topology(pods: Sequence[Pod]) -> tuple[tuple[str, ...], bool]:
    """Return the keys, and whether they are only preferred, of the first member that names some."""
    for pod in pods:
        annotations = pod.metadata.annotations
        if not annotations:
            continue
        if required := annotations.get(TOPOLOGY_REQUIRED):
            return (required,), False
        if preferred := annotations.get(TOPOLOGY_PREFERRED):
            return (preferred,), True
    return (), False
