"""The cluster as one cycle sees it.

Objects do not change during a cycle, with one exception: an evicted pod is terminating from then on, as on a
live API server, and keeps its place until the cycle ends.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from podium._core import Quantity
from podium.api import (
    LabelSelector,
    Namespace,
    Node,
    Object,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
)
from podium.api.matching import selects
from podium.api.quantities import ZERO
from podium.collector import collector_paused
from podium.descheduler.labels import Labelled
from podium.descheduler.nodefit import Mask, NodeFit
from podium.descheduler.requests import Amounts, Requests
from podium.descheduler.shapes import Shape, Shapes, is_active

SECOND = 1_000_000_000


@lru_cache(maxsize=65536)
def parse_time(text: str) -> int:
    """Return an RFC 3339 time as nanoseconds since 1970."""
    return round(datetime.fromisoformat(text).timestamp() * SECOND)


def whole_seconds(nanoseconds: int) -> int:
    """Return whole seconds, rounded towards zero as Go converts."""
    return nanoseconds // SECOND if nanoseconds >= 0 else -(-nanoseconds // SECOND)


def is_ready(node: Node) -> bool:
    """Tell whether the descheduler works on a node: no Ready condition, or a true one; cordoned or not."""
    return all(item.status == "True" for item in node.status.conditions if item.type == "Ready")


class World:
    """Nodes, pods by node, and what else plugins read.

    Pods are listed oldest first; equally old ones in the order of ``objects``.
    """

    @collector_paused()
    def __init__(self, objects: Iterable[Object], now: int, shapes: Shapes | None = None) -> None:
        """Index objects.

        Args:
            objects: the cluster, of any kinds, defaulted.
            now: nanoseconds since 1970.
            shapes: those that are remembered from earlier cycles.

        """
        self.now = now
        by_kind: dict[type[Object], list[Any]] = defaultdict(list)
        for item in objects:
            by_kind[type(item)].append(item)
        self.nodes: Sequence[Node] = by_kind[Node]
        self.node: Mapping[str, Node] = {node.metadata.name: node for node in self.nodes}
        self.pods: Sequence[Pod] = self._by_age(by_kind[Pod])
        self._shapes = shapes or Shapes()
        self._shapes.begin(len(self.pods))
        self.shape = self._shapes.of
        """Returns what a pod has in common with those that are alike."""
        # In the order in which they were made, pods lie one after the other in memory: that is twice as fast.
        self._alike: Sequence[Shape] = list(map(self.shape, self.pods))
        self._on: dict[str, list[Pod]] = defaultdict(list)
        self._ended: dict[str, list[Pod]] = defaultdict(list)
        self._shaped: dict[str, list[Shape]] = defaultdict(list)
        on, ended, shaped = self._on, self._ended, self._shaped
        for pod, shape in zip(self.pods, self._alike, strict=True):
            node = pod.spec.node_name
            on[node].append(pod)
            if shape.has_ended:
                ended[node].append(pod)
            else:
                shaped[node].append(shape)
        self._active = {node: list(filter(is_active, on[node])) for node in ended}
        self._used: dict[str, dict[str, Quantity]] = {}
        self.namespaces = {item.metadata.name: item.metadata.labels for item in by_kind[Namespace]}
        self.claims = {
            (item.metadata.namespace, item.metadata.name): item for item in by_kind[PersistentVolumeClaim]
        }
        self.priority_classes = {item.metadata.name: item.value for item in by_kind[PriorityClass]}
        self._budgets: dict[str, list[PodDisruptionBudget]] = defaultdict(list)
        for item in by_kind[PodDisruptionBudget]:
            self._budgets[item.metadata.namespace].append(item)
        self._terminating: set[str] = set()
        self._ready: dict[str, Mask] = {}

    def _by_age(self, pods: list[Pod]) -> Sequence[Pod]:
        """Sort pods by age; most are of few distinct times, or sorted already."""
        written = [pod.metadata.creation_timestamp for pod in pods]
        times = {text: parse_time(text) if text else self.now for text in set(written)}
        created = [times[text] for text in written]
        return [pods[at] for at in sorted(range(len(pods)), key=created.__getitem__)]

    def created(self, pod: Pod) -> int:
        """Return when a pod was created; one that does not say is created now."""
        return parse_time(pod.metadata.creation_timestamp) if pod.metadata.creation_timestamp else self.now

    def all_on(self, node: str) -> Sequence[Pod]:
        """Return the pods of a node, whatever their phase."""
        return self._on.get(node, ())

    def ended_on(self, node: str) -> Sequence[Pod]:
        """Return the pods of a node that have succeeded or failed."""
        return self._ended.get(node, ())

    def active_on(self, node: str) -> Sequence[Pod]:
        """Return the pods of a node that take resources; terminating ones do. Not to be changed."""
        found = self._active.get(node)
        return self._on.get(node, ()) if found is None else found

    def places(self) -> Iterable[str]:
        """Return the names of the nodes that have pods, known or not; empty for the pods that wait."""
        return self._on.keys()

    def shapes_on(self, node: str) -> Sequence[Shape]:
        """Return the shapes of ``active_on``, in the same order."""
        return self._shaped.get(node, ())

    def active_of(self, node: str, shapes: Set[Shape]) -> Sequence[Pod]:
        """Return the active pods of a node that have one of some shapes."""
        found = self.shapes_on(node)
        if shapes.isdisjoint(found):
            return ()
        return [pod for pod, shape in zip(self.active_on(node), found, strict=True) if shape in shapes]

    def shapes(self, nodes: Iterable[Node]) -> set[Shape]:
        """Return the shapes of all active pods of some nodes."""
        return {shape for node in nodes for shape in self.shapes_on(node.metadata.name)}

    @property
    def requests(self) -> Requests:
        """What pods request, of earlier cycles too."""
        return self._shapes.requests

    def lowest_first(self, pods: Iterable[Pod]) -> list[Pod]:
        """Sort pods by importance, those that matter least first."""
        of = self._shapes.of
        return sorted(pods, key=lambda pod: of(pod).importance)

    def used(self, resource: str) -> Mapping[str, Quantity]:
        """Return what the active pods of each node request of a resource, their number for ``pods``.

        Nodes without pods are missing.
        """
        known = self._used.get(resource)
        if known is None:
            asked = self._asked
            add = self.requests.sums(resource)
            known = self._used[resource] = {node: add(found) for node, found in asked.items()}
        return known

    @cached_property
    def _asked(self) -> Mapping[str, Sequence[Mapping[str, Quantity]]]:
        """What each active pod of a node requests."""
        return {node: [shape.requests for shape in self.shapes_on(node)] for node in self._on if node}

    def requested(self, node: str, resources: Iterable[str]) -> Amounts:
        """Return what the active pods of a node request, by resource; a new dictionary."""
        return {name: self.used(name).get(node, ZERO) for name in resources}

    @cached_property
    def fit(self) -> NodeFit:
        """Whether pods fit nodes."""
        return NodeFit(self.nodes, self.active_on, self._shapes.of, self.used)

    @cached_property
    def labelled(self) -> Labelled:
        """The active pods of all nodes by label, in the order of the nodes, then of the pods."""
        names = [node.metadata.name for node in self.nodes]
        return Labelled((self.active_on(name), self.shapes_on(name)) for name in names)

    @cached_property
    def everybody(self) -> Labelled:
        """All pods by label, those that wait or have ended too."""
        return Labelled([(self.pods, self._alike)])

    @cached_property
    def _owned(self) -> Counter[str]:
        return Counter(owner.uid for pod in self.pods for owner in pod.metadata.owner_references)

    def owned(self, uid: str) -> int:
        """Return how many pods, of any state, refer to an owner."""
        return self._owned[uid]

    def budgets(self, pod: Pod) -> list[PodDisruptionBudget]:
        """Return the PodDisruptionBudgets that select a pod."""
        return [
            item
            for item in self._budgets.get(pod.metadata.namespace, ())
            if selects(item.spec.selector, pod.metadata.labels)
        ]

    def is_terminating(self, pod: Pod) -> bool:
        """Tell whether a pod is about to leave."""
        return bool(pod.metadata.deletion_timestamp) or pod.metadata.uid in self._terminating

    def set_terminating(self, pod: Pod) -> None:
        """Note that a pod was evicted."""
        self._terminating.add(pod.metadata.uid)

    def ready_mask(self, text: str, selector: LabelSelector) -> Mask:
        """Return ``ready_nodes`` as a mask of ``fit``, remembered by the selector's text."""
        mask = self._ready.get(text)
        if mask is None:
            mask = self._ready[text] = self.fit.rows(self.ready_nodes(selector))
        return mask

    def ready_nodes(self, selector: LabelSelector | None = None) -> list[Node]:
        """Return the ready nodes that a selector selects (None: all), cordoned ones too."""
        return [
            node
            for node in self.nodes
            if is_ready(node) and (selector is None or selects(selector, node.metadata.labels))
        ]
