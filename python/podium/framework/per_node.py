"""The per-node form, for plugins where a few lines matter more than speed.

Each node that is judged costs a Python call, about a microsecond plus the plugin's own work: with 5,000 nodes
some milliseconds per pod, where the vectorised form takes some microseconds.
"""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.framework.nodes import NodeRow, NodesView
from podium.framework.plugin import Plugin
from podium.framework.results import FilterResult
from podium.framework.state import CycleState
from podium.framework.status import Code, Status


class PerNodeFilter(Plugin):
    """A filter that judges one node at a time."""

    @abstractmethod
    def filter_node(self, state: CycleState, pod: Pod, node: NodeRow) -> Status | None:
        """Return None for a node that will do, else a rejection."""

    def filter(self, state: CycleState, pod: Pod, nodes: NodesView) -> FilterResult:
        """Judge every candidate."""
        mask = np.ones(len(nodes), np.bool_)
        code = np.full(len(nodes), int(Code.SUCCESS), np.int8)
        reason = np.zeros(len(nodes), np.int32)
        texts: dict[str, int] = {}
        for row in np.flatnonzero(nodes.candidates):
            status = self.filter_node(state, pod, nodes.row(int(row)))
            if status is None or status.is_success:
                continue
            mask[row] = False
            code[row] = status.code
            reason[row] = texts.setdefault(status.message, len(texts))
        return FilterResult(mask, tuple(texts), reason, code)


class PerNodeScore(Plugin):
    """A score that ranks one node at a time."""

    @abstractmethod
    def score_node(self, state: CycleState, pod: Pod, node: NodeRow) -> int:
        """Return the score of a feasible node."""

    def score(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.int64]:
        """Score every candidate; the others have 0."""
        scores = np.zeros(len(nodes), np.int64)
        for row in np.flatnonzero(nodes.candidates):
            scores[row] = self.score_node(state, pod, nodes.row(int(row)))
        return scores
