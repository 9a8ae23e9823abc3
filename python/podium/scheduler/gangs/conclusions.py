"""What follows from all that happened to a gang: it waits for members, is queued, or is complete."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.descriptions import Descriptions
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.healing import Healing
from podium.scheduler.gangs.nominations import give_back
from podium.scheduler.gangs.permits import Permits
from podium.scheduler.gangs.telling import Telling
from podium.scheduler.gangs.turns import Turns
from podium.scheduler.gangs.whole import Gang, WholeGang


@dataclass(slots=True)
class Conclusions:
    """Draws conclusions, once for all that happened."""

    book: Book
    telling: Telling
    descriptions: Descriptions
    permits: Permits
    turns: Turns
    healing: Healing

    def settle(self, now: int) -> None:
        """Draw all that are to be drawn, and those that follow from them."""
        book = self.book
        while book.dirty:
            dirty, book.dirty = book.dirty, {}
            self.conclude([gang for gang in dirty.values() if gang in book], now)

    def conclude(self, gangs: Sequence[Gang], now: int) -> None:
        """Draw those about some gangs, in this order."""
        if not gangs:
            return
        news = [gang for gang in gangs if isinstance(gang, Group) and gang.signature is None and gang.members]
        if news:
            self.descriptions.describe(news)
        for gang in gangs:
            if isinstance(gang, WholeGang):
                self._come_through(gang)
            elif gang.members:
                self._conclude(gang, now)
            else:
                self._end(gang, now)
        self.turns.take_effect(now)

    def _conclude(self, group: Group, now: int) -> None:
        if group.succeeded:
            group.note_floor()
            self.descriptions.tell_minimum(group)
        if group.bound or group.deadline is not None:
            self.healing.watch(group, now)
        if group.surplus and group.need:
            # Alone, one would hold a place without those it needs, and lose it again.
            self.turns.take_back_surplus(group)
        if group.phase is Phase.ROLLING_BACK and (group.bound or group.leaving):
            return
        problem, need, ready = group.description.problem, group.need, group.ready
        if problem:
            self._hold_back(group, problem, now)
        elif need == 0:
            self._complete(group, ready)
        elif not group.placed and (ready < need or group.description.roles) and (missing := group.missing):
            self._await_members(group, missing, now)
        elif ready:
            self.turns.enqueue(group, now)
        else:
            self.turns.dequeue(group)
        self.telling.remind(group, now)
        if group.object is not None:
            self.telling.report(group)

    def _await_members(self, group: Group, why: str, now: int) -> None:
        strays = self.book.strays.text(group.key)
        is_news = bool(strays) and not group.message.endswith(strays)
        beside = " and ".join(filter(None, (self.book.held_back.text(group.key), strays)))
        self._hold_back(group, f"{why}, beside {beside}" if beside else why, now)
        if is_news:
            self.telling.emit(group, "Warning", "GangRefused", group.message)

    def _hold_back(self, group: Group, why: str, now: int) -> None:
        self.turns.dequeue(group)
        # What cannot run keeps no place from others.
        give_back(self.book.engine, group.pending(), now)
        group.message = why
        group.nearest = ""
        if group.placed:
            return
        group.move(Phase.GATED)
        for entry in group.pending():
            entry.message = f"gang {group.name}: {why}"
        if group.description.problem:
            self.telling.emit(group, "Warning", "GangRefused", why)

    def _come_through(self, gang: WholeGang) -> None:
        """Note that all members are bound."""
        if gang.phase is Phase.BOUND:
            return
        minimum = len(gang.entries)
        self._tell_bound(gang, minimum, minimum)
        gang.phase = Phase.BOUND
        self.turns.leave_queue(gang)

    def _tell_bound(self, gang: Gang, bound: int, minimum: int) -> None:
        self.book.counts["bound"] += 1
        self.telling.emit(gang, "Normal", "GangBound", f"{bound} of {minimum} members are bound")

    def _complete(self, group: Group, ready: int) -> None:
        bound, minimum = len(group.bound), group.minimum
        if bound + group.done >= minimum:
            if group.phase is not Phase.BOUND:
                self._tell_bound(group, bound, minimum)
            group.floor = minimum
            group.failures.clear()
            group.message = group.nearest = ""
            group.move(Phase.BOUND)
            self.turns.dequeue(group)
        if ready:
            self.turns.let_go_alone(group)

    def _end(self, group: Group, now: int) -> None:
        self.turns.dequeue(group)
        self.turns.take_effect(now)
        if not group.owner:
            self.book.ended.run_over(group.key)
        self.book.remove(group)
        self.healing.forget(group)
        self.telling.forget(group)
        self.permits.forget(group)
