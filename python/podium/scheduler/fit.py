"""Why no node takes a pod, where plugins of both kinds have a say: kube-scheduler's FitError."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.framework.runner import RejectedNodes
from podium.framework.status import Code, Status
from podium.scheduler.nodes import NodeFacts


@dataclass(frozen=True, slots=True, eq=False)
class Misfit:
    """A cycle in which no node was left.

    Attributes:
        message: kube-scheduler's text, without what PostFilter has to say.
        plugins: those that rejected the pod or some node.
        codes: uint8, shape (nodes,): the code of each node's status.
        rejected: the nodes that Python plugins rejected.
        as_such: the status of PreFilter where that rejected the pod before any node was judged.
        left_out, narrowed_by: the nodes that PreFilter left out, None if none, and by whom.

    """

    message: str
    plugins: tuple[str, ...]
    codes: NDArray[np.uint8]
    rejected: tuple[RejectedNodes, ...] = ()
    as_such: Status | None = None
    left_out: NDArray[np.bool_] | None = None
    narrowed_by: tuple[str, ...] = ()


def no_fit_as_such(nodes: int, status: Status, narrowed_by: tuple[str, ...]) -> Misfit:
    """Say that PreFilter rejected the pod."""
    plugins = tuple(sorted({status.plugin, *narrowed_by} - {""}))
    codes = np.full(nodes, int(status.code), np.uint8)
    return Misfit(f"0/{nodes} nodes are available: {status.message}.", plugins, codes, as_such=status)


def no_fit(
    engine: Engine,
    pod: int,
    passed: NDArray[np.bool_],
    rejected: tuple[RejectedNodes, ...],
    narrowed: tuple[NDArray[np.bool_] | None, tuple[str, ...]],
    among: NDArray[np.bool_] | None = None,
) -> Misfit:
    """Say that every node was rejected, or every one ``among`` which the pod had to be.

    ``passed`` are the nodes that no native plugin rejects, ``rejected`` those that a Python plugin rejected
    first; ``narrowed`` says which nodes PreFilter left out, and by whom.
    """
    left_out, narrowed_by = narrowed
    asked = np.ones(len(passed), np.bool_) if among is None else among
    counts: Counter[str] = Counter()
    plugins: set[str] = set()
    codes = engine.codes(pod)
    native = ~passed
    for group in rejected:
        native[group.rows] = False
        codes[group.rows] = int(group.status.code)
        plugins.add(group.status.plugin)
        counts.update(dict.fromkeys(group.status.reasons, int(np.count_nonzero(asked[group.rows]))))
    absent = absent_status(narrowed_by)
    if left_out is not None:
        native &= ~left_out
        codes[left_out] = int(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        if left_out.any():
            plugins.update(narrowed_by)
            counts[absent.message] += int(np.count_nonzero(left_out & asked))
    reasons, blamed = engine.reasons(pod, native & asked)
    counts.update(dict(reasons))
    plugins.update(blamed)
    text = ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items() if count))
    message = f"0/{np.count_nonzero(asked)} nodes are available:{f' {text}.' if text else ''}"
    return Misfit(
        message, tuple(sorted(plugins)), codes, rejected, left_out=left_out, narrowed_by=narrowed_by
    )


def absent_status(narrowed_by: tuple[str, ...]) -> Status:
    """Return the status of nodes that PreFilter left out; the first who narrowed the search is named."""
    status = Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(narrowed_by)}]")
    return status.by(narrowed_by[0]) if narrowed_by else status


@dataclass(frozen=True, slots=True)
class Statuses:
    """See ``podium.framework.results.NodeStatuses``."""

    engine: Engine
    pod: int
    facts: NodeFacts
    misfit: Misfit

    def get(self, node_name: str) -> Status:
        """Return the status of a node."""
        misfit = self.misfit
        if misfit.as_such is not None:
            return misfit.as_such
        at = self.facts.index(node_name)
        for group in misfit.rejected:
            if at in group.rows:
                return group.status
        if misfit.left_out is not None and misfit.left_out[at]:
            return absent_status(misfit.narrowed_by)
        native = self.engine.native_status(self.pod, self.facts.row(at))
        if native is None:
            return Status()
        plugin, code, reasons = native
        return Status(Code(code), tuple(reasons), plugin)

    def nodes_with(self, code: Code) -> list[str]:
        """Return the nodes with a code, in snapshot order."""
        wanted = {self.facts.names[at] for at in np.flatnonzero(self.misfit.codes == int(code))}
        return [name for name in self.engine.node_order() if name in wanted]
