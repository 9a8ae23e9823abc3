"""Judgements of pending pods as a person reads them."""

from collections.abc import Iterable, Iterator, Mapping

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from podium.scheduler.explanation import Explanation, NodeRejection, NodeScore
from podium.simulator.report import table

#: Names of nodes shown per reason.
_EXAMPLES = 3

_COLOUR = {"feasible": "green", "unschedulable": "yellow", "error": "red"}


def in_detail(judged: Iterable[Explanation]) -> Iterator[RenderableType]:
    """Yield what is known of each pod: best nodes with their scores, reasons with the nodes they concern."""
    for found in judged:
        parts: list[RenderableType | None] = [
            _headline(found),
            _scores(found.scores),
            _rejections(found.nodes),
            _preemption(found),
            _turn(found),
            _gang(found),
        ]
        yield Group(*(part for part in parts if part is not None))


def in_brief(judged: Iterable[Explanation]) -> Table:
    """Return one row per pod."""
    rows = table("Pending pods", "pod", "state", "nodes", "message")
    for found in judged:
        state = Text(found.state, style=_COLOUR.get(found.state, "dim"))
        best = next(iter(found.scores), "")
        message = found.message or (f"best: {best}" if best else "")
        rows.add_row(found.pod, state, f"{len(found.feasible):,}", message)
    return rows


def _headline(found: Explanation) -> Text:
    colour = _COLOUR.get(found.state, "dim")
    title = Text.assemble((found.pod, "bold"), "  ", (found.state, f"bold {colour}"))
    if found.feasible:
        count = len(found.feasible)
        title.append(f"  {count:,} of {count + len(found.nodes):,} nodes pass every filter")
    if found.message:
        title.append(f"\n{found.message}")
    return title


def _scores(scores: Mapping[str, NodeScore]) -> Table | None:
    if not scores:
        return None
    plugins = list(next(iter(scores.values())).plugins)
    # A plugin that gives every node the same says nothing about the order.
    telling = [
        name for name in plugins if len({score.plugins[name].weighted for score in scores.values()}) > 1
    ]
    rows = table("Best nodes", "node", "total", *telling)
    for node, score in scores.items():
        rows.add_row(node, str(score.total), *(str(score.plugins[name].weighted) for name in telling))
    return rows


def _rejections(nodes: Mapping[str, NodeRejection]) -> Table | None:
    if not nodes:
        return None
    groups: dict[tuple[str, str], list[str]] = {}
    for node, why in nodes.items():
        groups.setdefault((why.plugin, ", ".join(why.reasons)), []).append(node)
    rows = table("Rejected nodes", "nodes", "plugin", "reason", "such as")
    for (plugin, reason), names in sorted(groups.items(), key=lambda group: -len(group[1])):
        more = ", …" if len(names) > _EXAMPLES else ""
        rows.add_row(f"{len(names):,}", plugin, reason, ", ".join(names[:_EXAMPLES]) + more)
    return rows


def _preemption(found: Explanation) -> Text | None:
    if found.nominated is None:
        return None
    return Text(f"Would be nominated to {found.nominated} by evicting {', '.join(found.victims)}\n")


def _gang(found: Explanation) -> Text | None:
    gang = found.gang
    if gang is None:
        return None
    line = "" if gang.position is None else f", number {gang.position:,} in line"
    text = f"Gang {gang.name}: {gang.placeable:,} of {gang.min:,} members fit{line}"
    text = f"{text}, {gang.nearest}\n" if gang.nearest else f"{text}\n"
    return Text(f"{text}{gang.message}\n" if gang.message and gang.message != found.message else text)


def _turn(found: Explanation) -> Text | None:
    turn = found.tenant
    if turn is None:
        return None
    rank = "nothing to try" if turn.rank is None else f"number {turn.rank:,} in line"
    text = f"Tenant {turn.name}: dominant share {turn.dominant_share:.1%}, {rank}"
    return Text(f"{text}, blocked by {turn.blocked_by}\n" if turn.blocked_by else f"{text}\n")
