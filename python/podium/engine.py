"""The scoring core for other schedulers: nodes and requests as arrays or frames in, placements out.

No Kubernetes object is needed and none comes out. A resource is a name and an integer amount in a unit of the
caller's choice (millicores, bytes, GPUs …): all that matters is that nodes and requests use the same one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from podium import _core

Table = NDArray[Any] | pl.DataFrame
Strategy = Literal["spread", "pack"]

NAME: Final = "name"
NOWHERE: Final = -1

#: strategy -> kube-scheduler's name of it.
_STRATEGIES: Final[Mapping[Strategy, str]] = {"spread": "LeastAllocated", "pack": "MostAllocated"}

#: Amounts stay below this, so that no sum over a node leaves 64 bits.
MAX_AMOUNT: Final = 2**53

#: Resources have this prefix inside the core: to it all of them are extended ones, without unit or default.
_PREFIX: Final = "engine/"
_UNLIMITED_PODS: Final = str(2**31)


@dataclass(frozen=True, slots=True)
class Placements:
    """What came of a list of requests, in its order.

    Attributes:
        nodes: int32 (requests,), the position of the node, -1 where no node has room.
        ids: int64 (requests,), what ``Engine.release`` takes back; -1 where nothing was placed.
        names: the names of all nodes, by position.

    """

    nodes: NDArray[np.int32]
    ids: NDArray[np.int64]
    names: Sequence[str]

    @property
    def placed(self) -> NDArray[np.bool_]:
        """Which requests have a node, bool (requests,)."""
        return np.not_equal(self.nodes, NOWHERE)

    def to_polars(self) -> pl.DataFrame:
        """Return columns ``request`` (position), ``id`` and ``node`` (name); null where nothing fits."""
        names = np.asarray([*self.names, None], dtype=object)
        node = pl.Series("node", names[self.nodes].tolist(), dtype=pl.String)
        frame = pl.DataFrame({"id": self.ids}).with_columns(node).with_row_index("request")
        return frame.with_columns(pl.when(pl.col("id") != NOWHERE).then(pl.col("id")).alias("id"))


class Engine:
    """Places requests one after the other, each on the best node that has room for it.

    A node has room if, for every resource, what is requested of it and the new request fit into what it has.
    The best node has the highest weighted mean, over the resources that the request asks for, of

    * ``spread``: ``(has - used) * 100 // has`` (kube-scheduler's LeastAllocated), or
    * ``pack``: ``used * 100 // has`` (MostAllocated),

    with ``used`` including the request; the mean is truncated too. Among equals one is drawn by ``seed``, so
    a run can be repeated.

    >>> import numpy as np
    >>> engine = Engine(np.array([[4000, 16], [8000, 16]]), resources=["cpu_milli", "gib"])
    >>> engine.place(np.array([[3000, 4], [3000, 4], [9000, 1]])).nodes.tolist()
    [1, 0, -1]

    Args:
        nodes: what each node has: an integer array (nodes, resources), or a frame with one integer column per
            resource and, optionally, a string column ``name``.
        resources: names of the columns of an array, in order; a frame brings its own.
        strategy: ``spread`` or ``pack``.
        weights: weight of a resource in the mean, from 1 to 100; 1 for those not named.
        seed: of the choice among equals.

    Raises:
        ValueError: for another shape, negative or too large amounts, repeated names, unknown resources.
        TypeError: for columns that are not integers.

    """

    def __init__(
        self,
        nodes: Table,
        *,
        resources: Sequence[str] | None = None,
        strategy: Strategy = "spread",
        weights: Mapping[str, int] | None = None,
        seed: int = 0,
    ) -> None:
        self._resources, amounts = _columns(nodes, resources)
        self._names = _names(nodes, len(amounts))
        self._core = _core.Engine(seed=seed)
        self._core.add_profile(_profile(self._resources, strategy, weights or {}))
        self._positions = self._add_nodes(amounts)
        self._allocatable = amounts
        self._used = np.zeros_like(amounts)
        self._live: dict[int, tuple[int, int, NDArray[np.int64]]] = {}
        self._next = 0

    @property
    def names(self) -> Sequence[str]:
        """The names of the nodes, by position."""
        return self._names

    @property
    def resources(self) -> Sequence[str]:
        """The names of the resources, by column."""
        return self._resources

    @property
    def allocatable(self) -> NDArray[np.int64]:
        """int64 (nodes, resources), read-only: what each node has."""
        return _read_only(self._allocatable)

    @property
    def used(self) -> NDArray[np.int64]:
        """int64 (nodes, resources), read-only: what is placed on each node now."""
        return _read_only(self._used)

    def place(self, requests: Table) -> Placements:
        """Place requests in order; each sees what the earlier ones took.

        Args:
            requests: an integer array (requests, resources) with the engine's columns, or a frame with a
                column per resource asked for; a resource that is not a column is not asked for.

        Raises:
            ValueError, TypeError: as for the nodes; then nothing is placed.

        """
        amounts = self._aligned(requests)
        first = self._next
        self._next += len(amounts)
        handles = self._core.add_pods(
            [_metadata(first + at) for at in range(len(amounts))],
            self._specs(amounts),
            [b""] * len(amounts),
        )
        rows = self._schedule(handles)
        placed = rows != NOWHERE
        nodes = np.full(len(rows), NOWHERE, dtype=np.int32)
        nodes[placed] = self._positions[rows[placed]]
        ids = np.where(placed, first + np.arange(len(rows)), NOWHERE).astype(np.int64)
        self._take(ids, nodes, handles, amounts)
        return Placements(nodes, ids, self._names)

    def release(self, ids: NDArray[np.integer[Any]] | Sequence[int]) -> None:
        """Take placed requests off their nodes, by the ids that ``place`` gave.

        Raises:
            KeyError: for an id that is not placed (any more); those before it in the list are released.

        """
        for number in np.asarray(ids, dtype=np.int64).tolist():
            handle, node, amounts = self._live.pop(number)
            self._core.forget(handle)
            self._core.remove_pod(handle)
            self._used[node] -= amounts

    def fits(self, request: Table) -> NDArray[np.bool_]:
        """Tell which nodes have room for one request now.

        Args:
            request: one row, in a form that ``place`` takes.

        Returns:
            bool (nodes,).

        """
        amounts = self._aligned(request)
        if len(amounts) != 1:
            raise ValueError(f"one request at a time, not {len(amounts)}")
        asked = amounts[0]
        room = (self._used + asked <= self._allocatable) | (asked == 0)
        everything: NDArray[np.bool_] = room.all(axis=1)
        return everything

    def _aligned(self, requests: Table) -> NDArray[np.int64]:
        """Return requests with the engine's columns."""
        if not isinstance(requests, pl.DataFrame):
            return _columns(requests, self._resources)[1]
        names, amounts = _columns(requests, None)
        unknown = sorted(set(names) - set(self._resources))
        if unknown:
            raise ValueError(f"no node has a column {', '.join(unknown)}: use {', '.join(self._resources)}")
        aligned = np.zeros((len(amounts), len(self._resources)), dtype=np.int64)
        aligned[:, [self._resources.index(name) for name in names]] = amounts
        return aligned

    def _specs(self, amounts: NDArray[np.int64]) -> list[bytes]:
        """Encode requests; equal ones are encoded once."""
        kinds, which = np.unique(amounts, axis=0, return_inverse=True)
        encoded = [_spec(self._resources, kind) for kind in kinds.tolist()]
        return [encoded[at] for at in which.reshape(-1).tolist()]

    def _schedule(self, handles: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the core's row of each pod; those that fit nowhere are forgotten."""
        rows = np.full(len(handles), NOWHERE, dtype=np.int32)
        at = 0
        while at < len(handles):
            rest = handles[at:]
            placed = self._core.schedule_batch(rest, np.zeros(len(rest), dtype=np.uint64))
            rows[at : at + len(placed)] = placed
            at += len(placed)
        for handle in handles[rows == NOWHERE].tolist():
            self._core.remove_pod(handle)
        return rows

    def _take(
        self,
        ids: NDArray[np.int64],
        nodes: NDArray[np.int32],
        handles: NDArray[np.uint32],
        amounts: NDArray[np.int64],
    ) -> None:
        placed = nodes != NOWHERE
        np.add.at(self._used, nodes[placed], amounts[placed])
        each = zip(ids.tolist(), handles.tolist(), nodes.tolist(), amounts, strict=True)
        self._live.update(
            (number, (handle, node, row)) for number, handle, node, row in each if node != NOWHERE
        )

    def _add_nodes(self, amounts: NDArray[np.int64]) -> NDArray[np.int32]:
        """Tell the core the nodes; returns the position of each of its rows."""
        named = zip(self._names, amounts, strict=True)
        rows = np.asarray([self._core.set_node(self._node(*each)) for each in named], dtype=np.int64)
        positions = np.full(int(rows.max(initial=-1)) + 1, NOWHERE, dtype=np.int32)
        positions[rows] = np.arange(len(rows), dtype=np.int32)
        return positions

    def _node(self, name: str, amounts: NDArray[np.int64]) -> bytes:
        has = {
            _PREFIX + resource: str(amount) for resource, amount in zip(self._resources, amounts, strict=True)
        }
        status = {"allocatable": {**has, "pods": _UNLIMITED_PODS}}
        return msgspec.json.encode({"metadata": {"name": name, "uid": name}, "status": status})

    def __repr__(self) -> str:
        return f"<Engine {len(self._names)} nodes, {', '.join(self._resources)}, {len(self._live)} placed>"

    def __copy__(self) -> Self:
        raise TypeError("an engine cannot be copied")


def _columns(table: Table, names: Sequence[str] | None) -> tuple[list[str], NDArray[np.int64]]:
    """Return the resources of a table and its amounts, checked."""
    if isinstance(table, pl.DataFrame):
        if names is not None:
            raise ValueError("resources: a frame has the names of its columns")
        frame = table.drop(NAME, strict=False)
        other = [column for column in frame.columns if not frame.schema[column].is_integer()]
        if other:
            raise TypeError(f"column {other[0]} is {frame.schema[other[0]]}: amounts are integers")
        if any(frame.null_count().row(0)):
            raise ValueError("an amount is null")
        resources, amounts = frame.columns, frame.to_numpy()
    else:
        if names is None:
            raise ValueError("resources: name the columns of the array")
        resources, amounts = list(names), np.asarray(table)
        if amounts.ndim != 2 or amounts.shape[1] != len(resources):
            raise ValueError(f"expected an array of shape (any, {len(resources)}), got {amounts.shape}")
        if not np.issubdtype(amounts.dtype, np.integer):
            raise TypeError(f"the array is {amounts.dtype}: amounts are integers")
    _check(resources, amounts)
    return resources, amounts.astype(np.int64)


def _check(resources: Sequence[str], amounts: NDArray[Any]) -> None:
    if not resources:
        raise ValueError("there is no resource")
    if len(set(resources)) != len(resources):
        raise ValueError(f"resources repeat: {', '.join(resources)}")
    if amounts.size and int(amounts.min()) < 0:
        raise ValueError("an amount is negative")
    if amounts.size and int(amounts.max()) > MAX_AMOUNT:
        raise ValueError(f"an amount is above {MAX_AMOUNT}: use a larger unit")


def _names(nodes: Table, count: int) -> list[str]:
    if not isinstance(nodes, pl.DataFrame) or NAME not in nodes.columns:
        return [str(position) for position in range(count)]
    names = nodes[NAME].to_list()
    if not all(isinstance(name, str) and name for name in names):
        raise TypeError(f"column {NAME} has something other than names")
    if len(set(names)) != len(names):
        raise ValueError("two nodes have the same name")
    return names


def _read_only(array: NDArray[np.int64]) -> NDArray[np.int64]:
    view = array.view()
    view.flags.writeable = False
    return view


def _profile(resources: Sequence[str], strategy: Strategy, weights: Mapping[str, int]) -> bytes:
    if strategy not in _STRATEGIES:
        raise ValueError(f"strategy {strategy!r}: there are {', '.join(_STRATEGIES)}")
    unknown = sorted(set(weights) - set(resources))
    if unknown:
        raise ValueError(f"weights: no resource {', '.join(unknown)}")
    if any(not 1 <= weight <= 100 for weight in weights.values()):
        raise ValueError("weights are from 1 to 100")
    scored = [{"name": _PREFIX + name, "weight": weights.get(name, 1)} for name in resources]
    plugin = "NodeResourcesFit"
    document = {
        "schedulerName": "",
        "preFilter": [plugin],
        "filter": [plugin],
        "preScore": [plugin],
        "score": [(plugin, 1)],
        "args": {plugin: {"scoringStrategy": {"type": _STRATEGIES[strategy], "resources": scored}}},
    }
    return msgspec.json.encode(document)


def _metadata(number: int) -> bytes:
    return b'{"name":"%d","namespace":"","uid":"%d"}' % (number, number)


def _spec(resources: Sequence[str], amounts: Sequence[int]) -> bytes:
    asked = {_PREFIX + name: str(amount) for name, amount in zip(resources, amounts, strict=True) if amount}
    return msgspec.json.encode({"containers": [{"name": "c", "resources": {"requests": asked}}]})
