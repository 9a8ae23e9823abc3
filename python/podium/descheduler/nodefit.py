"""Whether a pod fits a node, as far as upstream's ``NodeFit`` looks.

It looks at cordons, node selector and required node affinity, hard taints, the pod's own required
anti-affinity against pods on that very node, and resources (not on the node the pod is on). Everything else
that a scheduler knows is not looked at, and nothing is reserved: any number of pods may fit the same gap.

What does not depend on the single pod is an array over all nodes, so that one question costs a few vector
operations.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium._core import Quantity
from podium.api import Node, Pod, PodAffinityTerm
from podium.api.matching import fits_node, selects
from podium.api.quantities import ZERO, exact
from podium.descheduler.requests import CPU, MEMORY, PODS, number
from podium.descheduler.shapes import Shape
from podium.descheduler.tolerations import tolerates_node

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

_INT64_MAX = 2**63 - 1

#: Nodes that are tried first where it is asked whether there are two: those with most room.
_FIRST = 64

#: Stands for pods that ask for nothing of a node but room.
_ANYWHERE = b""


def anti_affinity_terms(pod: Pod) -> Sequence[PodAffinityTerm]:
    """Return the required anti-affinity terms of a pod."""
    affinity = pod.spec.affinity
    return affinity.pod_anti_affinity.required if affinity and affinity.pod_anti_affinity else ()


def term_namespaces(pod: Pod, term: PodAffinityTerm) -> frozenset[str]:
    """Return the namespaces that a term names, else the pod's own; namespaceSelector is not looked at."""
    return frozenset(term.namespaces or (pod.metadata.namespace,))


