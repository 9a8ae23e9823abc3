"""What every trace loader returns: objects with the times at which they came and went."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of one object of a trace.

    ``manifest`` is a Kubernetes object as in YAML, not defaulted. Entries made from one template share their
    ``spec`` object, so a reader may convert each distinct one once (``id(manifest["spec"])``) and must not
    change it.
    Times are seconds from the start of the trace. ``departs`` is when the trace deletes the object (None: it
    stays). ``runs`` are the observed run times of its pods from their start, in seconds; None: not observed,
    or still running at the end.
    """

    manifest: Manifest
    source: str
    arrives: float = 0.0
    departs: float | None = None
    runs: tuple[float | None, ...] = ()

    @property
    def identity(self) -> tuple[str, str, str]:
        """(kind, namespace, name): later entries of one identity are updates of the object, or its return."""
        meta = self.manifest["metadata"]
        return self.manifest["kind"], meta.get("namespace") or "default", meta["name"]


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded workload. ``entries`` are in the order of the trace; nodes, where it has any, come first."""

    entries: Sequence[Entry]

    def queue(self) -> list[Entry]:
        """``--arrivals queue``: every object once, in its latest version, where it first appeared."""
        latest: dict[tuple[str, str, str], Entry] = {}
        for entry in self.entries:
            latest[entry.identity] = entry
        return list(latest.values())

    def timeline(self) -> list[Entry]:
        """``--arrivals times``: every version, by arrival; the order of the trace among equals."""
        return sorted(self.entries, key=lambda entry: entry.arrives)
