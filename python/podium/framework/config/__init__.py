"""The configuration: ``KubeSchedulerConfiguration`` v1 as users have it, and Podium's own second document."""

from podium.framework.config.gates import with_gates
from podium.framework.config.load import default_config, load_config, parse_config, with_short_forms
from podium.framework.config.model import Profile, SchedulerConfig
from podium.framework.config.podium import GangSettings, PodiumSettings, TenantSettings

__all__ = [
    "GangSettings",
    "PodiumSettings",
    "Profile",
    "SchedulerConfig",
    "TenantSettings",
    "default_config",
    "load_config",
    "parse_config",
    "with_gates",
    "with_short_forms",
]
