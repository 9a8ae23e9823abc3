"""What ``podium deschedule`` prints for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table


def tables(answer: Mapping[str, Any]) -> Iterator[Table | str]:
    """Yield what was evicted, what was not and why, and how the nodes stand."""
    yield from _evictions(answer)
    if answer["blocked"]:
        table = _table("Blocked", "pod", "node", "plugin", "why", "message")
        for item in answer["blocked"]:
            table.add_row(item["pod"], item["node"], item["plugin"], item["why"], item["message"])
        yield table
    nodes = _table("Nodes at the end", "node", "class", "utilisation")
    for item in answer["nodes"]:
        used = ", ".join(f"{name} {value:.0%}" for name, value in item["utilisation"].items())
        nodes.add_row(item["node"], item["class"], used)
    yield nodes
    for item in answer["errors"]:
        yield f"[red]{item['plugin']}[/] ({item['profile']}): {item['message']}"


def _evictions(answer: Mapping[str, Any]) -> Iterator[Table | str]:
    many = len(answer["cycles"]) > 1
    for cycle in answer["cycles"]:
        title = f"Evicted in cycle {cycle['cycle']}" if many else "Evicted"
        if not cycle["evictions"]:
            yield f"{title}: nothing"
            continue
        table = _table(title, "pod", "from", "to", "plugin", "profile")
        for item in cycle["evictions"]:
            table.add_row(
                item["pod"], item["node"], item["destination"] or "", item["plugin"], item["profile"]
            )
        yield table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column)
    return table
