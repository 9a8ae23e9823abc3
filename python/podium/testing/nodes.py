"""A node view over plain objects, for tests of plugins without the core.

The columns are what the core would give: cpu in millicores, everything else in base units, rounded up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium._core import Quantity
from podium.api import Node, Pod, Taint
from podium.framework.nodes import Interned
from podium.testing.requests import nonzero_requests, pod_requests


def node_view(
    nodes: Sequence[Node],
    pods: Sequence[Pod] = (),
    *,
    candidates: Sequence[bool] | NDArray[np.bool_] | None = None,
    columns: Mapping[str, Sequence[Any] | NDArray[np.generic]] | None = None,
) -> "ObjectNodes":
    """Make a view of nodes with the pods that are bound to them.

    Args:
        nodes: one row each, in this order.
        pods: those with ``spec.node_name`` count on their node; others are ignored.
        candidates: which rows are candidates; default: all.
        columns: custom columns, one value per node.

    """
    mask = np.ones(len(nodes), np.bool_) if candidates is None else np.array(candidates, np.bool_)
    custom = {name: _frozen(np.array(values)) for name, values in (columns or {}).items()}
    return ObjectNodes(tuple(nodes), tuple(pods), _frozen(mask), custom)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectNodes:
    """See ``podium.framework.nodes.NodesView``; columns are computed when asked for."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    candidates: NDArray[np.bool_]
    custom: Mapping[str, NDArray[np.generic]]

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def names(self) -> NDArray[np.object_]:
        """Node names."""
        return _objects([node.metadata.name for node in self.nodes])

    def allocatable(self, resource: str) -> NDArray[np.int64]:
        """Return what each node offers."""
        return _frozen(np.array([allocatable(node, resource) for node in self.nodes], np.int64))

    def requested(self, resource: str) -> NDArray[np.int64]:
        """Return what the pods on each node request."""
        return self._sum([pod_requests(pod).get(resource, 0) for pod in self.pods])

    def nonzero_requested(self, resource: str) -> NDArray[np.int64]:
        """Return what the pods request, with defaults for cpu and memory."""
        return self._sum([nonzero_requests(pod).get(resource, 0) for pod in self.pods])

    def pod_count(self) -> NDArray[np.int64]:
        """Return how many pods are on each node."""
        return self._sum([1] * len(self.pods))

    def label(self, key: str) -> Interned[str]:
        """Return a label, interned."""
        return _interned([node.metadata.labels.get(key) for node in self.nodes])

    def labels(self, key: str) -> NDArray[np.object_]:
        """Return a label's values."""
        return _objects([node.metadata.labels.get(key) for node in self.nodes])

    def taints(self) -> Interned[tuple[Taint, ...]]:
        """Return the sets of taints."""
        return _interned([tuple(node.spec.taints) for node in self.nodes])

    def column(self, name: str) -> NDArray[np.generic]:
        """Return a custom column."""
        return self.custom[name]

    def with_candidates(self, candidates: NDArray[np.bool_]) -> "ObjectNodes":
        """Return the same rows with other candidates."""
        return replace(self, candidates=_frozen(candidates.copy()))

    def row(self, at: int) -> "ObjectRow":
        """Return one node."""
        return ObjectRow(self, at)

    def index(self, name: str) -> int:
        """Return the row of a node."""
        for at, node in enumerate(self.nodes):
            if node.metadata.name == name:
                return at
        raise KeyError(name)

    def select(self, rows: Sequence[int] | NDArray[np.intp]) -> "ObjectNodes":
        """Return a view with these rows only, in this order."""
        nodes = tuple(self.nodes[int(row)] for row in rows)
        custom = {name: _frozen(values[rows]) for name, values in self.custom.items()}
        return ObjectNodes(nodes, self.pods, _frozen(self.candidates[rows]), custom)

    def _sum(self, amounts: Sequence[int]) -> NDArray[np.int64]:
        rows = {node.metadata.name: at for at, node in enumerate(self.nodes)}
        total = np.zeros(len(self.nodes), np.int64)
        for pod, amount in zip(self.pods, amounts, strict=True):
            if pod.spec.node_name in rows:
                total[rows[pod.spec.node_name]] += amount
        return _frozen(total)


@dataclass(frozen=True, slots=True, eq=False)
class ObjectRow:
    """See ``podium.framework.nodes.NodeRow``."""

    view: ObjectNodes
    at: int

    @property
    def name(self) -> str:
        """The node's name."""
        return self.view.nodes[self.at].metadata.name

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels."""
        return dict(self.view.nodes[self.at].metadata.labels)

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's taints."""
        return tuple(self.view.nodes[self.at].spec.taints)

    def allocatable(self, resource: str) -> int:
        """Return what the node offers."""
        return allocatable(self.view.nodes[self.at], resource)

    def requested(self, resource: str) -> int:
        """Return what the pods on the node request."""
        return int(self.view.requested(resource)[self.at])

    def column(self, name: str) -> object:
        """Return the value of a custom column."""
        return self.view.custom[name][self.at]


def allocatable(node: Node, resource: str) -> int:
    """Return what a node offers, from ``allocatable`` or else ``capacity``."""
    offered = node.status.capacity if node.status.allocatable is None else node.status.allocatable
    quantity = Quantity(offered.get(resource, 0))
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _objects(values: Sequence[object]) -> NDArray[np.object_]:
    array = np.empty(len(values), np.object_)
    array[:] = values
    return _frozen(array)


def _interned(values: Sequence[Any]) -> Interned[Any]:
    distinct: list[Any] = []
    codes = np.full(len(values), -1, np.int32)
    for at, value in enumerate(values):
        if value is None:
            continue
        if value not in distinct:
            distinct.append(value)
        codes[at] = distinct.index(value)
    return Interned(_frozen(codes), tuple(distinct))
