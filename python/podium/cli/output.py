"""What commands print: JSON on standard output alone, everything else on standard error."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

    from podium.api.manifest import Note

#: Lines of rejected objects and of warnings on a screen; JSON has them all.
_SHOWN = 12


def print_json(answer: Mapping[str, Any]) -> None:
    """Print one JSON object; every element of a top-level list has a line to itself, for grep and diff.

    A list may also be an iterator: its elements are printed as they come.
    """
    separator = "{"
    for key, value in answer.items():
        sys.stdout.write(f"{separator}{_json(key)}: ")
        separator = ",\n "
        if isinstance(value, list | Iterator):
            _print_list(iter(value))
        else:
            sys.stdout.write(_json(value))
    sys.stdout.write("}\n")


def _print_list(elements: Iterator[Any]) -> None:
    opening, closing = "[\n  ", "[]"
    for element in elements:
        sys.stdout.write(opening + _json(element))
        opening, closing = ",\n  ", "\n ]"
    sys.stdout.write(closing)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def with_notes(
    answer: Mapping[str, Any], rejected: "Sequence[Note]", warnings: "Sequence[Note]"
) -> dict[str, Any]:
    """Add the two fields that every JSON answer ends with."""
    return {
        **answer,
        "rejected": [note.to_wire() for note in rejected],
        "warnings": [note.to_wire() for note in warnings],
    }


def say(line: str) -> None:
    """Print a line to standard error."""
    sys.stderr.write(line + "\n")


def say_notes(rejected: "Sequence[Note]", warnings: "Sequence[Note]") -> None:
    """Name what was rejected and warned of; objects of one kind with one text share a line."""
    for word, notes in (("rejected", rejected), ("warning", warnings)):
        groups: dict[tuple[str, str], list[Note]] = {}
        for note in notes:
            groups.setdefault((note.object.partition(" ")[0], _text(note)), []).append(note)
        for (_, text), alike in list(groups.items())[:_SHOWN]:
            first, more = alike[0], f" and {len(alike) - 1:,} more" if len(alike) > 1 else ""
            where = f" ({first.source})" if first.source else ""
            say(f"{word}: {first.object or 'document'}{where}{more}: {text}")
        if len(groups) > _SHOWN:
            say(f"{word}: … and {len(groups) - _SHOWN:,} more kinds of it; -o json has them all")


def _text(note: "Note") -> str:
    """Return the message without the API server's prefix, which has the name of the object in it."""
    kind, _, name = note.object.partition(" ")
    return note.message.removeprefix(f'{kind} "{name.rpartition("/")[2]}" is invalid: ')


def console() -> "Console":
    """Return the console that tables go to: standard output, as wide as the terminal or 100 columns."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(file=sys.stdout, width=None if terminal else 100, highlight=False, soft_wrap=False)


Progress = Callable[[int], None]


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Progress | None]:
    """Show a bar on standard error while the block runs; yields how to move it, None off a terminal.

    Without a total a spinner shows that something goes on.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    counted = (BarColumn(bar_width=40), MofNCompleteColumn()) if total else ()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *counted, TimeElapsedColumn())
    with Bars(*columns, console=Console(file=sys.stderr)) as bars:
        task = bars.add_task(title, total=total)
        yield lambda done: bars.update(task, completed=done if total is None else min(done, total))
        if total:
            bars.update(task, completed=total)
