"""Gangs of which fewer than the minimum are bound: they must be whole again in time, or all leave."""

from dataclasses import dataclass, field

from podium.api.gangs import GangKey
from podium.cluster.port import Evict
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.permits import Permits
from podium.scheduler.gangs.telling import Telling
from podium.scheduler.gangs.turns import Turns


@dataclass(slots=True)
class Healing:
    """The gangs that have a time by which they must be whole."""

    book: Book
    telling: Telling
    permits: Permits
    turns: Turns
    _timed: dict[GangKey, Group] = field(default_factory=dict)

    def watch(self, group: Group, now: int) -> None:
        """Start or stop the time in which a gang must be complete again.

        A member that has a node does not stop it before it is bound there: its binding may fail for ever.
        """
        if group.phase is Phase.ROLLING_BACK or group.is_whole:
            group.deadline = None
            if self._timed:
                self._timed.pop(group.key, None)
        elif group.deadline is None and group.is_broken:
            group.deadline = now + self.book.settings.bind_grace.nanoseconds
            self._timed[group.key] = group

    def tick(self, now: int) -> bool:
        """Roll back gangs that were not complete in time; returns whether there are any."""
        due = [
            group for group in self._timed.values() if group.deadline is not None and group.deadline <= now
        ]
        for group in due:
            self._roll_back(group)
        return bool(due)

    def next_time(self) -> int | None:
        """Return when the next gang must be complete, None if none must."""
        return min((g.deadline for g in self._timed.values() if g.deadline is not None), default=None)

    def _roll_back(self, group: Group) -> None:
        grace = self.book.settings.bind_grace
        why = f"only {len(group.bound)} of {group.least} members could be bound within {grace}"
        group.epoch += 1
        group.message, group.floor, group.deadline = why, 0, None
        group.succeeded.clear()
        self.book.ended.run_over(group.key)
        self._timed.pop(group.key, None)
        self.turns.dequeue(group)
        group.move(Phase.ROLLING_BACK)
        self.book.counts["rolled_back"] += 1
        self.telling.emit(group, "Warning", "GangRolledBack", why)
        self.permits.reject(group, why)
        for uid in sorted(group.bound):
            self.evict(group, group.members[uid])
        self.book.dirty[group.handle] = group

    def evict(self, group: Group, entry: Entry) -> None:
        """Let a bound member of a gang leave that is rolled back."""
        self.book.counts["evicted"] += 1
        self.book.outbox.append(Evict(entry.pod, f"gang {group.name} is incomplete: {group.message}"))

    def forget(self, group: Group) -> None:
        """Let go of a gang that is gone."""
        self._timed.pop(group.key, None)
