"""The JSON of ``podium deschedule``."""

from collections.abc import Iterable, Sequence
from typing import Any

from podium.descheduler.evictor import Blocked, Evicted
from podium.descheduler.loop import Turn
from podium.descheduler.nodereport import NodeReport
from podium.simulator.run import name_of


def answer(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return all but ``rejected`` and ``warnings``."""
    return {
        "evictions": [entry for turn in turns for entry in evictions(turn.cycle.evicted)],
        "blocked": [entry for turn in turns for entry in _blocked(turn.cycle.blocked)],
        "nodes": _nodes(turns[-1].nodes) if turns else [],
        "cycles": [_cycle(number, turn) for number, turn in enumerate(turns, 1)],
        "errors": [entry for turn in turns for entry in _errors(turn)],
    }


def _cycle(number: int, turn: Turn) -> dict[str, Any]:
    return {
        "cycle": number,
        "evictions": evictions(turn.cycle.evicted),
        "blocked": _blocked(turn.cycle.blocked),
        "nodes": _nodes(turn.nodes),
        "errors": _errors(turn),
    }


def evictions(evicted: Iterable[Evicted]) -> list[dict[str, Any]]:
    """Return ``evictions``."""
    return [
        {
            "pod": name_of(item.pod),
            "node": item.pod.spec.node_name,
            "plugin": item.plugin,
            "profile": item.profile,
            "destination": item.destination,
        }
        for item in evicted
    ]


def _blocked(blocked: Iterable[Blocked]) -> list[dict[str, Any]]:
    return [
        {
            "pod": name_of(item.pod),
            "node": item.pod.spec.node_name,
            "plugin": item.plugin,
            "profile": item.profile,
            "why": item.why,
            "message": item.message,
        }
        for item in blocked
    ]


def _nodes(nodes: Iterable[NodeReport]) -> list[dict[str, Any]]:
    return [{"node": item.node, "class": item.kind, "utilisation": item.utilisation} for item in nodes]


def _errors(turn: Turn) -> list[dict[str, str]]:
    return [
        {"plugin": item.plugin, "profile": item.profile, "message": item.message}
        for item in turn.cycle.failures
    ]
