"""The table of constraints: kind -> why a pod may not be on a node, given what is there already."""

from collections.abc import Callable
from typing import NamedTuple

from tests.checker import claims, disks, interpod, limits, local
from tests.checker.spread import spread
from tests.checker.world import Node, Pod, World

GANG_MARKS = (
    "gang.example.com/name",
    "scheduling.x-k8s.io/pod-group",
    "scheduling.k8s.io/group-name",
    "scheduling.volcano.sh/group-name",
)


class Violation(NamedTuple):
    """``kind`` is a key of RULES or one of the judge's own; pod and node are empty where there is none."""

    kind: str
    pod: str
    node: str
    text: str


Rule = Callable[[World, Pod, Node], str | None]
RULES: dict[str, Rule] = {  # cheap ones first: where one objection is enough, the rest is not asked
    "node-name": local.node_name,
    "unschedulable": local.unschedulable,
    "taints": local.taints,
    "node-affinity": local.node_affinity,
    "pods": local.pod_count,
    "resources": local.resources,
    "ports": local.ports,
    "features": local.features,
    "disk-conflict": disks.disk_conflict,
    "single-pod-claim": disks.single_pod_claim,
    "csi-limits": limits.csi_limits,
    "claims": claims.claims_usable,
    "volume-affinity": claims.volume_affinity,
    "volume-zone": claims.volume_zone,
    "volume-assumption": claims.assignable,
    "spread": spread,
    "pod-affinity": interpod.pod_affinity,
    "pod-anti-affinity": interpod.pod_anti_affinity,
    "existing-anti-affinity": interpod.existing_anti_affinity,
}


def objections(world: World, pod: Pod, node: Node) -> list[Violation]:
    texts = {kind: rule(world, pod, node) for kind, rule in RULES.items()}
    return [Violation(kind, pod.key, node.name, text) for kind, text in texts.items() if text]


def passes(world: World, pod: Pod, node: Node) -> bool:
    return all(rule(world, pod, node) is None for rule in RULES.values())


def why_not_tried(pod: Pod, schedulers: tuple[str, ...]) -> str | None:
    """Why no scheduling cycle may place the pod at all."""
    if pod.spec.get("schedulingGates"):
        return "it has scheduling gates"
    if pod.spec.get("resourceClaims"):
        return "it has resource claims"
    if pod.terminating:
        return "it is being deleted"
    scheduler = pod.spec.get("schedulerName") or "default-scheduler"
    return None if scheduler in schedulers else f"its scheduler is {scheduler}"


def in_gang(pod: Pod) -> bool:
    """Members of a gang are placed together or not at all: one that fits alone proves nothing."""
    marks = pod.labels | (pod.manifest["metadata"].get("annotations") or {})
    return bool(pod.spec.get("schedulingGroup")) or any(mark in marks for mark in GANG_MARKS)


def unpinned_daemon(pod: Pod) -> bool:
    """A daemon's pod that the checker made itself: only the answer knew its node."""
    owned = pod.owner is not None and pod.owner["kind"] == "DaemonSet"
    return owned and "matchFields" not in repr(pod.spec.get("affinity"))
