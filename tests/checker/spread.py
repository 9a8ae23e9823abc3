"""PodTopologySpread with DoNotSchedule: the skew at the moment of the placement."""

import json
from functools import partial

from tests.checker.local import allows
from tests.checker.selectors import is_empty, matches, repelling
from tests.checker.world import Node, Pod, World

NO_DOMAIN = 2**31 - 1


def spread(world: World, pod: Pod, node: Node) -> str | None:
    keys = [c["topologyKey"] for c in pod.hard_spread]
    for index, constraint in enumerate(pod.hard_spread):
        key = constraint["topologyKey"]
        if key not in node.labels:
            return f"the node has no label {key}"
        counts = world.once(f"spread {index}", pod, partial(_counts, world, pod, constraint, keys))
        lowest = min(counts.values(), default=NO_DOMAIN)
        if len(counts) < (constraint.get("minDomains") or 1):
            lowest = 0
        value = node.labels[key]
        there = counts.get(value, 0) + matches(_selector(pod, constraint), pod.labels)
        if there - lowest > constraint["maxSkew"]:
            return f"{key}={value} would hold {there}, the least is {lowest}, maxSkew {constraint['maxSkew']}"
    return None


def _counts(world: World, pod: Pod, constraint: dict, keys: list[str]) -> dict[str, int]:
    """Matching pods per value of the key, over the nodes that the inclusion policies admit."""
    domain_of = _domains(world, pod, constraint, keys)
    counts = dict.fromkeys(domain_of.values(), 0)
    selector = _selector(pod, constraint)
    if selector is None or is_empty(selector):
        return counts
    for other in world.in_namespace.get(pod.namespace, {}).values():
        value = domain_of.get(world.node_of(other.key).name)
        if value is not None and not other.terminating and matches(selector, other.labels):
            counts[value] += 1
    return counts


def _domains(world: World, pod: Pod, constraint: dict, keys: list[str]) -> dict[str, str]:
    """Node name -> value of the key. Nodes do not change during a replay, so equal pods share the answer."""
    spec = pod.spec
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity")
    signature = json.dumps([constraint, keys, node_affinity, spec.get("nodeSelector"), pod.tolerations])
    if signature not in world.memo:
        world.memo[signature] = {
            node.name: node.labels[constraint["topologyKey"]]
            for node in world.nodes.values()
            if all(key in node.labels for key in keys) and _included(pod, node, constraint)
        }
    return world.memo[signature]


def _included(pod: Pod, node: Node, constraint: dict) -> bool:
    if (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor" and not allows(pod, node):
        return False
    honor_taints = (constraint.get("nodeTaintsPolicy") or "Ignore") == "Honor"
    return not (honor_taints and repelling(node.taints, pod.tolerations))


def _selector(pod: Pod, constraint: dict) -> dict | None:
    """The selector with matchLabelKeys added, for pods that admission never saw."""
    selector = constraint.get("labelSelector")
    wanted = {k: pod.labels[k] for k in constraint.get("matchLabelKeys") or [] if k in pod.labels}
    if selector is None or not wanted:
        return selector
    return {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **wanted}}
