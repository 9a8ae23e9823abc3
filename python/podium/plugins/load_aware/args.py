"""Arguments of LoadAware; names are those that the load-aware plugins of this ecosystem use."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Struct

#: The resource that a query measures, named as in policies of the descheduler.
METRIC: Final = "MetricResource"

Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]
Weight = Annotated[int, msgspec.Meta(ge=0, le=100)]
Factor = Annotated[float, msgspec.Meta(gt=0, le=100)]


class Prometheus(Struct, frozen=True, forbid_unknown_fields=True):
    """A server and an instant query that gives each node's load, 0 to 1, labelled ``instance``."""

    query: str
    url: str = ""
    """Empty: the server that the caller knows."""


class LoadAwareArgs(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """How load is read and judged.

    Attributes:
        source: ``KubernetesMetrics`` (metrics.k8s.io) or ``Prometheus``.
        prometheus: what to ask, for that source.
        usage_thresholds: percent of what a node offers above which it takes no pod; a query's resource is
            ``MetricResource``.
        resource_weights: the part of each resource in the score.
        estimated_scaling_factors: percent of its request that a pod is thought to use.
        node_metric_expiration_seconds: the age beyond which a sample says nothing.

    """

    source: Literal["KubernetesMetrics", "Prometheus"] = "KubernetesMetrics"
    prometheus: Prometheus | None = None
    usage_thresholds: Mapping[str, Percent] | None = None
    resource_weights: Mapping[str, Weight] | None = None
    estimated_scaling_factors: Mapping[str, Factor] = {}
    node_metric_expiration_seconds: Annotated[int, msgspec.Meta(ge=1)] = 180

    def __post_init__(self) -> None:
        """Check what belongs together; raises ValueError, which the configuration reports with its path."""
        if (self.source == "Prometheus") != (self.prometheus is not None):
            raise ValueError("prometheus: goes with source Prometheus, and that with it")
        known = (METRIC,) if self.source == "Prometheus" else ("cpu", "memory")
        for given in (self.usage_thresholds, self.resource_weights):
            for name in given or ():
                if name not in known:
                    raise ValueError(f"{name}: {self.source} measures {' and '.join(known)} alone")

    def thresholds(self) -> Mapping[str, float]:
        """Return the thresholds, by default those of 65 % cpu and 95 % memory."""
        if self.usage_thresholds is not None:
            return self.usage_thresholds
        return {METRIC: 65.0} if self.source == "Prometheus" else {"cpu": 65.0, "memory": 95.0}

    def weights(self) -> Mapping[str, int]:
        """Return the weights, by default equal ones."""
        if self.resource_weights is not None:
            return self.resource_weights
        return {METRIC: 1} if self.source == "Prometheus" else {"cpu": 1, "memory": 1}

    def factor(self, resource: str) -> float:
        """Return the part of its request that a pod is thought to use, by default 0.85 and 0.7 of memory."""
        return self.estimated_scaling_factors.get(resource, 70.0 if resource == "memory" else 85.0) / 100
