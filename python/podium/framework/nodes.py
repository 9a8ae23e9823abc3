"""The nodes as a plugin sees them: read-only NumPy columns, one row per node.

Row ``i`` is the same node in every column of one view. A view belongs to the *current overlay*: inside a
what-if question, a gang or preemption its rows are the hypothetical nodes. It stays valid and constant for as
long as it is kept; writing to a column raises ``ValueError``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.api import Taint

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Interned(Generic[T]):
    """A column with few distinct values: row ``i`` has ``values[codes[i]]``, or nothing where the code is -1.

    ``codes`` is int32, shape (nodes,). Work per distinct value and take the result by code:
    ``np.take(per_value, column.codes)``.
    """

    codes: NDArray[np.int32]
    values: Sequence[T]


class NodeRow(Protocol):
    """One node, for the per-node form; the same facts as the columns, at Python speed."""

    @property
    def name(self) -> str:
        """The node's name."""

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels."""

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's taints."""

    def allocatable(self, resource: str) -> int:
        """Return what the node offers: millicores for cpu, else the base unit; 0 if the node has none."""

    def requested(self, resource: str) -> int:
        """Return what the pods on the node request, in the same unit."""

    def column(self, name: str) -> object:
        """Return the value of a custom column."""


class NodesView(Protocol):
    """All nodes of the snapshot, or the hypothetical nodes of an overlay."""

    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    def names(self) -> NDArray[np.object_]:
        """Node names (``str``), shape (nodes,)."""

    @property
    def candidates(self) -> NDArray[np.bool_]:
        """Which nodes are still possible, shape (nodes,).

        In filter: those that passed the native filters and the Python filters before this one. In pre_score,
        score and normalize_score: the feasible nodes. Elsewhere: all.
        """

    def allocatable(self, resource: str) -> NDArray[np.int64]:
        """Return what each node offers: millicores for cpu, else bytes, pods or devices; 0 where absent."""

    def requested(self, resource: str) -> NDArray[np.int64]:
        """Return what the pods on each node request, in the same unit, assumed pods included."""

    def nonzero_requested(self, resource: str) -> NDArray[np.int64]:
        """Like ``requested``, for cpu and memory with 100m and 200Mi for containers that request nothing."""

    def pod_count(self) -> NDArray[np.int64]:
        """How many pods are on each node, terminating ones included."""

    def label(self, key: str) -> Interned[str]:
        """Return the values of one label, interned."""

    def labels(self, key: str) -> NDArray[np.object_]:
        """Return the values of one label as ``str``, None where a node has none, shape (nodes,)."""

    def taints(self) -> Interned[tuple[Taint, ...]]:
        """Return the sets of taints, each in the node's order."""

    def column(self, name: str) -> NDArray[np.generic]:
        """Return a custom column that a plugin registered through its handle, shape (nodes,)."""

    def with_candidates(self, candidates: NDArray[np.bool_]) -> "NodesView":
        """Return the same rows with other candidates; the framework does this between plugins."""

    def row(self, at: int) -> NodeRow:
        """Return one node."""

    def index(self, name: str) -> int:
        """Return the row of a node.

        Raises:
            KeyError: if the view has no such node.

        """
