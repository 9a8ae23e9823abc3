"""Arguments of the default plugins (``pluginConfig[].args``), typed and with kube-scheduler's defaults.

Source: ``k8s.io/kube-scheduler/config/v1`` (types) and ``k8s.io/kubernetes/pkg/scheduler/apis/config/v1``
(defaults) at v1.37.2, with the feature gates at their defaults.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from podium.api import NodeAffinity, TopologySpreadConstraint
from podium.framework.config.decode import Int32, Int64
from podium.framework.duration import Duration


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class ResourceSpec(_Wire, frozen=True):
    """A resource and its weight in a score; a weight of 0 or none counts as 1."""

    name: str = ""
    weight: Int64 = 0


class ShapePoint(_Wire, frozen=True):
    """One point of a score function: utilization 0..100 gives score 0..10."""

    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatio(_Wire, frozen=True):
    """Arguments of the scoring strategy of that name."""

    shape: tuple[ShapePoint, ...] = ()


class ScoringStrategy(_Wire, frozen=True):
    """How NodeResourcesFit scores: LeastAllocated, MostAllocated or RequestedToCapacityRatio."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatio | None = None


class DefaultPreemptionArgs(_Wire, frozen=True):
    """Arguments of DefaultPreemption."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class DynamicResourcesArgs(_Wire, frozen=True):
    """Arguments of DynamicResources."""

    filter_timeout: Duration = Duration.parse("10s")
    binding_timeout: Duration = Duration.parse("600s")


class InterPodAffinityArgs(_Wire, frozen=True):
    """Arguments of InterPodAffinity."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class NodeAffinityArgs(_Wire, frozen=True):
    """Arguments of NodeAffinity."""

    added_affinity: NodeAffinity | None = None


class NodeResourcesBalancedAllocationArgs(_Wire, frozen=True):
    """Arguments of NodeResourcesBalancedAllocation."""

    resources: tuple[ResourceSpec, ...] = ()


class NodeResourcesFitArgs(_Wire, frozen=True):
    """Arguments of NodeResourcesFit; what is ignored is ignored by the filter, not by the score."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")


class PodTopologySpreadArgs(_Wire, frozen=True):
    """Arguments of PodTopologySpread."""

    default_constraints: Sequence[TopologySpreadConstraint] = ()
    defaulting_type: str = "System"


class VolumeBindingArgs(_Wire, frozen=True):
    """Arguments of VolumeBinding."""

    bind_timeout_seconds: Int64 = 600
    shape: tuple[ShapePoint, ...] = ()


#: Plugin -> the type of its arguments. Plugins that are not here take none.
NATIVE_ARGS: dict[str, type[msgspec.Struct]] = {
    "DefaultPreemption": DefaultPreemptionArgs,
    "DynamicResources": DynamicResourcesArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "NodeAffinity": NodeAffinityArgs,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "NodeResourcesFit": NodeResourcesFitArgs,
    "PodTopologySpread": PodTopologySpreadArgs,
    "VolumeBinding": VolumeBindingArgs,
}

_CPU_AND_MEMORY = (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="memory", weight=1))
_EMPTY_IS_BEST = (ShapePoint(utilization=0, score=10), ShapePoint(utilization=100, score=0))


def _resources(given: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    return tuple(replace(spec, weight=spec.weight or 1) for spec in given) or _CPU_AND_MEMORY


def _default_fit(args: Any) -> Any:
    strategy = args.scoring_strategy
    return replace(args, scoring_strategy=replace(strategy, resources=_resources(strategy.resources)))


#: Defaults that depend on a list being empty or a string being ``""``.
_COMPLETE: dict[type[msgspec.Struct], Callable[[Any], Any]] = {
    NodeResourcesBalancedAllocationArgs: lambda args: replace(args, resources=_resources(args.resources)),
    NodeResourcesFitArgs: _default_fit,
    PodTopologySpreadArgs: lambda args: replace(args, defaulting_type=args.defaulting_type or "System"),
    VolumeBindingArgs: lambda args: replace(args, shape=args.shape or _EMPTY_IS_BEST),
}


def complete(args: msgspec.Struct) -> msgspec.Struct:
    """Fill in the defaults that a field's own default cannot express."""
    finish = _COMPLETE.get(type(args))
    return finish(args) if finish else args
