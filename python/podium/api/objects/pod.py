"""Pods."""

from collections.abc import Sequence

import msgspec

from podium.api.objects.affinity import Affinity, Toleration, TopologySpreadConstraint
from podium.api.objects.base import (
    Base,
    Condition,
    Int32,
    Int64,
    Labels,
    Object,
    ObjectMeta,
    Opaque,
    ResourceList,
    ResourceRequirements,
    Timestamp,
)
from podium.api.objects.volumes import Volume


class ContainerPort(Base):
    """A port; ``host_port`` 0 takes none of the node's."""

    name: str = ""
    container_port: Int32 = 0
    host_port: Int32 = 0
    protocol: str = ""
    host_ip: str = msgspec.field(name="hostIP", default="")


class RestartRule(Base):
    """What an exit of the container does; RestartAllContainers is a feature that nodes declare."""

    action: str = ""
    exit_codes: Opaque | None = None


class VolumeMount(Base):
    """Trimmed to what nodes declare support for."""

    name: str = ""
    bind_mount_options: Sequence[str] = ()


class Container(Base):
    """A container; an init container with ``restart_policy`` Always is a sidecar."""

    name: str = ""
    image: str = ""
    ports: Sequence[ContainerPort] = ()
    resources: ResourceRequirements = msgspec.field(default_factory=ResourceRequirements)
    restart_policy: str | None = None
    restart_policy_rules: Sequence[RestartRule] = ()
    volume_mounts: Sequence[VolumeMount] = ()


class SchedulingGate(Base):
    """Keeps a pod out of the queue until it is removed."""

    name: str = ""


class SchedulingGroup(Base):
    """The PodGroup of scheduling.k8s.io that a pod belongs to."""

    pod_group_name: str | None = None


class PodResourceClaim(Base):
    """A claim of dynamic resource allocation."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodOS(Base):
    """The operating system a pod needs."""

    name: str = ""


class PodSpec(Base):
    """What scheduling reads of a pod's specification."""

    containers: Sequence[Container] = ()
    init_containers: Sequence[Container] = ()
    ephemeral_containers: Sequence[Container] = ()
    volumes: Sequence[Volume] = ()
    node_name: str = ""
    node_selector: Labels | None = None
    affinity: Affinity | None = None
    tolerations: Sequence[Toleration] = ()
    topology_spread_constraints: Sequence[TopologySpreadConstraint] = ()
    scheduler_name: str = ""
    scheduling_gates: Sequence[SchedulingGate] = ()
    scheduling_group: SchedulingGroup | None = None
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    runtime_class_name: str | None = None
    overhead: ResourceList | None = None
    resources: ResourceRequirements | None = None
    resource_claims: Sequence[PodResourceClaim] = ()
    restart_policy: str = ""
    termination_grace_period_seconds: Int64 | None = None
    active_deadline_seconds: Int64 | None = None
    host_network: bool = False
    host_users: bool | None = None
    os: PodOS | None = None


class ContainerStateReason(Base):
    """Why a container waits or ended, and when."""

    reason: str = ""
    exit_code: Int32 = 0
    finished_at: Timestamp | None = None


class ContainerState(Base):
    """One of waiting, running, terminated."""

    waiting: ContainerStateReason | None = None
    running: Opaque | None = None
    terminated: ContainerStateReason | None = None


class ContainerStatus(Base):
    """How a container runs, and what it was really given (in-place resize)."""

    name: str = ""
    state: ContainerState | None = None
    last_state: ContainerState | None = None
    ready: bool = False
    restart_count: Int32 = 0
    allocated_resources: ResourceList | None = None
    resources: ResourceRequirements | None = None


class PodStatus(Base):
    """How a pod runs."""

    phase: str = ""
    conditions: Sequence[Condition] = ()
    reason: str = ""
    message: str = ""
    nominated_node_name: str = ""
    start_time: Timestamp | None = None
    qos_class: str = ""
    container_statuses: Sequence[ContainerStatus] = ()
    init_container_statuses: Sequence[ContainerStatus] = ()
    ephemeral_container_statuses: Sequence[ContainerStatus] = ()
    allocated_resources: ResourceList | None = None
    resources: ResourceRequirements | None = None


class Pod(Object, tag="Pod", dict=True):
    """A pod: bound if ``spec.node_name`` is set, else pending.

    Its ``__dict__`` holds what was found out about it (``podium.api.likeness``); copies begin without that.
    """

    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class PodTemplateSpec(Base):
    """What a controller makes pods from."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
