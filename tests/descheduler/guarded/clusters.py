"""Random clusters that are badly balanced, and policies that want to do something about it."""

from dataclasses import dataclass
from typing import Any

from tests.descheduler.differential.chance import Dice

Manifest = dict[str, Any]

SIZES = (("8", "32Gi"), ("16", "64Gi"), ("32", "64Gi"))
ZONES = ("a", "b", "c")


@dataclass(frozen=True)
class Case:
    """A cluster, a policy and the resources whose balance the policy is about."""

    seed: int
    objects: list[Manifest]
    policy: dict[str, Any]
    resources: tuple[str, ...]


@dataclass
class _Node:
    name: str
    cpu: int
    memory: int
    labels: dict[str, str]
    tainted: bool
    used_cpu: int = 0
    used_memory: int = 0
    pods: int = 0


#: Plugins that may work beside LowNodeUtilization, with their extension point and arguments.
OTHERS: tuple[tuple[str, str, Manifest], ...] = (
    ("RemoveDuplicates", "balance", {}),
    (
        "RemovePodsViolatingTopologySpreadConstraint",
        "balance",
        {"constraints": ["DoNotSchedule", "ScheduleAnyway"]},
    ),
    ("RemovePodsViolatingNodeTaints", "deschedule", {}),
    (
        "RemovePodsViolatingNodeAffinity",
        "deschedule",
        {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
    ),
    ("RemovePodsViolatingInterPodAntiAffinity", "deschedule", {}),
)


#: What pods request, in millicores and mebibytes: by a usual grain, and by one that leaves few choices.
GRAINS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "fine": ((100, 250, 500, 1000, 2000), (128, 256, 512, 1024, 2048, 4096)),
    "coarse": ((500, 1000, 2000, 3000, 4000), (1024, 2048, 4096, 8192)),
}


def case(seed: int, *, mixed: bool = False, grain: str = "fine") -> Case:
    """Make one case; equal arguments make equal cases. ``mixed`` policies have other plugins too."""
    name = f"guarded {seed} {mixed}" if mixed else f"guarded {seed}"
    dice = Dice(name if grain == "fine" else f"{name} {grain}")
    nodes, manifests = _nodes(dice)
    pods = _pods(dice, nodes, grain)
    objects = [*manifests, *pods, *_budgets(dice, pods), *_metrics(dice, nodes, pods)]
    policy, resources = _policy(dice)
    if mixed:
        _mix(dice, policy["profiles"][0])
    return Case(seed, objects, policy, resources)


def _nodes(dice: Dice) -> tuple[list[_Node], list[Manifest]]:
    uniform = dice.pick(SIZES) if dice.percent(60) else None
    nodes, manifests = [], []
    for number in range(dice.randint(3, 14)):
        name = f"n{number:02}"
        cpu, memory = uniform or dice.pick(SIZES)
        labels = {"kubernetes.io/hostname": name, "zone": dice.pick(ZONES)}
        size = {"cpu": cpu, "memory": memory, "pods": "110"}
        tainted = dice.percent(8)
        spec: Manifest = {}
        if tainted:
            spec = {"taints": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]}
        nodes.append(_Node(name, int(cpu) * 1000, int(memory[:-2]) * 1024, labels, tainted))
        manifests.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": labels},
                "spec": spec,
                "status": {"allocatable": size, "capacity": size},
            }
        )
    return nodes, manifests


def _pods(dice: Dice, nodes: list[_Node], grain: str) -> list[Manifest]:
    """Fill the nodes unevenly: some to a high level, some hardly at all."""
    level = {node.name: dice.pick((0.05, 0.1, 0.3, 0.6, 0.9, 0.95)) for node in nodes}
    pods: list[Manifest] = []
    for owner in range(dice.randint(5, 30)):
        template = _template(dice, owner, grain)
        cpu, memory = template["cpu"], template["memory"]
        for _ in range(dice.pick((1, 1, 2, 3, 5, 12, 20))):
            open_ = [
                node
                for node in nodes
                if (node.used_cpu + cpu) / node.cpu <= level[node.name]
                and (node.used_memory + memory) / node.memory <= 1
            ]
            if not open_:
                break
            node = dice.choices(open_, [level[node.name] ** 2 for node in open_])[0]
            node.used_cpu += cpu
            node.used_memory += memory
            node.pods += 1
            pods.append(_pod(f"w{owner}-{len(pods)}", node, template))
    return pods


