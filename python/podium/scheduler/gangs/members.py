"""What the members of a gang must agree on."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from podium.api import Pod
from podium.api.gangs import TOPOLOGY_PREFERRED, TOPOLOGY_REQUIRED, Description
from podium.framework.config import GangSettings

Signature = tuple[int, str, str | None, str | None, str | None, str | None]


class Told(NamedTuple):
    """What the core is told of a gang, as ``set_groups`` takes it.

    Attributes:
        minimum, role_minimums: of all members and of each role; the first is that of members without any.
        priority: the gang's.
        may_preempt: whether others may be evicted for it.

    """

    minimum: int
    role_minimums: tuple[int, ...]
    priority: int
    may_preempt: bool
    topology: tuple[str, ...]
    preferred: bool


class Verdict(NamedTuple):
    """A gang's description after its members were heard.

    Attributes:
        description: with a problem where they disagree.
        told: the same for the core, as long as no member has ended.
        uniform: whether all members say the same.

    """

    description: Description
    told: Told
    uniform: bool


def signature(pod: Pod, settings: GangSettings) -> Signature:
    """Return all that a member contributes to the description of its gang."""
    annotations = pod.metadata.annotations or {}
    spec = pod.spec
    return (
        spec.priority or 0,
        spec.scheduler_name,
        spec.preemption_policy,
        annotations.get(settings.min_available),
        annotations.get(TOPOLOGY_REQUIRED),
        annotations.get(TOPOLOGY_PREFERRED),
    )


def controller_of(pod: Pod) -> str:
    """Return the uid of the object that makes pods like this one, empty if there is none."""
    for owner in pod.metadata.owner_references or ():
        if owner.controller:
            return owner.uid
    return ""


def judge(said: Description, pods: Sequence[Pod], class_value: int | None) -> Verdict:
    """Complete a description with what the members say, and refuse it where they contradict one another.

    Args:
        said: what the group itself says.
        pods: its members, at least one.
        class_value: the value of its priority class, None if it names none that exists.

    """
    first = pods[0]
    priorities = {pod.spec.priority or 0 for pod in pods}
    schedulers = {pod.spec.scheduler_name for pod in pods}
    policies = {pod.spec.preemption_policy for pod in pods}
    own = said.priority if said.priority is not None else class_value
    problem = said.problem
    if not problem and len(schedulers) > 1:
        problem = f"members name different schedulers: {', '.join(sorted(schedulers))}"
    if not problem and own is None and len(priorities) > 1:
        problem = f"members have different priorities: {', '.join(map(str, sorted(priorities)))}"
    priority = own if own is not None else first.spec.priority or 0
    may_preempt = said.may_preempt if said.may_preempt is not None else "Never" not in policies
    uniform = len(priorities) == len(schedulers) == len(policies) == 1
    roles = (0, *said.roles.values()) if said.roles else ()
    told = Told(max(0, said.minimum), roles, priority, may_preempt, said.topology, said.preferred)
    return Verdict(replace(said, priority=priority, problem=problem), told, uniform)
