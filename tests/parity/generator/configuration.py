"""KubeSchedulerConfigurations: weights, arguments, disabled plugins, several profiles."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import Chooser, chance, some, subset
from tests.parity.generator.selectors import draw_node_term
from tests.parity.generator.world import Object, World

API_VERSION = "kubescheduler.config.k8s.io/v1"
PERCENTAGES = (0, 5, 40, 70, 85, 100)  # of nodes to score; 0 is adaptive
SCORE_PLUGINS = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
)
FILTER_PLUGINS = (
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "NodeVolumeLimits",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)


def draw_configuration(w: World) -> None:
    """Draw profiles; the default configuration is no configuration."""
    w.profiles = [words.PROFILE]
    if w.has("profiles"):
        w.profiles.append("second-scheduler")
    touched = ("weights", "arguments", "disabled", "profiles", "large")
    if not any(w.has(trait) for trait in touched):
        return
    configuration = w.scenario["configuration"] = {
        "apiVersion": API_VERSION,
        "kind": "KubeSchedulerConfiguration",
        "profiles": [_profile(w, name) for name in w.profiles],
    }
    if w.often("large", 50):
        configuration["percentageOfNodesToScore"] = w.c.pick(PERCENTAGES)


def _profile(w: World, name: str) -> Object:
    profile: Object = {"schedulerName": name}
    if w.often("large", 30):
        profile["percentageOfNodesToScore"] = w.c.pick(PERCENTAGES)
    plugins: Object = {}
    if w.often("weights", 80):
        plugins["multiPoint"] = {"enabled": _weights(w.c)}
    if w.often("disabled", 80):
        _disable(w.c, plugins)
    if plugins:
        profile["plugins"] = plugins
    if arguments := _arguments(w):
        profile["pluginConfig"] = arguments
    return profile


def _weights(c: Chooser) -> list[Object]:
    return [{"name": plugin, "weight": c.pick((2, 5, 10, 100))} for plugin in some(c, SCORE_PLUGINS, 3)]


def _disable(c: Chooser, plugins: Object) -> None:
    """Switch plugins off at a point or everywhere, or bring one back at a point in another order."""
    kind = c.integer(0, 9)
    if kind < 3:
        plugins["score"] = {"disabled": _named(some(c, SCORE_PLUGINS, 3))}
    elif kind < 5:
        plugins["filter"] = {"disabled": _named(some(c, FILTER_PLUGINS, 2))}
    elif kind < 7:
        plugins.setdefault("multiPoint", {})["disabled"] = _named(_others(c, plugins))
    elif kind == 7:  # nothing to score: the scheduler is content with the first node
        plugins["score"] = {"disabled": [{"name": "*"}]}
    else:
        first = some(c, SCORE_PLUGINS, 2)
        enabled = [{"name": plugin, "weight": c.pick((1, 3, 7))} for plugin in first]
        plugins["score"] = {"disabled": [{"name": "*"}], "enabled": enabled}


def _others(c: Chooser, plugins: Object) -> list[str]:
    """Plugins to disable everywhere: not those that the same set enables with a weight."""
    enabled = {entry["name"] for entry in plugins.get("multiPoint", {}).get("enabled", [])}
    left = [
        p for p in ("ImageLocality", "InterPodAffinity", "NodePorts", "DefaultPreemption") if p not in enabled
    ]
    return some(c, left, 2)


def _named(plugins: list[str]) -> list[Object]:
    return [{"name": plugin} for plugin in plugins]


def _arguments(w: World) -> list[Object]:
    """Plugin arguments. Preemption looks at every node: which it would skip is random upstream."""
    found = {"DefaultPreemption": {"minCandidateNodesPercentage": 100, "minCandidateNodesAbsolute": 100}}
    if w.has("arguments"):
        drawers = {
            "NodeResourcesFit": _fit,
            "NodeResourcesBalancedAllocation": _balanced,
            "InterPodAffinity": _interpod,
            "NodeAffinity": _node_affinity,
            "PodTopologySpread": _spread,
            "VolumeBinding": _volume_binding,
        }
        found |= {name: drawers[name](w.c) for name in some(w.c, list(drawers), 4)}
    return [
        {"name": name, "args": {"apiVersion": API_VERSION, "kind": f"{name}Args", **args}}
        for name, args in found.items()
    ]


def _weighted(c: Chooser) -> list[Object]:
    names = some(c, ("cpu", "memory", "example.com/gpu", "ephemeral-storage", "vendor.io/fpga"), 4)
    return [{"name": name, "weight": c.pick((1, 1, 2, 3, 50))} for name in names]


def _fit(c: Chooser) -> Object:
    strategy: Object = {"type": c.pick(("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"))}
    strategy["resources"] = _weighted(c)
    if strategy["type"] == "RequestedToCapacityRatio":
        strategy["requestedToCapacityRatio"] = {"shape": _shape(c)}
    args: Object = {"scoringStrategy": strategy}
    if chance(c, 30):
        args["ignoredResources"] = some(c, words.EXTENDED, 2)
    if chance(c, 20):
        args["ignoredResourceGroups"] = ["vendor.io"]
    return args


def _shape(c: Chooser) -> list[Object]:
    points = sorted(some(c, (0, 20, 33, 50, 71, 100), 4))
    return [{"utilization": point, "score": c.integer(0, 10)} for point in points]


def _balanced(c: Chooser) -> Object:
    return {"resources": [{"name": entry["name"], "weight": 1} for entry in _weighted(c)]}


def _interpod(c: Chooser) -> Object:
    return {
        "hardPodAffinityWeight": c.pick((0, 1, 10, 100)),
        "ignorePreferredTermsOfExistingPods": chance(c, 30),
    }


def _node_affinity(c: Chooser) -> Object:
    added: Object = {}
    if chance(c, 50):
        added["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [draw_node_term(c)]}
    if not added or chance(c, 50):
        added["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": c.pick((1, 20, 100)), "preference": draw_node_term(c)} for _ in range(c.integer(1, 2))
        ]
    return {"addedAffinity": added}


def _spread(c: Chooser) -> Object:
    keys = subset(c, (words.ZONE, words.HOSTNAME, "disk"), 2)
    constraints = [
        {
            "maxSkew": c.pick((1, 2, 5)),
            "topologyKey": key,
            "whenUnsatisfiable": c.pick(("ScheduleAnyway", "DoNotSchedule")),
        }
        for key in keys
    ]
    return {"defaultingType": "List", "defaultConstraints": constraints}


def _volume_binding(c: Chooser) -> Object:
    return {"bindTimeoutSeconds": 600, "shape": _shape(c)}
