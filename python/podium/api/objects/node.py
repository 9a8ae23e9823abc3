"""Nodes."""

from collections.abc import Sequence

import msgspec

from podium.api.objects.base import Base, Condition, Int64, Object, ResourceList, Timestamp


class Taint(Base):
    """What keeps pods away: NoSchedule, PreferNoSchedule or NoExecute."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Timestamp | None = None


class NodeSpec(Base):
    """Cordon and taints."""

    unschedulable: bool = False
    taints: Sequence[Taint] = ()


class ContainerImage(Base):
    """An image that a node holds, under all its names."""

    names: Sequence[str] = ()
    size_bytes: Int64 = 0


class NodeStatus(Base):
    """What a node has; an absent ``allocatable`` is filled from ``capacity``, an empty one is not."""

    capacity: ResourceList = {}
    allocatable: ResourceList | None = None
    conditions: Sequence[Condition] = ()
    images: Sequence[ContainerImage] = ()
    declared_features: Sequence[str] = ()


class Node(Object, tag="Node"):
    """A node."""

    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)
