"""What rules over pods: priority, runtime, budgets, limits, namespaces, services."""

from collections.abc import Mapping, Sequence

import msgspec

from podium.api.objects.affinity import Toleration
from podium.api.objects.base import (
    Base,
    Condition,
    Int32,
    Int64,
    IntOrString,
    Labels,
    LabelSelector,
    Object,
    ResourceList,
    Timestamp,
)


class Namespace(Object, tag="Namespace"):
    """A namespace; its labels answer namespace selectors."""


class ServiceSpec(Base):
    """The pods behind a service; a selector of ``None`` means none."""

    selector: Labels | None = None
    type: str = ""


class Service(Object, tag="Service"):
    """A service, read for the default spread constraints."""

    spec: ServiceSpec = msgspec.field(default_factory=ServiceSpec)


class PriorityClass(Object, tag="PriorityClass"):
    """A named priority."""

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None


class Overhead(Base):
    """What a runtime itself uses per pod."""

    pod_fixed: ResourceList = {}


class RuntimeScheduling(Base):
    """The nodes that support a runtime."""

    node_selector: Labels = {}
    tolerations: Sequence[Toleration] = ()


class RuntimeClass(Object, tag="RuntimeClass"):
    """A container runtime."""

    handler: str = ""
    overhead: Overhead | None = None
    scheduling: RuntimeScheduling | None = None


class PodDisruptionBudgetSpec(Base):
    """How many pods must stay; ``selector`` ``None`` is no pod, an empty one every pod of the namespace."""

    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Base):
    """How many may go now."""

    observed_generation: Int64 = 0
    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    disrupted_pods: Mapping[str, Timestamp] = {}
    conditions: Sequence[Condition] = ()


class PodDisruptionBudget(Object, tag="PodDisruptionBudget"):
    """A limit on voluntary disruption."""

    spec: PodDisruptionBudgetSpec = msgspec.field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus | None = None


class LimitRangeItem(Base):
    """Limits and defaults for containers, pods or claims."""

    type: str = ""
    max: ResourceList = {}
    min: ResourceList = {}
    default: ResourceList = {}
    default_request: ResourceList = {}
    max_limit_request_ratio: ResourceList = {}


class LimitRangeSpec(Base):
    """All limits of one object."""

    limits: Sequence[LimitRangeItem] = ()


class LimitRange(Object, tag="LimitRange"):
    """Limits and defaults of a namespace."""

    spec: LimitRangeSpec = msgspec.field(default_factory=LimitRangeSpec)
