"""Cluster events and queueing hints: what may make a rejected pod schedulable.

Names, bit order and the match rule are those of ``k8s.io/kube-scheduler/framework`` (``types.go``) at
v0.37.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, IntFlag, StrEnum
from typing import Any, Final

from podium.api import Pod


class Resource(StrEnum):
    """The kind of object an event is about."""

    POD = "Pod"
    """Any pod; the same as registering the three below."""
    ASSIGNED_POD = "AssignedPod"
    """A pod on a node."""
    UNSCHEDULED_POD = "UnscheduledPod"
    """Another pod that waits."""
    TARGET_POD = "TargetPod"
    """The rejected pod itself."""
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    COMPOSITE_POD_GROUP = "scheduling.k8s.io/CompositePodGroup"
    WILDCARD = "*"
    """Every resource; as an incoming event it moves every pod."""


class Action(IntFlag):
    """What happened to the object; several can be or-ed. The numbers may change, never store them."""

    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_NODE_PREEMPTION_POLICY = 1 << 8
    UPDATE_POD_LABEL = 1 << 9
    UPDATE_POD_SCALE_DOWN = 1 << 10
    UPDATE_POD_SCALE_UP = 1 << 11
    UPDATE_POD_TOLERATION = 1 << 12
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 13
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 14
    UPDATE = (1 << 15) - 1 - 3
    ALL = (1 << 15) - 1

    @property
    def label(self) -> str:
        """The name in metrics and logs, e.g. ``UpdateNodeLabel``; empty for other combinations."""
        name = self.name or ""
        return "" if "|" in name else name.title().replace("_", "")


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A change in the cluster, or one that a plugin registers for."""

    resource: Resource
    action: Action
    custom_label: str = ""

    @property
    def label(self) -> str:
        """The name in metrics and logs, e.g. ``NodeUpdateNodeLabel``."""
        return self.custom_label or f"{self.resource.value}{self.action.label}"

    @property
    def is_wildcard(self) -> bool:
        """Whether it is any action on any resource."""
        return self.resource is Resource.WILDCARD and self.action == Action.ALL

    def matches(self, incoming: "ClusterEvent") -> bool:
        """Whether ``incoming`` is this event or a more specific one.

        A wildcard that comes in matches only a wildcard that is registered: the queue moves every pod for it
            anyway.
        """
        if self.is_wildcard:
            return True
        same = self.resource in {Resource.WILDCARD, incoming.resource} or (
            self.resource is Resource.POD and incoming.resource in POD_RESOURCES
        )
        return same and bool(self.action & incoming.action) and incoming.action <= self.action


POD_RESOURCES: Final = (Resource.ASSIGNED_POD, Resource.UNSCHEDULED_POD, Resource.TARGET_POD)

#: What a plugin is registered for that says nothing: every event of these resources.
DEFAULT_RESOURCES: Final = (
    *POD_RESOURCES,
    Resource.NODE,
    Resource.PERSISTENT_VOLUME,
    Resource.PERSISTENT_VOLUME_CLAIM,
    Resource.CSI_NODE,
    Resource.CSI_DRIVER,
    Resource.CSI_STORAGE_CAPACITY,
    Resource.STORAGE_CLASS,
    Resource.RESOURCE_CLAIM,
    Resource.DEVICE_CLASS,
)


class Hint(Enum):
    """The answer of a queueing hint."""

    SKIP = "QueueSkip"
    """The event cannot help this pod."""
    QUEUE = "Queue"
    """The pod may be schedulable now."""


#: ``hint(pod, old, new)``: the rejected pod, and the object before and after the event (None where there is
#: none).
HintFn = Callable[[Pod, Any, Any], Hint]


@dataclass(frozen=True, slots=True)
class EventRegistration:
    """An event that can help a pod this plugin rejected, and the question whether it does (None: always)."""

    event: ClusterEvent
    hint: HintFn | None = None


def registrations(declared: Sequence[EventRegistration] | None) -> tuple[EventRegistration, ...]:
    """Return what to register: everything for None; pod events are split into their three kinds."""
    if declared is None:
        return tuple(EventRegistration(ClusterEvent(resource, Action.ALL)) for resource in DEFAULT_RESOURCES)
    result: list[EventRegistration] = []
    for item in declared:
        kinds = POD_RESOURCES if item.event.resource is Resource.POD else (item.event.resource,)
        result += [EventRegistration(ClusterEvent(kind, item.event.action), item.hint) for kind in kinds]
    return tuple(result)
