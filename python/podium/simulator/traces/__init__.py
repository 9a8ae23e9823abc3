"""Recorded workloads: a table format name → loader, and ``load`` for a ``FORMAT:PATH``."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from podium.errors import InputError
from podium.simulator.traces.openb import load_openb
from podium.simulator.traces.philly import load_philly
from podium.simulator.traces.sktrace import load_sktrace
from podium.simulator.traces.trace import Entry, Trace

__all__ = ["FORMATS", "Entry", "Loader", "Trace", "load"]

Loader = Callable[[str], Trace]
"""From what follows ``FORMAT:`` (paths, comma-separated where there are several) to a trace."""

FORMATS: Mapping[str, Loader] = {
    "openb": load_openb,
    "philly": load_philly,
    "sktrace": load_sktrace,
}
ENTRY_POINTS = "podium.traces"


def load(argument: str) -> Trace:
    """Read ``FORMAT:PATH``. Raises InputError for an unknown format and for a file that is not of it."""
    name, colon, paths = argument.partition(":")
    if not colon or not paths:
        raise InputError(f"--trace {argument}: expected FORMAT:PATH, the formats are {', '.join(_names())}")
    return _loader(name)(paths)


def _loader(name: str) -> Loader:
    """Find the loader of a format; one from an entry point is imported only when it is asked for."""
    found = [point for point in entry_points(group=ENTRY_POINTS) if point.name == name]
    if len(found) + (name in FORMATS) > 1:
        raise InputError(
            f"trace format {name} is defined more than once: {', '.join(p.value for p in found)}"
        )
    if name in FORMATS:
        return FORMATS[name]
    if not found:
        raise InputError(f"unknown trace format {name!r}, the formats are {', '.join(_names())}")
    loader: Loader = found[0].load()
    return loader


def _names() -> list[str]:
    return sorted({*FORMATS, *(point.name for point in entry_points(group=ENTRY_POINTS))})
