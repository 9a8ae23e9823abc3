"""Why a pending pod may or may not run where. Nothing is placed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.scheduler.loop import Scheduler


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


@dataclass(slots=True)
class Explanation:
    """One pending pod, judged alone against the bound pods and the nominations of the others.

    Attributes:
        state: ``feasible``, ``unschedulable``, ``gated``, ``foreign`` or ``error``.
        feasible: nodes that pass every filter, in node order.
        nodes: every node that some filter rejects.
        scores: of the best nodes, best first.
        nominated, victims: what preemption would do.

    """

    pod: str
    state: str
    message: str = ""
    feasible: Sequence[str] = ()
    nodes: Mapping[str, NodeRejection] = field(default_factory=dict)
    scores: Mapping[str, NodeScore] = field(default_factory=dict)
    nominated: str | None = None
    victims: Sequence[str] = ()


def explain(scheduler: Scheduler, uid: str, top: int = 10) -> Explanation:
    """Judge one pending pod that the scheduler knows; ``top`` bounds the scores that are returned."""
    entry = scheduler.state.entry(uid)
    if entry is None:
        raise KeyError(uid)
    name = f"{entry.pod.metadata.namespace}/{entry.pod.metadata.name}"
    answer = scheduler.engine.explain(entry.handle)
    result = Explanation(
        pod=name, state=answer["state"], message=answer["message"], feasible=answer["feasible"]
    )
    result.nodes = {node: NodeRejection(**why) for node, why in answer["nodes"].items()}
    if result.state == "feasible" and answer["totals"]:
        result.scores = _scores(answer, top)
    elif result.state == "unschedulable":
        _preempt(scheduler, entry.handle, result)
    return result


def _scores(answer: Mapping[str, Any], top: int) -> dict[str, NodeScore]:
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


def _preempt(scheduler: Scheduler, handle: int, result: Explanation) -> None:
    eviction = scheduler.engine.preempt(handle)
    if eviction is None:
        return
    if eviction.message:
        result.message = f"{result.message} {eviction.message}"
    if eviction.row is not None:
        result.nominated = scheduler.engine.node_name(eviction.row)
    entries = scheduler.state.by_handles(eviction.victims)
    result.victims = [f"{e.pod.metadata.namespace}/{e.pod.metadata.name}" for e in entries]
