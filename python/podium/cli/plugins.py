"""``podium plugins``: what is installed, where from, which points."""

from typing import TYPE_CHECKING, Any

import click

from podium.cli.flags import OUTPUT, GoCommand
from podium.cli.output import console, print_json, say_notes, with_notes

if TYPE_CHECKING:
    from podium.api.manifest import Note
    from podium.framework.registry import PluginInfo

_HELP = """\
List the plugins that a configuration may name, where each comes from, and its extension points.

Native plugins run in the core; others come from installed packages that have the entry point podium.plugins.
"""


@click.command(cls=GoCommand, help=_HELP, short_help="List the installed plugins.")
@OUTPUT
def command(output: str) -> None:
    """Print every plugin; one that cannot be imported is a warning."""
    from podium.framework.registry import PluginInfo, Registry

    found = list(Registry.build().entries())
    usable = [entry for entry in found if isinstance(entry, PluginInfo)]
    broken = [entry for entry in found if not isinstance(entry, PluginInfo)]
    warnings = [_note(entry.name, entry.source, entry.error) for entry in broken]
    if output == "json":
        print_json(with_notes({"plugins": list(map(_wire, usable))}, [], warnings))
        return
    _print(usable)
    say_notes([], warnings)


def _note(name: str, source: str, error: str) -> "Note":
    from podium.api.manifest import Note

    return Note(f"plugin {name}", source, error)


def _wire(info: "PluginInfo") -> dict[str, Any]:
    return {"name": info.name, "source": info.source, "points": list(info.points)}


def _print(infos: "list[PluginInfo]") -> None:
    from podium.simulator.report import table

    rows = table("Plugins", "name", "source", "extension points")
    for info in infos:
        rows.add_row(info.name, info.source, ", ".join(info.points))
    console().print(rows)
