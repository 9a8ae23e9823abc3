"""``DeschedulerPolicy`` of ``descheduler/v1alpha2``, as the file has it."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from podium.descheduler.policy.golang import GoName, Int64, Raw, Uint

API_VERSION = "descheduler/v1alpha2"
KIND = "DeschedulerPolicy"

KUBERNETES_METRICS = "KubernetesMetrics"
PROMETHEUS = "Prometheus"

Source = Annotated[str, GoName("v1alpha2.MetricsSource")]


class Wire(msgspec.Struct, rename="camel", kw_only=True):
    """A part of the policy, camelCase in the file."""


class PluginConfig(Wire):
    """The arguments of one plugin; ``raw`` as in the file, ``args`` decoded."""

    GO_NAME = "v1alpha2.PluginConfig"
    name: str = ""
    raw: Annotated[Any, Raw] = msgspec.field(name="args", default=None)


class PluginSet(Wire):
    """Plugins at one extension point; ``disabled`` has no effect, as upstream."""

    GO_NAME = "v1alpha2.PluginSet"
    enabled: Sequence[str] = ()
    disabled: Sequence[str] = ()


class Plugins(Wire):
    """Extension points; ``presort`` and ``sort`` have no effect, as upstream."""

    GO_NAME = "v1alpha2.Plugins"
    presort: PluginSet = msgspec.field(default_factory=PluginSet)
    sort: PluginSet = msgspec.field(default_factory=PluginSet)
    deschedule: PluginSet = msgspec.field(default_factory=PluginSet)
    balance: PluginSet = msgspec.field(default_factory=PluginSet)
    filter: PluginSet = msgspec.field(default_factory=PluginSet)
    preevictionfilter: PluginSet = msgspec.field(default_factory=PluginSet)


class Profile(Wire):
    """Plugins that run together, and their arguments."""

    GO_NAME = "v1alpha2.DeschedulerProfile"
    name: str = ""
    plugin_config: Sequence[PluginConfig] = ()
    plugins: Plugins = msgspec.field(default_factory=Plugins)


class SecretReference(Wire):
    """A secret with a token."""

    GO_NAME = "v1alpha2.SecretReference"
    namespace: str = ""
    name: str = ""


class AuthToken(Wire):
    """How to authenticate to Prometheus."""

    GO_NAME = "v1alpha2.AuthToken"
    secret_reference: SecretReference | None = None


class PrometheusServer(Wire):
    """Where Prometheus is."""

    GO_NAME = "v1alpha2.Prometheus"
    url: str = ""
    auth_token: AuthToken | None = None


class MetricsProvider(Wire):
    """One source of load."""

    GO_NAME = "v1alpha2.MetricsProvider"
    source: Source = ""
    prometheus: PrometheusServer | None = None


class MetricsCollector(Wire):
    """The deprecated spelling of ``metricsProviders: [{source: KubernetesMetrics}]``."""

    GO_NAME = "v1alpha2.MetricsCollector"
    enabled: bool = False


class Policy(Wire):
    """The whole file. A limit of ``None`` is none, 0 forbids every eviction."""

    GO_NAME = "v1alpha2.DeschedulerPolicy"
    api_version: str = ""
    kind: str = ""
    profiles: Sequence[Profile] = ()
    node_selector: str | None = None
    max_no_of_pods_to_evict_per_node: Uint | None = None
    max_no_of_pods_to_evict_per_namespace: Uint | None = None
    max_no_of_pods_to_evict_total: Uint | None = None
    eviction_failure_event_notification: bool | None = None
    metrics_collector: MetricsCollector | None = None
    metrics_providers: Sequence[MetricsProvider] = ()
    grace_period_seconds: Int64 | None = None

    def provider(self, source: str) -> MetricsProvider | None:
        """Return the provider of a source of load."""
        return next((item for item in self.metrics_providers if item.source == source), None)

    def collects_metrics(self) -> bool:
        """Tell whether the metrics API is a source of load."""
        collector = self.metrics_collector
        return self.provider(KUBERNETES_METRICS) is not None or (collector is not None and collector.enabled)
