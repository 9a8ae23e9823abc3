"""What plugins return where a status alone does not say enough."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from podium.framework.status import SUCCESS, Code, Status


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """Success that narrows the search: only these nodes are judged (None: all).

    Every other node is UNSCHEDULABLE_AND_UNRESOLVABLE. Answers of several plugins are intersected.
    """

    node_names: frozenset[str] | None = None


@dataclass(slots=True, eq=False)
class FilterResult:
    """A mask with reasons.

    Attributes:
        mask: bool, shape (nodes,): True where this plugin has nothing against the pod.
        reasons: the texts. Without ``reason`` they all apply to every node that is False in the mask.
        reason: integers, shape (nodes,): which one of ``reasons`` applies to the node; ignored where the mask
            is True.
        code: why nodes are out, for all of them or as integers of shape (nodes,): UNSCHEDULABLE where
            removing pods may help, else UNSCHEDULABLE_AND_UNRESOLVABLE; anything but a rejection is an error
            of the whole cycle.

    """

    mask: NDArray[np.bool_]
    reasons: tuple[str, ...] = ()
    reason: NDArray[np.integer] | None = None
    code: Code | NDArray[np.integer] = Code.UNSCHEDULABLE


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """The end of a failed attempt.

    ``nominated_node`` is where the pod will fit once the victims are gone; ``""`` withdraws an earlier
    nomination and None leaves it as it is.
    """

    nominated_node: str | None = None
    status: Status = SUCCESS


@dataclass(frozen=True, slots=True)
class PreFlight:
    """What PreBind will do for this pod: SUCCESS (it has work), SKIP (none).

    Neighbouring plugins with ``allow_parallel`` run side by side; one without ends the group, even if it is
    skipped.
    """

    status: Status = SUCCESS
    allow_parallel: bool = False


class NodeStatuses(Protocol):
    """Why each node was out, for post_filter."""

    def get(self, node_name: str) -> Status:
        """Return the status of a node; nodes that no filter saw have the one PreFilter gave them."""

    def nodes_with(self, code: Code) -> list[str]:
        """Return the nodes with a code, in snapshot order."""
