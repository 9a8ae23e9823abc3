"""The default profile, and the defaults of a configuration that depend on other values.

Source: ``k8s.io/kubernetes/pkg/scheduler/apis/config/v1`` (``default_plugins.go``, ``defaults.go``) at
v1.37.2 with the feature gates at their defaults.
"""

from typing import Final, TypeVar

from msgspec.structs import replace

from podium.framework.config.v1 import (
    DEFAULT_SCHEDULER_NAME,
    ClientConnection,
    KubeSchedulerConfiguration,
    LeaderElection,
    PluginEntry,
    PluginSet,
    Profile,
)

_Section = TypeVar("_Section", LeaderElection, ClientConnection)

#: The default profile in its order: (plugin, weight of its score or None). ``Gang`` is Podium's own; it has
#: nothing to say about pods in no group.
DEFAULT_PLUGINS: Final[tuple[tuple[str, int | None], ...]] = (
    ("SchedulingGates", None),
    ("PrioritySort", None),
    ("NodeName", None),
    ("NodeUnschedulable", None),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", None),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", None),
    ("NodeVolumeLimits", None),
    ("VolumeBinding", None),
    ("VolumeZone", None),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("DefaultPreemption", None),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", None),
    ("NodeDeclaredFeatures", None),
    ("Gang", None),
)


def default_plugin_sets() -> dict[str, PluginSet]:
    """Return the default profile as plugin sets: everything in ``multiPoint``."""
    entries = (PluginEntry(name=name, weight=weight) for name, weight in DEFAULT_PLUGINS)
    return {"multiPoint": PluginSet(enabled=tuple(entries))}


def complete(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """Fill in the defaults that depend on other values or that also replace an empty value."""
    profiles = config.profiles or (Profile(),)
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (replace(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    contention = config.enable_contention_profiling
    return replace(
        config,
        profiles=profiles,
        leader_election=_or_default(config.leader_election, LeaderElection(), keep=("leader_elect",)),
        client_connection=_or_default(config.client_connection, ClientConnection()),
        enable_contention_profiling=config.enable_profiling if contention is None else contention,
    )


def _or_default(given: _Section, default: _Section, keep: tuple[str, ...] = ()) -> _Section:
    zero = {"", 0}
    replaced = {
        name: getattr(default, name)
        for name in given.__struct_fields__
        if name not in keep and getattr(getattr(given, name), "nanoseconds", getattr(given, name)) in zero
    }
    return replace(given, **replaced)
