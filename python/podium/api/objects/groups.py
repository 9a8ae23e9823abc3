"""Gangs: the three kinds called PodGroup, and Volcano's Queue."""

from collections.abc import Mapping, Sequence

import msgspec

from podium.api.objects.base import (
    Base,
    Condition,
    Int32,
    LabelSelector,
    Object,
    Opaque,
    ResourceList,
)


class GangPolicy(Base):
    """All of ``min_count`` pods or none."""

    min_count: Int32 = 0


class SchedulingPolicy(Base):
    """One of basic, gang."""

    basic: Opaque | None = None
    gang: GangPolicy | None = None


class TopologyConstraint(Base):
    """All pods of the group in one domain of this label."""

    key: str = ""


class SchedulingConstraints(Base):
    """Where the group must be together."""

    topology: Sequence[TopologyConstraint] = ()


class DisruptionMode(Base):
    """One of single, all."""

    single: Opaque | None = None
    all: Opaque | None = None


class WorkloadReference(Base):
    """The Workload and template that a group was made from."""

    workload_name: str = ""
    template_name: str = ""


class PodGroupSpec(Base):
    """A group of scheduling.k8s.io."""

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: SchedulingPolicy = msgspec.field(default_factory=SchedulingPolicy)
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: Sequence[Opaque] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str | None = None


class PodGroupStatus(Base):
    """What the scheduler wrote."""

    phase: str = ""
    conditions: Sequence[Condition] = ()


class PodGroup(Object, tag="PodGroup"):
    """PodGroup of scheduling.k8s.io/v1beta1: pods name it in ``spec.scheduling_group``."""

    spec: PodGroupSpec = msgspec.field(default_factory=PodGroupSpec)
    status: PodGroupStatus = msgspec.field(default_factory=PodGroupStatus)


class CoschedulingPodGroupSpec(Base):
    """A group of the coscheduling plugin."""

    min_member: Int32 = 0
    min_resources: ResourceList | None = None
    schedule_timeout_seconds: Int32 | None = None


class CoschedulingPodGroup(Object, tag="PodGroup"):
    """PodGroup of scheduling.x-k8s.io/v1alpha1: pods carry the label scheduling.x-k8s.io/pod-group."""

    spec: CoschedulingPodGroupSpec = msgspec.field(default_factory=CoschedulingPodGroupSpec)
    status: PodGroupStatus = msgspec.field(default_factory=PodGroupStatus)


class NetworkTopology(Base):
    """How near the members must be."""

    mode: str = ""
    highest_tier_allowed: Int32 | None = None
    highest_tier_name: str = ""


class SubGroupPolicy(Base):
    """A part of a Volcano group that is placed together."""

    name: str = ""
    sub_group_size: Int32 | None = None
    min_sub_groups: Int32 | None = None
    label_selector: LabelSelector | None = None
    match_label_keys: Sequence[str] = ()
    network_topology: NetworkTopology | None = None


class VolcanoPodGroupSpec(Base):
    """A group of Volcano."""

    min_member: Int32 = 0
    min_task_member: Mapping[str, Int32] = {}
    queue: str = ""
    priority_class_name: str = ""
    min_resources: ResourceList | None = None
    network_topology: NetworkTopology | None = None
    sub_group_policy: Sequence[SubGroupPolicy] = ()


class VolcanoPodGroup(Object, tag="PodGroup"):
    """PodGroup of scheduling.volcano.sh/v1beta1: pods carry the annotation scheduling.k8s.io/group-name."""

    spec: VolcanoPodGroupSpec = msgspec.field(default_factory=VolcanoPodGroupSpec)
    status: PodGroupStatus = msgspec.field(default_factory=PodGroupStatus)


class Guarantee(Base):
    """What a queue always has."""

    resource: ResourceList = {}


class QueueSpec(Base):
    """Weight, limits and place in the tree of a queue."""

    weight: Int32 = 0
    priority: Int32 = 0
    parent: str = ""
    capability: ResourceList = {}
    deserved: ResourceList = {}
    guarantee: Guarantee | None = None
    reclaimable: bool | None = None


class QueueStatus(Base):
    """Open, Closed, Closing or Unknown."""

    state: str = ""


class Queue(Object, tag="Queue"):
    """Queue of scheduling.volcano.sh/v1beta1."""

    spec: QueueSpec = msgspec.field(default_factory=QueueSpec)
    status: QueueStatus = msgspec.field(default_factory=QueueStatus)
