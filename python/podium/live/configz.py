"""``/configz``: the finished configuration as JSON, without secrets."""

from typing import Any

import msgspec

from podium.framework.config import SchedulerConfig
from podium.framework.config.decode import encode
from podium.framework.duration import Duration

_SECRET = frozenset({"keyData", "certData", "caData"})


def configz(config: SchedulerConfig) -> bytes:
    """Return the configuration that runs, as kube-scheduler's ``/configz`` wraps it."""
    body: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": config.parallelism,
        "percentageOfNodesToScore": config.percentage_of_nodes_to_score,
        "podInitialBackoffSeconds": config.pod_initial_backoff_seconds,
        "podMaxBackoffSeconds": config.pod_max_backoff_seconds,
        "delayCacheUntilActive": config.delay_cache_until_active,
        "enableProfiling": config.enable_profiling,
        "leaderElection": config.leader_election,
        "clientConnection": config.client_connection,
        "profiles": [
            {
                "schedulerName": profile.scheduler_name,
                "plugins": {
                    point: {"enabled": [{"name": name, "weight": weight} for name, weight in plugins]}
                    for point, plugins in profile.points.items()
                },
                "pluginConfig": [{"name": name, "args": encode(args)} for name, args in profile.args.items()],
            }
            for profile in config.profiles
        ],
        "extenders": config.extenders,
    }
    plain = msgspec.to_builtins(body, enc_hook=_hook)
    settings = msgspec.to_builtins(config.podium, enc_hook=_hook)
    return msgspec.json.encode({"componentconfig": _public(plain), "podium": _public(settings)})


def _hook(value: Any) -> Any:
    if isinstance(value, Duration):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def _public(value: Any) -> Any:
    """Take out keys and certificates."""
    if isinstance(value, dict):
        return {key: _public(inner) for key, inner in value.items() if key not in _SECRET}
    return [_public(inner) for inner in value] if isinstance(value, list | tuple) else value
