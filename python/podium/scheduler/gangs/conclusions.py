"""What follows from all that happened to a gang: it waits for members, is queued, or is complete."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.descriptions import Descriptions
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.healing import Healing
from podium.scheduler.gangs.nominations import give_back
from podium.scheduler.gangs.permits import Permits
from podium.scheduler.gangs.telling import Telling
from podium.scheduler.gangs.turns import Turns
from podium.scheduler.gangs.whole import Gang, WholeGang

_BOUND: Final = Phase.BOUND


def _is_whole(gang: Gang) -> bool:
    return type(gang) is WholeGang


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
        news = [gang for gang in gangs if type(gang) is Group and gang.signature is None and gang.members]
        if news:
            self.descriptions.describe(news)
        for is_whole, run in groupby(gangs, _is_whole):
            if is_whole:
                self._come_through(cast("list[WholeGang]", list(run)))
                continue
            for gang in cast("Iterator[Group]", run):
                if gang.members:
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
            self._miss_members(group)
        self.telling.remind(group, now)
        if group.object is not None:
            self.telling.report(group)

    def _miss_members(self, group: Group) -> None:
        """Note that there is nobody to take the places of members that are gone."""
        if group.placed != group.bound:
            # A binding under way may fail; then the gang is to rest, as it does in the queue.
            return
        self.turns.dequeue(group)
        group.message, group.nearest = group.missing, ""
        if group.phase not in (Phase.PLACED, Phase.PERMITTED):
            group.move(Phase.GATED)

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

    def _come_through(self, gangs: Sequence[WholeGang]) -> None:
        """Note gangs of which all members are bound."""
        gangs = [gang for gang in gangs if gang.phase is not _BOUND]
        for gang in gangs:
            gang.phase = _BOUND
        self.book.counts["bound"] += len(gangs)
        self.telling.bound([(gang, len(gang.entries), len(gang.entries)) for gang in gangs])
        self.turns.leave_queue([gang.handle for gang in gangs])

    def _complete(self, group: Group, ready: int) -> None:
        bound, minimum = len(group.bound), group.minimum
        if bound + group.done >= minimum:
            if group.phase is not Phase.BOUND:
                self.book.counts["bound"] += 1
                self.telling.bound([(group, bound, minimum)])
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
