"""Constraints that one node and the pods on it decide. Each rule: why the pod may not be there, or None."""

from tests.checker.selectors import any_node_term, repelling, tolerates
from tests.checker.world import REQUIRED, Node, Pod, World

UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "value": ""}


def node_name(_world: World, pod: Pod, node: Node) -> str | None:
    wanted = pod.spec.get("nodeName")
    return f"spec.nodeName is {wanted}" if wanted and wanted != node.name else None


def unschedulable(_world: World, pod: Pod, node: Node) -> str | None:
    if node.unschedulable and not any(tolerates(t, UNSCHEDULABLE) for t in pod.tolerations):
        return "the node is cordoned"
    return None


def taints(_world: World, pod: Pod, node: Node) -> str | None:
    taint = repelling(node.taints, pod.tolerations)
    return f"taint {taint['key']}={taint.get('value', '')}:{taint['effect']}" if taint else None


def node_affinity(_world: World, pod: Pod, node: Node) -> str | None:
    return None if allows(pod, node) else "nodeSelector or required node affinity does not match"


def allows(pod: Pod, node: Node) -> bool:
    """Whether the pod's nodeSelector and required node affinity admit the node."""
    selector = pod.spec.get("nodeSelector") or {}
    required = ((pod.spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
    return all(node.labels.get(k) == v for k, v in selector.items()) and any_node_term(
        required, node.labels, node.name
    )


def ports(world: World, pod: Pod, node: Node) -> str | None:
    if not pod.ports:
        return None
    taken = {port for other in world.on[node.name].values() for port in other.ports}
    for ip, protocol, number in pod.ports:
        for other_ip, other_protocol, other_number in taken:
            wild = "0.0.0.0" in (ip, other_ip)
            if (protocol, number) == (other_protocol, other_number) and (wild or ip == other_ip):
                return f"host port {protocol} {number} is taken"
    return None


def pod_count(world: World, _pod: Pod, node: Node) -> str | None:
    count = len(world.on[node.name]) + 1
    return f"{count} pods of {node.pods_allowed}" if count > node.pods_allowed else None


def resources(world: World, pod: Pod, node: Node) -> str | None:
    used = world.used[node.name]
    for name, wanted in pod.request.items():
        allocatable = node.allocatable.get(name, 0)
        if wanted > 0 and wanted > allocatable - used[name]:
            return f"{name}: {used[name]} used + {wanted} asked > {allocatable} allocatable"
    return None


def features(_world: World, pod: Pod, node: Node) -> str | None:
    missing = required_features(pod) - node.features
    return f"the node does not declare {', '.join(sorted(missing))}" if missing else None


def required_features(pod: Pod) -> set[str]:
    """Features that a pod needs from its kubelet (the registry of v1.37, as far as it concerns placement)."""
    spec, needed = pod.spec, set()
    containers = (spec.get("containers") or []) + (spec.get("initContainers") or [])
    rules = [r for c in containers for r in c.get("restartPolicyRules") or []]
    if any(r.get("action") == "RestartAllContainers" for r in rules):
        needed.add("RestartAllContainersOnContainerExits")
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        needed.add("UserNamespacesHostNetworkSupport")
    mounts = [
        m
        for c in [*containers, *(spec.get("ephemeralContainers") or [])]
        for m in c.get("volumeMounts") or []
    ]
    if any(m.get("bindMountOptions") for m in mounts):
        needed.add("VolumeBindMountOptions")
    return needed
