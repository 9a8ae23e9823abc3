"""Required inter-pod affinity and anti-affinity, in both directions."""

from collections.abc import Iterable

from tests.checker.selectors import is_empty, matches
from tests.checker.world import Node, Pod, World


def pod_affinity(world: World, pod: Pod, node: Node) -> str | None:
    terms = pod.affinity_terms
    if not terms:
        return None
    missing = [t["topologyKey"] for t in terms if t["topologyKey"] not in node.labels]
    if missing:
        return f"the node has no label {missing[0]}"
    friends = [(p, n) for p, n in world.where.values() if all(_wants(world, pod, t, p) for t in terms)]
    found = {
        (t["topologyKey"], n.labels[t["topologyKey"]])
        for _, n in friends
        for t in terms
        if t["topologyKey"] in n.labels
    }
    if not found and all(_wants(world, pod, t, pod) for t in terms):
        return None  # the first of its kind: nothing matches anywhere, and it matches itself
    for term in terms:
        key = term["topologyKey"]
        if (key, node.labels[key]) not in found:
            return f"no matching pod in {key}={node.labels[key]}"
    return None


def pod_anti_affinity(world: World, pod: Pod, node: Node) -> str | None:
    for term in pod.anti_terms:
        for other in _same_domain(world, term["topologyKey"], node, world.where):
            if _wants(world, pod, term, other):
                return f"{other.key} is in the same {term['topologyKey']}"
    return None


def existing_anti_affinity(world: World, pod: Pod, node: Node) -> str | None:
    for key, other in world.repelling.items():
        for term in other.anti_terms:
            shared = list(_same_domain(world, term["topologyKey"], node, [key]))
            if shared and _repels(world, other, term, pod):
                return f"{other.key} keeps it out of its {term['topologyKey']}"
    return None


def _same_domain(world: World, key: str, node: Node, pods: Iterable[str]) -> Iterable[Pod]:
    value = node.labels.get(key)
    if value is None:
        return
    for name in pods:
        other, its_node = world.where[name]
        if its_node.labels.get(key) == value:
            yield other


def _wants(world: World, pod: Pod, term: dict, other: Pod) -> bool:
    """Whether an incoming pod's term means ``other``: namespaceSelectors find known namespaces only."""
    selector = term.get("namespaceSelector")
    known = world.namespaces.get(other.namespace)
    by_selector = selector is not None and (
        is_empty(selector) or (known is not None and matches(selector, known))
    )
    return (_listed(pod, term, other) or by_selector) and matches(term.get("labelSelector"), other.labels)


def _repels(world: World, existing: Pod, term: dict, incoming: Pod) -> bool:
    """Whether a term of a placed pod means the incoming one: a namespace without an object has no labels."""
    selector = term.get("namespaceSelector")
    by_selector = selector is not None and matches(selector, world.namespaces.get(incoming.namespace, {}))
    return (_listed(existing, term, incoming) or by_selector) and matches(
        term.get("labelSelector"), incoming.labels
    )


def _listed(pod: Pod, term: dict, other: Pod) -> bool:
    names = term.get("namespaces") or []
    if not names and term.get("namespaceSelector") is None:
        names = [pod.namespace]
    return other.namespace in names
