"""``kubescheduler.config.k8s.io/v1`` as it stands in a file: every field optional, names in camel case.

Fields, types and defaults: ``k8s.io/kube-scheduler/config/v1`` and ``k8s.io/component-base/config/v1alpha1``
at v0.37.2. A default in this file is one that needs no other field; the rest is filled in by ``defaults``.
"""

from typing import Any

import msgspec

from podium.framework.config.decode import Int32, Int64
from podium.framework.duration import Duration
from podium.framework.points import POINTS

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER_NAME = "default-scheduler"


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class PluginEntry(_Wire, frozen=True):
    """A plugin in an ``enabled`` or ``disabled`` list; the weight counts for scores only."""

    name: str = ""
    weight: Int32 | None = None


class PluginSet(_Wire, frozen=True):
    """What a profile enables and disables at one extension point, in addition to the defaults."""

    enabled: tuple[PluginEntry, ...] = ()
    disabled: tuple[PluginEntry, ...] = ()


class Plugins(_Wire, frozen=True):
    """``profiles[].plugins``: one set per extension point, and ``multiPoint`` for all of them."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()

    def by_point(self) -> dict[str, PluginSet]:
        """Return the sets under their names in the file, ``multiPoint`` first, then as in ``POINTS``."""
        names = dict(zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True))
        return {point: getattr(self, names[point]) for point in ("multiPoint", *POINTS)}


class PluginConfig(_Wire, frozen=True):
    """Arguments of one plugin; ``args`` stays raw until the plugin is known."""

    name: str = ""
    args: Any = None


class Profile(_Wire, frozen=True):
    """One scheduling profile."""

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class LeaderElection(_Wire, frozen=True):
    """Leader election through a Lease."""

    leader_elect: bool = True
    lease_duration: Duration = Duration.parse("15s")
    renew_deadline: Duration = Duration.parse("10s")
    retry_period: Duration = Duration.parse("2s")
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


class ClientConnection(_Wire, frozen=True):
    """How to reach the API server.

    The rates are higher than kube-scheduler's 50 and 100: the API server has limits of its own (priority and
    fairness), and below them nothing is gained by waiting.
    """

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = 5000.0
    burst: Int32 = 5000


class ManagedResource(_Wire, frozen=True):
    """An extended resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLS(_Wire, frozen=True):
    """Transport security of an extender; ``*_data`` (PEM) takes precedence over the file."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = msgspec.field(default="", name="caFile")
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = msgspec.field(default=b"", name="caData")


class Extender(_Wire, frozen=True):
    """An HTTP extender; an empty verb is a call that it does not offer."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLS | None = None
    http_timeout: Duration = Duration(0)
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False


class KubeSchedulerConfiguration(_Wire, frozen=True):
    """The whole document."""

    api_version: str = API_VERSION
    kind: str = KIND
    parallelism: Int32 = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
