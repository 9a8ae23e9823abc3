"""What the world is told of a gang: its status, events, and why its members are held back."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from podium.api.gang_status import status_of
from podium.api.gangs import GangKey
from podium.cluster.port import Emit, PatchGroup, PatchStatus
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.whole import Gang

SECOND: Final = 1_000_000_000

#: How long a gang may be held back before its members are told, since they come one after the other.
QUIET: Final = 5 * SECOND


@dataclass(slots=True)
class Telling:
    """Fills the outbox."""

    book: Book
    _silent: dict[GangKey, int] = field(default_factory=dict)
    """Gangs that are held back, and when their members are to be told why."""

    def report(self, group: Group) -> None:
        """Write the status of a gang if it has an object and says something new."""
        if group.object is None or not group.members:
            return
        status = status_of(group.object, group.standing())
        if status != group.reported:
            group.reported = status
            self.book.outbox.append(PatchGroup(group.object, status))

    def emit(self, gang: Gang, kind: str, reason: str, note: str) -> None:
        """Send an event about a gang's first member."""
        first = gang.first
        if first is not None:
            self.book.outbox.append(Emit(first, kind, reason, "Scheduling", f"gang {gang.key}: {note}"))

    def bound(self, gangs: Iterable[tuple[Gang, int, int]]) -> None:
        """Send the events that enough members are bound: gangs with their number, and the minimum."""
        for gang, bound, minimum in gangs:
            self.emit(gang, "Normal", "GangBound", f"{bound} of {minimum} members are bound")

    def remind(self, group: Group, now: int) -> None:
        """Note whether the members will have to be told that their gang is held back."""
        if group.phase is Phase.GATED:
            self._silent.setdefault(group.key, now + QUIET)
        elif self._silent:
            self._silent.pop(group.key, None)

    def forget(self, group: Group) -> None:
        """Let go of a gang that is gone."""
        self._silent.pop(group.key, None)

    def tick(self, now: int) -> None:
        """Tell members why their gang is held back, where nothing came of it for long enough."""
        for key in [key for key, at in self._silent.items() if at <= now]:
            del self._silent[key]
            group = self.book.get(key)
            if group is not None:
                self._tell(group)

    def _tell(self, group: Group) -> None:
        """Say it as of pods with gates, so that no autoscaler makes room for what cannot run yet."""
        for entry in group.pending():
            self.book.outbox.append(PatchStatus(entry.pod.metadata.uid, "SchedulingGated", entry.message, ""))
