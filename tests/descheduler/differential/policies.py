"""Random policies that upstream accepts."""

from collections.abc import Callable
from typing import Any

from tests.descheduler.differential.chance import Dice
from tests.descheduler.differential.nodes import GPU, NAMESPACES, Manifest
from tests.descheduler.differential.pods import APPS, ENDS, REASONS


def shared(dice: Dice, *, labels: bool = True) -> Manifest:
    args: Manifest = {}
    if dice.percent(25):
        args["namespaces"] = {dice.pick(("include", "exclude")): dice.some(NAMESPACES, 2, 1)}
    if labels and dice.percent(20):
        args["labelSelector"] = {"matchLabels": {"app": dice.pick(APPS)}}
    return args


def _thresholds(dice: Dice) -> tuple[Manifest, Manifest]:
    names = dice.some(("cpu", "memory", "pods", GPU), 3, 1)
    low = {name: dice.randint(5, 45) for name in names}
    return low, {name: low[name] + dice.pick((0, 5.5, 10, 25)) for name in names}


def low_utilization(dice: Dice) -> Manifest:
    low, high = _thresholds(dice)
    args: Manifest = {"thresholds": low, "targetThresholds": high}
    if dice.percent(25):
        args["useDeviationThresholds"] = True
    if dice.percent(10):
        args["numberOfNodes"] = dice.randint(0, 2)
    if dice.percent(20):
        args["evictableNamespaces"] = {"exclude": dice.some(NAMESPACES, 2, 1)}
    if dice.percent(20):
        args["evictionLimits"] = {"node": dice.randint(0, 2)}
    return args


def measured_utilization(dice: Dice) -> Manifest:
    args = low_utilization(dice)
    for name in ("thresholds", "targetThresholds"):
        known = {key: value for key, value in args[name].items() if key != GPU}
        args[name] = known or {"cpu": {"thresholds": 20, "targetThresholds": 40}[name]}
    args["metricsUtilization"] = {"source": "KubernetesMetrics"}
    return args


def queried_utilization(dice: Dice) -> Manifest:
    args = low_utilization(dice)
    low = dice.randint(5, 40)
    args |= {
        "thresholds": {"MetricResource": low},
        "targetThresholds": {"MetricResource": low + dice.randint(0, 40)},
    }
    args["metricsUtilization"] = {"source": "Prometheus", "prometheus": {"query": "load"}}
    return args


def high_utilization(dice: Dice) -> Manifest:
    low, _ = _thresholds(dice)
    args: Manifest = {"thresholds": {name: value + dice.pick((0, 30)) for name, value in low.items()}}
    if dice.percent(30):
        args["evictionModes"] = ["OnlyThresholdingResources"]
    if dice.percent(10):
        args["numberOfNodes"] = dice.randint(0, 2)
    if dice.percent(20):
        args["evictableNamespaces"] = {"exclude": dice.some(NAMESPACES, 2, 1)}
    return args


def duplicates(dice: Dice) -> Manifest:
    args = shared(dice, labels=False)
    if dice.percent(20):
        args["excludeOwnerKinds"] = dice.some(("ReplicaSet", "Job", "Custom"), 2, 1)
    return args


def topology(dice: Dice) -> Manifest:
    args = shared(dice)
    if dice.percent(50):
        args["constraints"] = dice.some(("DoNotSchedule", "ScheduleAnyway"), 2, 1)
    if dice.percent(30):
        args["topologyBalanceNodeFit"] = dice.percent(30)
    return args


def taints(dice: Dice) -> Manifest:
    args = shared(dice)
    if dice.percent(40):
        args["includePreferNoSchedule"] = True
    if dice.percent(40):
        names = ("dedicated", "dedicated=gpu", "load=7", "node.kubernetes.io/unschedulable")
        args[dice.pick(("excludedTaints", "includedTaints"))] = dice.some(names, 2)
    return args


def node_affinity(dice: Dice) -> Manifest:
    names = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    return {**shared(dice), "nodeAffinityType": dice.some([*names, "other"], 3, 1)}


def restarts(dice: Dice) -> Manifest:
    args = {**shared(dice), "podRestartThreshold": dice.pick((1, 5, 20, 100))}
    if dice.percent(40):
        args["includingInitContainers"] = True
    if dice.percent(30):
        args["states"] = dice.some(("Running", "CrashLoopBackOff"), 2, 1)
    return args


def life_time(dice: Dice) -> Manifest:
    args = shared(dice)
    if dice.percent(60):
        args["maxPodLifeTimeSeconds"] = dice.randint(0, 200) * 60
    if dice.percent(30):
        args["states"] = dice.some(("Running", "Pending", "Failed", "Evicted", *REASONS, *ENDS), 3, 1)
    if dice.percent(20):
        args["conditions"] = [
            {"type": "Ready", "status": "False"},
            {"reason": "ContainersNotReady", "minTimeSinceLastTransitionSeconds": dice.randint(0, 100) * 60},
        ][: dice.randint(1, 2)]
    if dice.percent(15):
        args["exitCodes"] = dice.some((0, 1, 137), 2, 1)
    if dice.percent(20):
        args["ownerKinds"] = {dice.pick(("include", "exclude")): dice.some(("ReplicaSet", "Job"), 2, 1)}
    for name in ("includingInitContainers", "includingEphemeralContainers"):
        if dice.percent(30):
            args[name] = True
    if not args.keys() & {"maxPodLifeTimeSeconds", "states", "conditions", "exitCodes"}:
        args["maxPodLifeTimeSeconds"] = 3600
    return args


