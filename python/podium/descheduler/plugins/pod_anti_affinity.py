"""RemovePodsViolatingInterPodAntiAffinity: pods whose own required anti-affinity a neighbour violates."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from podium.api import LabelSelector, Node, Pod, PodAffinityTerm
from podium.api.matching import selects
from podium.descheduler.framework import Handle, Outcome, PluginType, Point
from podium.descheduler.labels import Labelled
from podium.descheduler.nodefit import anti_affinity_terms, term_namespaces
from podium.descheduler.podfilter import (
    Namespaces,
    PodFilter,
    label_problems,
    namespace_problems,
    pod_filter,
)
from podium.descheduler.policy.model import Wire

NAME: Final = "RemovePodsViolatingInterPodAntiAffinity"


class Args(Wire):
    """Which pods are looked at, as offenders and as neighbours."""

    GO_NAME = "RemovePodsViolatingInterPodAntiAffinityArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    label_selector: LabelSelector | None = None


class PodAntiAffinity:
    """Evicts the less important pod of a pair: once it is gone, its neighbour may stay.

    Pods that may not be evicted count as neighbours. Whether an evicted pod finds a place is not asked.
    """

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._pods = pod_filter(namespaces=args.namespaces, labels=args.label_selector)

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evict node by node."""
        world, evictor = self._handle.world, self._handle.evictor
        neighbours = _Neighbours(world.labelled, {node.metadata.name: node for node in nodes}, self._pods)
        repelling = {shape for shape in world.shapes(nodes) if anti_affinity_terms(shape.example)}
        for node in nodes:
            listed = world.active_of(node.metadata.name, repelling)
            for pod in world.lowest_first(filter(self._pods, listed)):
                if not neighbours.violate(pod):
                    continue
                if not (evictor.filter(pod) and evictor.pre_eviction_filter(pod)):
                    continue
                outcome = evictor.evict(pod, NAME)
                if outcome is Outcome.EVICTED:
                    neighbours.remove(pod)
                elif outcome is Outcome.TOTAL_LIMIT:
                    return
                elif outcome is Outcome.NODE_LIMIT:
                    break


class _Matching:
    """The pods that one term selects, counted by where they are."""

    def __init__(self, term: PodAffinityTerm, namespaces: frozenset[str]) -> None:
        self._term = term
        self._namespaces = namespaces
        self.per_node: Counter[str] = Counter()
        self.per_domain: Counter[str] = Counter()
        # Pods of the same name never disturb each other, even in different namespaces.
        self.named: dict[str, list[Pod]] = defaultdict(list)

    def selects(self, pod: Pod) -> bool:
        return pod.metadata.namespace in self._namespaces and selects(
            self._term.label_selector, pod.metadata.labels
        )

    def add(self, pod: Pod, domain: str | None, sign: int = 1) -> None:
        self.per_node[pod.spec.node_name] += sign
        if domain is not None:
            self.per_domain[domain] += sign
        self.named[pod.metadata.name] = [
            other for other in self.named[pod.metadata.name] if other is not pod
        ] + [pod] * (sign > 0)


class _Neighbours:
    """All pods that are looked at, by term; terms that select alike share one count."""

    def __init__(self, everybody: Labelled, nodes: Mapping[str, Node], is_listed: PodFilter) -> None:
        self._nodes = nodes
        self._everybody = everybody
        self._is_listed = is_listed
        self._gone: set[str] = set()
        self._known: dict[tuple[bytes, str, frozenset[str]], _Matching] = {}

    def violate(self, pod: Pod) -> bool:
        """Tell whether a neighbour violates the pod's anti-affinity: in its domain, or on its node."""
        here = self._nodes[pod.spec.node_name]
        return any(self._meets(pod, here, term) for term in anti_affinity_terms(pod))

    def _meets(self, pod: Pod, here: Node, term: PodAffinityTerm) -> bool:
        found = self._matching(pod, term)
        domain = here.metadata.labels.get(term.topology_key)
        same_name = found.named.get(pod.metadata.name, ())
        on_node = found.per_node[pod.spec.node_name]
        if on_node > sum(other.spec.node_name == pod.spec.node_name for other in same_name):
            return True
        if domain is None:
            return False
        return found.per_domain[domain] > sum(self._domain(other, term) == domain for other in same_name)

    def _domain(self, pod: Pod, term: PodAffinityTerm) -> str | None:
        return self._nodes[pod.spec.node_name].metadata.labels.get(term.topology_key)

    def _matching(self, pod: Pod, term: PodAffinityTerm) -> _Matching:
        namespaces = term_namespaces(pod, term)
        key = (msgspec.json.encode(term.label_selector), term.topology_key, namespaces)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _Matching(term, namespaces)
            for namespace in namespaces:
                for other in self._everybody.selected(namespace, term.label_selector):
                    here = other.spec.node_name in self._nodes and self._is_listed(other)
                    if here and other.metadata.uid not in self._gone:
                        found.add(other, self._domain(other, term))
        return found

    def remove(self, pod: Pod) -> None:
        """Take out a pod that was evicted."""
        self._gone.add(pod.metadata.uid)
        for (_, topology_key, _), found in self._known.items():
            if found.selects(pod):
                labels = self._nodes[pod.spec.node_name].metadata.labels
                found.add(pod, labels.get(topology_key), sign=-1)


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    return namespace_problems(args.namespaces) + label_problems(args.label_selector)


PLUGIN: Final = PluginType(NAME, frozenset({Point.DESCHEDULE}), Args, PodAntiAffinity, validate)
