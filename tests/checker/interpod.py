"""Required inter-pod affinity and anti-affinity, in both directions."""

from collections.abc import Iterable
from functools import partial

from tests.checker.selectors import is_empty, matches
from tests.checker.world import Node, Pod, World

Domains = dict[tuple[str, str], str]  # (topology key, value) -> a pod that was found there


def pod_affinity(world: World, pod: Pod, node: Node) -> str | None:
    terms = pod.affinity_terms
    if not terms:
        return None
    missing = [t["topologyKey"] for t in terms if t["topologyKey"] not in node.labels]
    if missing:
        return f"the node has no label {missing[0]}"
    found = world.once("friends", pod, partial(_friends, world, pod))
    if not found and all(_wants(world, pod, t, pod) for t in terms):
        return None  # the first of its kind: nothing matches anywhere, and it matches itself
    for term in terms:
        key = term["topologyKey"]
        if (key, node.labels[key]) not in found:
            return f"no matching pod in {key}={node.labels[key]}"
    return None


def pod_anti_affinity(world: World, pod: Pod, node: Node) -> str | None:
    if not pod.anti_terms:
        return None
    found = world.once("foes", pod, partial(_foes, world, pod))
    for key, value in node.labels.items():
        if (key, value) in found:
            return f"{found[key, value]} is in the same {key}"
    return None


def existing_anti_affinity(world: World, pod: Pod, node: Node) -> str | None:
    found = world.once("repelled", pod, partial(_repelled, world, pod))
    for key, value in node.labels.items():
        if (key, value) in found:
            return f"{found[key, value]} keeps it out of its {key}"
    return None


def _friends(world: World, pod: Pod) -> Domains:
    """Where pods are that match all the affinity terms at once."""
    terms = pod.affinity_terms
    friends = [(p, n) for p, n in world.where.values() if all(_wants(world, pod, t, p) for t in terms)]
    return {domain: p.key for p, n in friends for domain in _domains(terms, n)}


def _foes(world: World, pod: Pod) -> Domains:
    """Where pods are that match one of the anti-affinity terms."""
    return {
        domain: other.key
        for other, node in world.where.values()
        for term in pod.anti_terms
        if _wants(world, pod, term, other)
        for domain in _domains([term], node)
    }


def _repelled(world: World, pod: Pod) -> Domains:
    """Where pods are whose own anti-affinity terms match this pod."""
    return {
        domain: other.key
        for other in world.repelling.values()
        for term in other.anti_terms
        if _repels(world, other, term, pod)
        for domain in _domains([term], world.node_of(other.key))
    }


def _domains(terms: list[dict], node: Node) -> Iterable[tuple[str, str]]:
    keys = [term["topologyKey"] for term in terms]
    return [(key, node.labels[key]) for key in keys if key in node.labels]


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
