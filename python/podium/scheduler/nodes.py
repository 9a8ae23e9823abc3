"""The nodes as plugins see them: NumPy columns over the core's blocks, without copies."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from podium._core import Columns, Engine
from podium.api import Node, Taint
from podium.framework.nodes import Interned
from podium.scheduler.columns import CustomColumns

_NONZERO: Final = {"cpu": 0, "memory": 1}


class NodeFacts:
    """What changes with the nodes themselves, and not with the pods on them: made once per version."""

    def __init__(self, engine: Engine, nodes: Mapping[str, Node], custom: CustomColumns) -> None:
        self.engine = engine
        self._nodes = nodes
        self._custom = custom
        self._version = -1
        self._resources: dict[str, int] = {}
        self._labels: dict[str, Interned[str]] = {}
        self._texts: dict[str, NDArray[np.object_]] = {}
        self._taints: Interned[tuple[Taint, ...]] | None = None
        self._index: dict[str, int] | None = None
        self.names: NDArray[np.object_] = np.empty(0, np.object_)
        self.live: NDArray[np.int64] | None = None
        self.everyone: NDArray[np.bool_] = np.empty(0, np.bool_)
        """True for every node."""

    def refresh(self, version: int) -> None:
        """Forget what was made of another version of the nodes."""
        if version == self._version:
            return
        self._version = version
        self._labels, self._texts, self._taints, self._index = {}, {}, None, None
        self.live = self.engine.columns().live()
        names = np.array(self.engine.names(), np.object_)
        self.names = frozen(names if self.live is None else names[self.live])
        self.everyone = frozen(np.ones(len(self.names), np.bool_))

    def resource(self, name: str) -> int | None:
        """Return the number of a resource's column."""
        number = self._resources.get(name)
        if number is None:
            number = self.engine.resource(name)
            if number is not None:
                self._resources[name] = number
        return number

    def label(self, key: str) -> Interned[str]:
        """Return a label, interned."""
        known = self._labels.get(key)
        if known is None:
            codes, values = self.engine.label(key)
            known = Interned(frozen(codes if self.live is None else codes[self.live]), tuple(values))
            self._labels[key] = known
        return known

    def texts(self, key: str) -> NDArray[np.object_]:
        """Return a label's values."""
        known = self._texts.get(key)
        if known is None:
            label = self.label(key)
            values = np.array([*label.values, None], np.object_)
            known = self._texts[key] = frozen(values[label.codes])
        return known

    def taints(self) -> Interned[tuple[Taint, ...]]:
        """Return the sets of taints."""
        if self._taints is None:
            distinct: list[tuple[Taint, ...]] = []
            numbers: dict[tuple[tuple[str, str, str], ...], int] = {}
            codes = np.empty(len(self.names), np.int32)
            for at, name in enumerate(self.names):
                taints = tuple(self._nodes[name].spec.taints)
                key = tuple((taint.key, taint.value, taint.effect) for taint in taints)
                number = numbers.setdefault(key, len(distinct))
                if number == len(distinct):
                    distinct.append(taints)
                codes[at] = number
            self._taints = Interned(frozen(codes), tuple(distinct))
        return self._taints

    @property
    def positions(self) -> dict[str, int]:
        """Where each node stands, in that order."""
        if self._index is None:
            self._index = {name: at for at, name in enumerate(self.names)}
        return self._index

    def index(self, name: str) -> int:
        """Return the position of a node; KeyError if there is none."""
        return self.positions[name]

    def row(self, at: int) -> int:
        """Return the core's row of a position."""
        return at if self.live is None else int(self.live[at])

    def position(self, rows: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return the positions of rows of the core, all of them nodes."""
        return rows.astype(np.intp) if self.live is None else np.searchsorted(self.live, rows)

    def node(self, name: str) -> Node:
        """Return the object of a node."""
        return self._nodes[name]

    def custom(self, name: str) -> NDArray[Any]:
        """Return a custom column as it is now."""
        return self._custom.column(name, self.positions, self._version)


class SnapshotNodes:
    """See ``podium.framework.nodes.NodesView``. ``rows`` picks some nodes, None all."""

    __slots__ = ("_columns", "_custom", "_facts", "_names", "_rows", "_take", "candidates")

    def __init__(
        self,
        facts: NodeFacts,
        columns: Columns,
        rows: NDArray[np.intp] | None = None,
        *,
        picked: bool = False,
    ) -> None:
        """Show nodes; ``picked`` says that the columns have those of ``rows`` alone."""
        self._facts = facts
        self._columns = columns
        self._rows = rows
        # From rows of the core to rows of this view.
        self._take: NDArray[Any] | None = None
        if not picked:
            self._take = rows if facts.live is None else (facts.live if rows is None else facts.live[rows])
        self._custom: dict[str, NDArray[Any]] = {}
        self._names = facts.names if rows is None else None
        self.candidates: NDArray[np.bool_] = facts.everyone if rows is None else facts.everyone[: len(rows)]

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def is_whole(self) -> bool:
        """Whether it shows all nodes."""
        return self._rows is None

    @property
    def names(self) -> NDArray[np.object_]:
        """Node names."""
        if self._names is None:
            self._names = frozen(self._facts.names[self._rows])
        return self._names

    def allocatable(self, resource: str) -> NDArray[np.int64]:
        """Return what each node offers."""
        if resource == "pods":
            return self._picked(self._columns.allowed_pods())
        return self._amounts(self._columns.allocatable, self._facts.resource(resource))

    def requested(self, resource: str) -> NDArray[np.int64]:
        """Return what the pods on each node request."""
        if resource == "pods":
            return self._picked(self._columns.pod_count())
        return self._amounts(self._columns.requested, self._facts.resource(resource))

    def nonzero_requested(self, resource: str) -> NDArray[np.int64]:
        """Return what the pods request, with defaults for cpu and memory."""
        number = _NONZERO.get(resource)
        if number is None:
            return self.requested(resource)
        return self._amounts(self._columns.nonzero_requested, number)

    def pod_count(self) -> NDArray[np.int64]:
        """Return how many pods are on each node."""
        return self._picked(self._columns.pod_count())

    def label(self, key: str) -> Interned[str]:
        """Return a label, interned."""
        label = self._facts.label(key)
        return label if self._rows is None else Interned(frozen(label.codes[self._rows]), label.values)

    def labels(self, key: str) -> NDArray[np.object_]:
        """Return a label's values."""
        values = self._facts.texts(key)
        return values if self._rows is None else frozen(values[self._rows])

    def taints(self) -> Interned[tuple[Taint, ...]]:
        """Return the sets of taints."""
        taints = self._facts.taints()
        return taints if self._rows is None else Interned(frozen(taints.codes[self._rows]), taints.values)

    def column(self, name: str) -> NDArray[Any]:
        """Return a custom column."""
        known = self._custom.get(name)
        if known is None:
            values = self._facts.custom(name)
            known = self._custom[name] = values if self._rows is None else frozen(values[self._rows])
        return known

    def with_candidates(self, candidates: NDArray[np.bool_]) -> "SnapshotNodes":
        """Return the same rows with other candidates."""
        other = object.__new__(SnapshotNodes)
        other._facts, other._columns = self._facts, self._columns
        other._rows, other._take, other._custom = self._rows, self._take, self._custom
        other._names = self._names
        other.candidates = frozen(candidates.view()) if candidates.flags.writeable else candidates
        return other

    def select(self, positions: NDArray[np.intp]) -> "SnapshotNodes":
        """Return a view with these nodes only, all of them candidates."""
        rows = positions if self._rows is None else self._rows[positions]
        return SnapshotNodes(self._facts, self._columns, rows)

    def row(self, at: int) -> "SnapshotRow":
        """Return one node."""
        return SnapshotRow(self, at)

    def index(self, name: str) -> int:
        """Return the row of a node."""
        at = self._facts.index(name)
        if self._rows is None:
            return at
        found = np.flatnonzero(self._rows == at)
        if not len(found):
            raise KeyError(name)
        return int(found[0])

    def node(self, at: int) -> Node:
        """Return the object of one node."""
        return self._facts.node(self.names[at])

    def _amounts(
        self, column: Callable[[int], NDArray[np.int64] | None], number: int | None
    ) -> NDArray[np.int64]:
        values = None if number is None else column(number)
        return frozen(np.zeros(len(self), np.int64)) if values is None else self._picked(values)

    def _picked(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        return values if self._take is None else frozen(values[self._take])


class SnapshotRow:
    """See ``podium.framework.nodes.NodeRow``."""

    __slots__ = ("_at", "_view")

    def __init__(self, view: SnapshotNodes, at: int) -> None:
        self._view = view
        self._at = at

    @property
    def name(self) -> str:
        """The node's name."""
        return str(self._view.names[self._at])

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels."""
        return dict(self._view.node(self._at).metadata.labels)

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's taints."""
        return tuple(self._view.node(self._at).spec.taints)

    def allocatable(self, resource: str) -> int:
        """Return what the node offers."""
        return int(self._view.allocatable(resource)[self._at])

    def requested(self, resource: str) -> int:
        """Return what the pods on the node request."""
        return int(self._view.requested(resource)[self._at])

    def column(self, name: str) -> object:
        """Return the value of a custom column."""
        value: object = self._view.column(name)[self._at]
        return value


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only."""
    array.flags.writeable = False
    return array


def mask_of(names: Iterable[str], facts: NodeFacts) -> NDArray[np.bool_]:
    """Return which nodes are named; names of no node are ignored."""
    mask = np.zeros(len(facts.names), np.bool_)
    positions = facts.positions
    mask[[positions[name] for name in names if name in positions]] = True
    return mask
