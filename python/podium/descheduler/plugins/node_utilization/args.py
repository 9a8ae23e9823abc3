"""The arguments of both plugins, and what may be wrong with them."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from podium.descheduler.podfilter import EvictionLimits, Namespaces
from podium.descheduler.policy.golang import GoName, Int
from podium.descheduler.policy.model import KUBERNETES_METRICS, PROMETHEUS, Wire

#: The resource that stands for the result of a Prometheus query, in percent.
METRIC: Final = "MetricResource"

ONLY_THRESHOLDING: Final = "OnlyThresholdingResources"

Percentage = Annotated[float, GoName("api.Percentage")]
Thresholds = Annotated[dict[str, Percentage], GoName("api.ResourceThresholds")]
Source = Annotated[str, GoName("api.MetricsSource")]
Mode = Annotated[str, GoName("nodeutilization.EvictionMode")]


class Query(Wire):
    """A query that gives a vector with a sample of 0 to 1 per node, its name in the label ``instance``."""

    GO_NAME = "nodeutilization.Prometheus"
    query: str = ""


class MetricsUtilization(Wire):
    """Where real load comes from; ``metrics_server`` is the deprecated spelling of KubernetesMetrics."""

    GO_NAME = "nodeutilization.MetricsUtilization"
    metrics_server: bool = False
    source: Source = ""
    prometheus: Query | None = None


class LowArgs(Wire):
    """Thresholds are percent of what is allocatable, or distances from the average with deviations."""

    GO_NAME = "LowNodeUtilizationArgs"
    api_version: str = ""
    kind: str = ""
    use_deviation_thresholds: bool = False
    thresholds: Thresholds = msgspec.field(default_factory=dict)
    target_thresholds: Thresholds = msgspec.field(default_factory=dict)
    number_of_nodes: Int = 0
    metrics_utilization: MetricsUtilization | None = None
    evictable_namespaces: Namespaces | None = None
    eviction_limits: EvictionLimits | None = None


class HighArgs(Wire):
    """Nodes at or below all thresholds are emptied."""

    GO_NAME = "HighNodeUtilizationArgs"
    api_version: str = ""
    kind: str = ""
    thresholds: Thresholds = msgspec.field(default_factory=dict)
    number_of_nodes: Int = 0
    eviction_modes: Sequence[Mode] = ()
    evictable_namespaces: Namespaces | None = None


def _threshold_problem(thresholds: dict[str, float]) -> str | None:
    if not thresholds:
        return "no resource threshold is configured"
    for name, percent in thresholds.items():
        if not 0 <= percent <= 100:
            return f"{name} threshold not in [0, 100] range"
    return None


def _pair_problem(args: LowArgs) -> str | None:
    low, high = args.thresholds, args.target_thresholds
    for name, thresholds in (("thresholds", low), ("targetThresholds", high)):
        problem = _threshold_problem(thresholds)
        if problem:
            return f"{name} config is not valid: {problem}"
    if low.keys() != high.keys():
        return "thresholds and targetThresholds configured different resources"
    above = (name for name in low if low[name] > high[name] and not args.use_deviation_thresholds)
    first = next(above, None)
    return None if first is None else f"thresholds' {first} percentage is greater than targetThresholds'"


def _metrics_problem(metrics: MetricsUtilization) -> str | None:
    if metrics.source == KUBERNETES_METRICS:
        if metrics.metrics_server:
            return f'it is not allowed to set both "{KUBERNETES_METRICS}" source and metricsServer'
        if metrics.prometheus is not None:
            return (
                f'prometheus configuration is not allowed to set when source is set to "{KUBERNETES_METRICS}"'
            )
    if metrics.source == PROMETHEUS and not (metrics.prometheus and metrics.prometheus.query):
        return f'prometheus query is required when metrics source is set to "{PROMETHEUS}"'
    return None


def _namespace_problem(namespaces: Namespaces | None) -> str | None:
    if namespaces and namespaces.include:
        return "only Exclude namespaces can be set, inclusion is not supported"
    return None


def validate_low(args: LowArgs) -> list[str]:
    """Return the first thing that is wrong with LowNodeUtilization's arguments."""
    problem = _namespace_problem(args.evictable_namespaces) or _pair_problem(args)
    if problem is None and args.metrics_utilization is not None:
        problem = _metrics_problem(args.metrics_utilization)
    return [problem] if problem else []


def validate_high(args: HighArgs) -> list[str]:
    """Return the first thing that is wrong with HighNodeUtilization's arguments."""
    problem = _namespace_problem(args.evictable_namespaces) or _threshold_problem(args.thresholds)
    unknown = next((mode for mode in args.eviction_modes if mode != ONLY_THRESHOLDING), None)
    if problem is None and unknown is not None:
        problem = f"invalid eviction mode {unknown}"
    return [problem] if problem else []


def query_problem(args: LowArgs) -> str | None:
    """Return what keeps a Prometheus query from being used; upstream notices when it builds the plugin."""
    for name, thresholds in (("thresholds", args.thresholds), ("targetThresholds", args.target_thresholds)):
        if list(thresholds) != [METRIC]:
            shown = " ".join(thresholds)
            wanted = f'{name} are expected to specify a single instance of "{METRIC}" resource'
            return f"{wanted}, got [{shown}] instead"
    return None
