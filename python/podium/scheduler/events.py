"""Cluster events as bits, the form in which the core's queue compares them."""

from collections.abc import Iterable
from typing import Final

from podium.framework.events import Action, ClusterEvent, Resource

_POD_ACTIONS: Final = (
    Action.ADD,
    Action.DELETE,
    Action.UPDATE_POD_LABEL,
    Action.UPDATE_POD_SCALE_DOWN,
    Action.UPDATE_POD_TOLERATION,
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
    Action.UPDATE,
)
_NODE_ACTIONS: Final = (
    Action.ADD,
    Action.DELETE,
    Action.UPDATE_NODE_ALLOCATABLE,
    Action.UPDATE_NODE_LABEL,
    Action.UPDATE_NODE_TAINT,
    Action.UPDATE_NODE_CONDITION,
    Action.UPDATE_NODE_ANNOTATION,
    Action.UPDATE_NODE_DECLARED_FEATURE,
)
_OTHER_ACTIONS: Final = (Action.ADD, Action.DELETE, Action.UPDATE)

#: What can happen, most specific first; the position is the bit. A generic update stands for changes that no
#: specific action names.
ELEMENTARY: Final[tuple[ClusterEvent, ...]] = (
    *(
        ClusterEvent(resource, action)
        for resource in (Resource.ASSIGNED_POD, Resource.UNSCHEDULED_POD, Resource.TARGET_POD)
        for action in _POD_ACTIONS
    ),
    *(ClusterEvent(Resource.NODE, action) for action in _NODE_ACTIONS),
    *(
        ClusterEvent(resource, action)
        for resource in (
            Resource.PERSISTENT_VOLUME,
            Resource.PERSISTENT_VOLUME_CLAIM,
            Resource.STORAGE_CLASS,
            Resource.CSI_NODE,
            Resource.CSI_DRIVER,
            Resource.CSI_STORAGE_CAPACITY,
            Resource.VOLUME_ATTACHMENT,
        )
        for action in _OTHER_ACTIONS
    ),
)

_BIT: Final = {(event.resource, event.action): 1 << at for at, event in enumerate(ELEMENTARY)}


def bit(resource: Resource, action: Action) -> int:
    """Return the bit of an elementary event."""
    return _BIT[resource, action]


def bits(registered: Iterable[ClusterEvent]) -> int:
    """Return the bits of every elementary event that some registration covers."""
    events = tuple(registered)
    covered = (at for at, event in enumerate(ELEMENTARY) if any(_covers(own, event) for own in events))
    return sum(1 << at for at in covered)


def _covers(own: ClusterEvent, event: ClusterEvent) -> bool:
    if event.action == Action.UPDATE:
        # A generic update is a change that no specific action names: only whoever wants all updates wants it.
        return own.matches(event) and Action.UPDATE in own.action
    return own.matches(event)