def failed(dice: Dice) -> Manifest:
    args = shared(dice)
    if dice.percent(70):
        args["minPodLifetimeSeconds"] = dice.randint(0, 100) * 60
    if dice.percent(30):
        args["reasons"] = dice.some(("Evicted", "Error", "OOMKilled", "NodeAffinity", "CrashLoopBackOff"), 3)
    if dice.percent(20):
        args["exitCodes"] = dice.some((0, 1, 137), 2, 1)
    if dice.percent(30):
        args["excludeOwnerKinds"] = dice.some(("ReplicaSet", "Job"), 2, 1)
    if dice.percent(30):
        args["includingInitContainers"] = True
    return args


#: Name, extension point, and how its arguments are made.
PLUGINS: tuple[tuple[str, str, Callable[[Dice], Manifest]], ...] = (
    ("LowNodeUtilization", "balance", low_utilization),
    ("LowNodeUtilization", "balance", measured_utilization),
    ("LowNodeUtilization", "balance", queried_utilization),
    ("HighNodeUtilization", "balance", high_utilization),
    ("RemoveDuplicates", "balance", duplicates),
    ("RemovePodsViolatingTopologySpreadConstraint", "balance", topology),
    ("RemovePodsViolatingTopologySpreadConstraint", "balance", topology),
    ("RemovePodsViolatingNodeTaints", "deschedule", taints),
    ("RemovePodsViolatingNodeAffinity", "deschedule", node_affinity),
    ("RemovePodsViolatingInterPodAntiAffinity", "deschedule", shared),
    ("RemovePodsHavingTooManyRestarts", "deschedule", restarts),
    ("PodLifeTime", "deschedule", life_time),
    ("RemoveFailedPods", "deschedule", failed),
)

_DEPRECATED = (
    "evictLocalStoragePods",
    "evictDaemonSetPods",
    "evictSystemCriticalPods",
    "evictFailedBarePods",
    "ignorePvcPods",
)


def evictor(dice: Dice) -> Manifest:
    args: Manifest = {}
    if dice.percent(40):
        args["nodeFit"] = True
        if dice.percent(25):
            args["nodeSelector"] = dice.pick(("zone in (a,b)", "disk", "!disk", "pool=x"))
    if dice.percent(15):
        args["labelSelector"] = {"matchLabels": {"app": dice.pick(APPS)}}
    if dice.percent(10):
        args["namespaceLabelSelector"] = {"matchLabels": {"team": "red"}}
    if dice.percent(20):
        args["priorityThreshold"] = dice.pick(
            ({"value": 500}, {"name": "low"}, {"name": "high"}, {"value": 0})
        )
    if dice.percent(15):
        args["minReplicas"] = dice.randint(0, 4)
    if dice.percent(15):
        args["minPodAge"] = f"{dice.randint(0, 100)}m"
    if dice.percent(20):
        args["noEvictionPolicy"] = dice.pick(("Mandatory", "Preferred"))
    protections: Manifest = {}
    if dice.percent(30):
        names = ("PodsWithLocalStorage", "SystemCriticalPods", "FailedBarePods", "DaemonSetPods")
        protections["defaultDisabled"] = dice.some(names, 4, 1)
    if dice.percent(20):
        protections["extraEnabled"] = dice.some(("PodsWithPVC", "PodsWithResourceClaims"), 2, 1)
    if dice.percent(15):
        protections["config"] = {"PodsWithPVC": {"protectedStorageClasses": [{"name": "fast"}]}}
    if protections:
        args["podProtections"] = protections
    if not protections.keys() & {"defaultDisabled", "extraEnabled"} and dice.percent(20):
        args |= dict.fromkeys(dice.some(_DEPRECATED, 3, 1), True)
    return args


def policy(dice: Dice, prefix: str) -> dict[str, Any]:
    """A policy of one or two profiles; their names start with ``prefix``."""
    chosen = [dice.some(PLUGINS, 2, 1) for _ in range(1 if dice.percent(85) else 2)]
    profiles = [_profile(dice, f"{prefix}-{number}", plugins) for number, plugins in enumerate(chosen)]
    body: dict[str, Any] = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": profiles,
    }
    if dice.percent(10):
        body["maxNoOfPodsToEvictPerNode"] = dice.randint(0, 3)
    if dice.percent(8):
        body["maxNoOfPodsToEvictPerNamespace"] = dice.randint(0, 3)
    if dice.percent(5):
        body["maxNoOfPodsToEvictTotal"] = dice.randint(0, 4)
    if dice.percent(12):
        body["nodeSelector"] = dice.pick(("zone in (a, b)", "disk!=ssd", "pool", "pool=y,zone"))
    providers: list[dict[str, Any]] = []
    if dice.percent(90):
        providers.append({"source": "KubernetesMetrics"})
    providers.append({"source": "Prometheus", "prometheus": {"url": "http://prometheus.example"}})
    body["metricsProviders"] = providers
    return body


def _profile(dice: Dice, name: str, plugins: list[Any]) -> dict[str, Any]:
    distinct = {plugin: (point, make) for plugin, point, make in plugins}
    configs = [{"name": plugin, "args": make(dice)} for plugin, (_, make) in distinct.items()]
    if dice.percent(70):
        configs.append({"name": "DefaultEvictor", "args": evictor(dice)})
    enabled: dict[str, Any] = {}
    for plugin, (point, _) in distinct.items():
        enabled.setdefault(point, {"enabled": []})["enabled"].append(plugin)
    return {"name": name, "pluginConfig": configs, "plugins": enabled}
