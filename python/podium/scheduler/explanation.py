"""What is said of a pending pod that was judged alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.scheduler.gangs.report import GangTurn


@dataclass(frozen=True, slots=True)
class PluginScore:
    """One plugin's part in a node's total."""

    raw: int
    normalized: int
    weighted: int


@dataclass(frozen=True, slots=True)
class NodeScore:
    """A feasible node's total and its parts."""

    total: int
    plugins: Mapping[str, PluginScore]


@dataclass(frozen=True, slots=True)
class NodeRejection:
    """Why a node is out."""

    plugin: str
    reasons: Sequence[str]
    code: str


@dataclass(frozen=True, slots=True)
class Turn:
    """When a waiting pod's tenant goes, and what keeps the pod from going.

    Attributes:
        name: the tenant.
        dominant_share: what it uses, not divided by its weight.
        rank: 1 is the tenant whose turn it is; None if it has nothing to try.
        blocked_by: who holds the resource, or the limit in the way; None if nothing does.

    """

    name: str
    dominant_share: float
    rank: int | None
    blocked_by: str | None


@dataclass(slots=True)
class Explanation:
    """One pending pod, judged alone against the bound pods and the nominations of the others.

    Attributes:
        state: ``feasible``, ``unschedulable``, ``gated``, ``foreign`` or ``error``.
        feasible: nodes that pass every filter, in node order.
        nodes: every node that some filter rejects.
        scores: of the best nodes, best first.
        nominated, victims: what preemption would do.
        tenant: whose turn it is, where tenants take turns.
        gang: how near its gang is, if it is in one.

    """

    pod: str
    state: str
    message: str = ""
    feasible: Sequence[str] = ()
    nodes: Mapping[str, NodeRejection] = field(default_factory=dict)
    scores: Mapping[str, NodeScore] = field(default_factory=dict)
    nominated: str | None = None
    victims: Sequence[str] = ()
    tenant: Turn | None = None
    gang: GangTurn | None = None


def scores_of(answer: Mapping[str, Any], top: int) -> dict[str, NodeScore]:
    """Return the scores of the ``top`` best nodes, from the form in which the core gives them."""
    feasible, totals, parts = answer["feasible"], answer["totals"], answer["scores"]
    best = sorted(range(len(feasible)), key=lambda at: -totals[at])[:top]
    return {
        feasible[at]: NodeScore(
            total=totals[at],
            plugins={
                plugin: PluginScore(raw[at], normalized[at], normalized[at] * weight)
                for plugin, weight, raw, normalized in parts
            },
        )
        for at in best
    }
