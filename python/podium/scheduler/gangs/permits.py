"""Members held in Permit: they wait for one another there, go on together or go back together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from podium.api.gangs import GangKey
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.group import GROUP, Group, Phase
from podium.scheduler.waiting import WaitingRoom

GANG: Final = "Gang"


@dataclass(slots=True)
class Permits:
    """The gangs that have members in Permit."""

    book: Book
    waiting: WaitingRoom
    held: dict[GangKey, Group] = field(default_factory=dict)

    def permit(self) -> None:
        """Let gangs go on to their bindings that nobody but their own members has held."""
        if not self.held:
            return
        for key, group in list(self.held.items()):
            waiting = group.placed - group.bound
            if not self.number_of(group):
                if not any(self.waiting.holds(uid) for uid in waiting):
                    del self.held[key]
            elif (group.bound or not group.need) and self.waiting.allow_together(waiting, GANG):
                del self.held[key]
                # Events from now on mean nothing to it, should a binding fail.
                self.book.engine.settle(GROUP | group.handle)
                # A gang that lacks others still is in the queue again for them.
                if group.phase is Phase.PLACED:
                    group.move(Phase.PERMITTED)
                    group.move(Phase.BINDING)

    def turned_away(self, group: Group, entries: Iterable[Entry]) -> None:
        """Note that members lost their nodes in the cycle that gave them, because Permit refused one."""
        group.placed.difference_update(entry.pod.metadata.uid for entry in entries)
        self.held.pop(group.key, None)

    def wait_of(self, group: Group) -> Mapping[str, float]:
        """Return how long members may be held in Permit, as ``Binder.begin`` wants it."""
        own = group.description.timeout
        return {GANG: self.book.settings.permit_timeout.seconds if own is None else own}

    def reject(self, group: Group, why: str) -> None:
        """Send back all members that wait."""
        for uid in list(group.placed):
            held = self.waiting.get(uid)
            if held is not None:
                held.reject(GANG, why)

    def number_of(self, group: Group) -> int:
        """Return how many members wait."""
        return sum(self.waiting.get(uid) is not None for uid in group.placed - group.bound)

    def holds_any(self, group: Group) -> bool:
        """Whether members that are not bound yet may still be held by nobody but Permit."""
        return any(self.waiting.get(uid) is not None for uid in group.placed - group.bound)

    def forget(self, group: Group) -> None:
        """Let go of a gang that is gone."""
        self.held.pop(group.key, None)
