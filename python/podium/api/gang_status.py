"""What a scheduler writes back about a gang, in the terms of whatever declared it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from podium.api.objects.base import Object
from podium.api.objects.groups import CoschedulingPodGroup, PodGroup, VolcanoPodGroup

Wire = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a gang stands.

    Attributes:
        minimum: members it needs.
        members: known members.
        bound: members on nodes.
        succeeded, failed: members that have ended.
        message: why it has no places, empty if it has.
        error: whether that is an error rather than a lack of room.
        epoch: counts its attempts that were rolled back.

    """

    minimum: int
    members: int
    bound: int
    succeeded: int = 0
    failed: int = 0
    message: str = ""
    error: bool = False
    epoch: int = 0

    @property
    def is_scheduled(self) -> bool:
        """Whether the minimum is on nodes."""
        return self.bound + self.succeeded >= self.minimum


def _pod_group(standing: Standing) -> Wire:
    if standing.is_scheduled:
        condition = {
            "type": "PodGroupInitiallyScheduled",
            "status": "True",
            "reason": "Scheduled",
            "message": "",
        }
    else:
        reason = "SchedulerError" if standing.error else "Unschedulable"
        condition = {
            "type": "PodGroupInitiallyScheduled",
            "status": "False",
            "reason": reason,
            "message": standing.message,
        }
    return {"conditions": [condition]}


def _coscheduling(standing: Standing) -> Wire:
    if standing.succeeded >= standing.minimum:
        phase = "Finished"
    elif standing.is_scheduled:
        phase = "Running"
    elif standing.bound or not standing.message:
        phase = "Scheduling"
    else:
        phase = "Pending"
    return {
        "phase": phase,
        "running": standing.bound,
        "succeeded": standing.succeeded,
        "failed": standing.failed,
    }


def _volcano(standing: Standing) -> Wire:
    if standing.succeeded >= standing.minimum and not standing.bound:
        phase = "Completed"
    elif standing.is_scheduled:
        phase = "Running"
    elif standing.bound:
        phase = "Unknown"
    elif standing.members >= standing.minimum:
        phase = "Inqueue"
    else:
        phase = "Pending"
    condition = {"type": "Scheduled", "status": "True", "reason": "tasks in gang are ready to be scheduled"}
    if not standing.is_scheduled:
        enough = standing.members >= standing.minimum
        reason = "NotEnoughResources" if enough else "NotEnoughTasks"
        condition = {
            "type": "Unschedulable",
            "status": "True",
            "reason": reason,
            "message": standing.message,
        }
    condition["transitionID"] = str(standing.epoch)
    return {
        "phase": phase,
        "conditions": [condition],
        "running": standing.bound,
        "succeeded": standing.succeeded,
        "failed": standing.failed,
    }


_WRITERS: Mapping[type[Object], Callable[[Standing], Wire]] = {
    PodGroup: _pod_group,
    CoschedulingPodGroup: _coscheduling,
    VolcanoPodGroup: _volcano,
}


def status_of(group: Object, standing: Standing) -> Wire:
    """Return the status of a PodGroup, as a merge patch of its ``status``."""
    return _WRITERS[type(group)](standing)