class NodeFit:
    """Answers for one cycle; nodes and pods do not change in it."""

    def __init__(
        self,
        nodes: Sequence[Node],
        active_on: Callable[[str], Sequence[Pod]],
        shape: Callable[[Pod], Shape],
        used: Callable[[str], Mapping[str, Quantity]],
    ) -> None:
        """Prepare.

        Args:
            nodes: all of them.
            active_on: gives the pods of a node that take resources.
            shape: gives what pods have in common.
            used: gives what those pods request of a resource, by node.

        """
        self._active_on = active_on
        self._used = used
        self._shape = shape
        self._nodes = nodes
        self._row = {node.metadata.name: row for row, node in enumerate(self._nodes)}
        self._open = np.array([not node.spec.unschedulable for node in self._nodes], dtype=bool)
        self._static: dict[bytes, Mask] = {}
        self._admitted: dict[Shape, Mask] = {}
        self._fitting: dict[tuple[Shape, int], tuple[Mask, int]] = {}
        self._kept: list[Mask] = []  # what keys of _fitting and _roomy stand for must stay alive
        self._roomy: dict[tuple[int, int], Rows] = {}
        self._free: dict[str, NDArray[np.int64]] = {}

    def rows(self, nodes: Iterable[Node]) -> Mask:
        """Return a set of nodes as a mask over all nodes."""
        return self.mask([self.numbers(nodes)])

    def numbers(self, nodes: Iterable[Node]) -> Rows:
        """Return the places of nodes among all nodes."""
        return np.array([self._row[node.metadata.name] for node in nodes], dtype=np.intp)

    def mask(self, groups: Iterable[Rows]) -> Mask:
        """Return all nodes of some groups as a mask over all nodes."""
        mask = np.zeros(len(self._nodes), dtype=bool)
        for rows in groups:
            mask[rows] = True
        return mask

    def fit_any_other(self, pod: Pod, among: Mask) -> bool | None:
        """Tell whether all pods that are like a pod fit a node other than their own; None: it depends."""
        alone = not anti_affinity_terms(pod)
        if alone and self._surely_fits_two(pod, among):
            return True
        _, count = self._fits(pod, among)
        if count == 0:
            return False
        return True if count > 1 and alone else None

    def fits_any_other(self, pod: Pod, among: Mask) -> bool:
        """Tell whether a pod fits one of the nodes that is not its own; ``among`` must not change later."""
        own = self._row.get(pod.spec.node_name)
        terms = anti_affinity_terms(pod)
        if not terms and self._surely_fits_two(pod, among):
            return True
        mask, count = self._fits(pod, among)
        if count > 1 and not terms:
            return True
        others = count - int(own is not None and mask[own])
        if others == 0 or not terms:
            return others > 0
        rows = map(int, np.flatnonzero(mask))
        return any(row != own and not self._repels(pod, terms, self._nodes[row]) for row in rows)

    def fits_any(self, pod: Pod, among: Mask) -> bool:
        """Tell whether a pod fits one of the nodes; its own needs no room."""
        own = self._row.get(pod.spec.node_name)
        if own is not None and among[own] and self._open[own] and self.admitted(pod)[own]:
            terms = anti_affinity_terms(pod)
            if not terms or not self._repels(pod, terms, self._nodes[own]):
                return True
        return self.fits_any_other(pod, among)

    def _surely_fits_two(self, pod: Pod, among: Mask) -> bool:
        """Tell whether two of the roomiest nodes that admit a pod have room for it: most have."""
        admitted = self.admitted(pod)
        key = (id(among), id(admitted))
        rows = self._roomy.get(key)
        if rows is None:
            rows = self._roomy[key] = self._roomiest(among & self._open & admitted)
            self._kept.append(among)
        room = np.ones(len(rows), dtype=bool)
        for name, quantity in self._shape(pod).requests.items():
            if name != PODS:
                room &= self._free_of(name)[rows] >= min(quantity.milli_value(), _INT64_MAX)
        return int(np.count_nonzero(room)) > 1

    def _roomiest(self, mask: Mask) -> Rows:
        """Return the nodes of a mask with most room for another pod, by the lesser of cpu and memory."""
        rows = np.flatnonzero(mask & (self._free_of(PODS) > 0))
        if len(rows) > _FIRST:
            free = [self._free_of(name)[rows] for name in (CPU, MEMORY)]
            least = np.minimum(*(amounts / max(float(amounts.max()), 1.0) for amounts in free))
            rows = rows[np.argpartition(-least, _FIRST)[:_FIRST]]
        return rows

    def _fits(self, pod: Pod, among: Mask) -> tuple[Mask, int]:
        """Return the nodes that admit a pod and have room, and their number; pods that are alike share it."""
        shape = self._shape(pod)
        key = (shape, id(among))
        found = self._fitting.get(key)
        if found is None:
            mask = among & self._open & self.admitted(pod) & self._has_room(shape)
            found = self._fitting[key] = (mask, int(np.count_nonzero(mask)))
            self._kept.append(among)
        return found

    def admitted(self, pod: Pod) -> Mask:
        """Return the nodes whose labels and hard taints admit a pod, cordoned or not; not to be changed."""
        shape = self._shape(pod)
        mask = self._admitted.get(shape)
        if mask is None:
            mask = self._admitted[shape] = self._admitting(pod)
        return mask

    def _admitting(self, pod: Pod) -> Mask:
        spec = pod.spec
        node_affinity = spec.affinity.node_affinity if spec.affinity else None
        key = _ANYWHERE
        if spec.node_selector or node_affinity or spec.tolerations:
            key = msgspec.json.encode(
                (spec.node_selector, node_affinity.required if node_affinity else None, spec.tolerations)
            )
        mask = self._static.get(key)
        if mask is None:
            admitted = [fits_node(spec, node) and tolerates_node(pod, node) for node in self._nodes]
            mask = self._static[key] = np.array(admitted, dtype=bool)
        return mask

    def _has_room(self, shape: Shape) -> Mask:
        room = self._free_of(PODS) > 0
        for name, quantity in shape.requests.items():
            if name != PODS:
                room &= self._free_of(name) >= min(quantity.milli_value(), _INT64_MAX)
        return room

    def _free_of(self, resource: str) -> NDArray[np.int64]:
        """Return what is free of a resource on every node, in thousandths."""
        free = self._free.get(resource)
        if free is None:
            found = [self._free_on(node, resource) for node in self._nodes]
            free = self._free[resource] = np.array(found, dtype=np.int64)
        return free

    def _free_on(self, node: Node, resource: str) -> int:
        listed = (node.status.allocatable or {}).get(resource)
        if listed is None and resource not in (CPU, MEMORY, PODS):
            return 0
        used = self._used(resource).get(node.metadata.name, ZERO)
        left = number(resource, exact(listed or "0")) - number(resource, used)
        return left if resource == CPU else exact(left).milli_value()

    def _repels(self, pod: Pod, terms: Sequence[PodAffinityTerm], node: Node) -> bool:
        """Tell whether a pod's own anti-affinity meets a pod of another name on the node."""
        neighbours = self._active_on(node.metadata.name)
        for term in terms:
            if term.topology_key not in node.metadata.labels:
                continue
            namespaces = term_namespaces(pod, term)
            for other in neighbours:
                same = other.metadata.name == pod.metadata.name
                if same or other.metadata.namespace not in namespaces:
                    continue
                if selects(term.label_selector, other.metadata.labels):
                    return True
        return False