def _template(dice: Dice, owner: int, grain: str) -> Manifest:
    labels = {"app": f"a{owner}"}
    spec: Manifest = {}
    if dice.percent(12):
        term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
        preferred = [{"weight": 50, "podAffinityTerm": term}]
        spec["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    if dice.percent(15):
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": dice.randint(1, 2),
                "topologyKey": dice.pick(("zone", "kubernetes.io/hostname")),
                "whenUnsatisfiable": dice.pick(("DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": {"matchLabels": labels},
            }
        ]
    if dice.percent(10):
        spec["nodeSelector"] = {"zone": dice.pick(ZONES)}
    if dice.percent(10):
        spec["tolerations"] = [{"operator": "Exists"}]
    if dice.percent(40):
        spec["priority"] = dice.pick((0, 10, 100))
    cpu, memory = map(dice.pick, GRAINS[grain])
    kind = dice.pick(("ReplicaSet", "ReplicaSet", "StatefulSet", "Job"))
    return {
        "cpu": cpu,
        "memory": memory,
        "labels": labels,
        "spec": spec,
        "owner": owner,
        "kind": kind,
    }


def _pod(name: str, node: _Node, template: Manifest) -> Manifest:
    requests = {"cpu": f"{template['cpu']}m", "memory": f"{template['memory']}Mi"}
    owner = f"w{template['owner']}"
    reference = {
        "apiVersion": "apps/v1",
        "kind": template["kind"],
        "name": owner,
        "uid": owner,
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": template["labels"],
            "ownerReferences": [reference],
        },
        "spec": {
            "nodeName": node.name,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}],
            **template["spec"],
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _budgets(dice: Dice, pods: list[Manifest]) -> list[Manifest]:
    apps = sorted({pod["metadata"]["labels"]["app"] for pod in pods})
    return [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"maxUnavailable": dice.randint(0, 2), "selector": {"matchLabels": {"app": app}}},
        }
        for app in apps
        if dice.percent(15)
    ]


def _metrics(dice: Dice, nodes: list[_Node], pods: list[Manifest]) -> list[Manifest]:
    """Real load: a pod uses a tenth to twice what it requests; a node the sum."""
    head = {"apiVersion": "metrics.k8s.io/v1beta1"}
    used = {node.name: [0, 0] for node in nodes}
    result: list[Manifest] = []
    for pod in pods:
        requests = pod["spec"]["containers"][0]["resources"]["requests"]
        cpu = int(int(requests["cpu"][:-1]) * dice.uniform(0.1, 2))
        memory = int(int(requests["memory"][:-2]) * dice.uniform(0.3, 1.2))
        total = used[pod["spec"]["nodeName"]]
        total[0] += cpu
        total[1] += memory
        meta = {key: pod["metadata"][key] for key in ("name", "namespace")}
        usage = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
        result.append(
            {**head, "kind": "PodMetrics", "metadata": meta, "containers": [{"name": "c", "usage": usage}]}
        )
    for node in nodes:
        cpu, memory = used[node.name]
        usage = {"cpu": f"{min(cpu, node.cpu)}m", "memory": f"{min(memory, node.memory)}Mi"}
        result.append({**head, "kind": "NodeMetrics", "metadata": {"name": node.name}, "usage": usage})
    return result


def _mix(dice: Dice, profile: Manifest) -> None:
    """Enable one to three other plugins; every third profile does without LowNodeUtilization."""
    enabled = profile["plugins"]
    if dice.percent(33):
        enabled["balance"]["enabled"] = []
    for name, point, args in dice.some(OTHERS, 3, 1):
        enabled.setdefault(point, {"enabled": []})["enabled"].append(name)
        profile["pluginConfig"].append({"name": name, "args": args})


def _policy(dice: Dice) -> tuple[dict[str, Any], tuple[str, ...]]:
    resources = dice.pick((("cpu",), ("cpu", "memory"), ("cpu", "memory", "pods")))
    kind = dice.pick(("static", "static", "deviation", "measured"))
    if kind == "deviation":
        low = dice.randint(5, 15)
        args: Manifest = {
            "useDeviationThresholds": True,
            "thresholds": dict.fromkeys(resources, low),
            "targetThresholds": dict.fromkeys(resources, dice.randint(5, 15)),
        }
    else:
        low = dice.randint(15, 40)
        args = {
            "thresholds": dict.fromkeys(resources, low),
            "targetThresholds": dict.fromkeys(resources, low + dice.randint(15, 45)),
        }
    body: dict[str, Any] = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
    if kind == "measured":
        args["metricsUtilization"] = {"source": "KubernetesMetrics"}
        body["metricsProviders"] = [{"source": "KubernetesMetrics"}]
    limit = dice.randint(0, 3)
    if limit == 1:
        body["maxNoOfPodsToEvictPerNode"] = dice.randint(1, 4)
    elif limit == 2:
        body["maxNoOfPodsToEvictTotal"] = dice.randint(1, 6)
    elif limit == 3 and dice.percent(40):
        args["evictionLimits"] = {"node": dice.randint(1, 3)}
    config = [{"name": "LowNodeUtilization", "args": args}]
    plugins: dict[str, Any] = {"balance": {"enabled": ["LowNodeUtilization"]}}
    if dice.percent(50):
        config.append({"name": "DefaultEvictor", "args": {"nodeFit": True}})
    body["profiles"] = [{"name": "p", "pluginConfig": config, "plugins": plugins}]
    return body, resources
