"""Gangs in the queue, as one entity each, and the members that go alone since the minimum needs no more."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from podium.scheduler.ages import creation_time
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Refusal
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.group import GROUP, Group, Phase
from podium.scheduler.gangs.permits import Permits
from podium.scheduler.gangs.whole import Gang
from podium.scheduler.tenants import Tenants

#: Returns a handle that was popped to the queue, and why, at a time.
Requeue = Callable[[int, Refusal, int], None]

_ERROR: Final = Refusal("error", "")


class Waiting:
    """A gang in the queue, with a member that stands for it where its tenant is in question."""

    __slots__ = ("handle", "pod")

    def __init__(self, gang: Gang) -> None:
        first = gang.first
        assert first is not None, "a gang without members waits for nothing"
        self.handle = GROUP | gang.handle
        self.pod = first


@dataclass(slots=True)
class Turns:
    """Puts gangs into the queue, back into it and out of it.

    The core hears of those that come and go when :meth:`take_effect` is called, of all of them at once.
    """

    book: Book
    permits: Permits
    tenants: Tenants | None
    requeue: Requeue
    _surplus: dict[str, Entry] = field(default_factory=dict)
    """Members that are to be queued on their own once all minimums have had their turn."""
    _coming: dict[int, Gang] = field(default_factory=dict)
    """By handle."""
    _going: list[int] = field(default_factory=list)

    def enqueue(self, group: Group, now: int) -> None:
        """Have a gang tried: it is new, its attempt is over, or something happened that can help it."""
        engine = self.book.engine
        self.take_back_surplus(group)
        at = GROUP | group.handle
        if not group.queued:
            group.queued = True
            group.move(Phase.QUEUED)
            self.come(group)
        elif engine.pool(at) == "in_flight":
            if not self.permits.holds_any(group):
                self._give_back(group, now)
        elif group.binding_failed:
            # Those that it kept of its last attempt came to nothing: it is not to be tried again at once.
            engine.rest_gang(group.handle, now)
            group.move(Phase.BACKOFF)
        elif group.woken:
            engine.activate(at)
            group.move(Phase.QUEUED)
        group.woken = group.binding_failed = False

    def come(self, gang: Gang) -> None:
        """Let a gang come to the core's queue, behind those that came before."""
        self._coming[gang.handle] = gang

    def _give_back(self, group: Group, now: int) -> None:
        """Requeue a gang whose members have come back.

        Whoever turned them away in Permit has said what can help; a binding that failed is an error, after
        which the gang rests for a while.
        """
        why, group.turned_away = group.turned_away or _ERROR, None
        group.move(Phase.QUEUED if why.plugins or why.pending else Phase.BACKOFF)
        if not group.bound:
            group.epoch += 1
            self.book.counts["rolled_back"] += 1
        self.requeue(GROUP | group.handle, why, now)

    def _created(self, gangs: Sequence[Gang]) -> Sequence[int]:
        """Return the ages of the oldest members, which decide only between tenants."""
        if self.tenants is None:
            return [0] * len(gangs)
        return [
            min(
                creation_time(entry.pod)
                for entry in (gang.members.values() if isinstance(gang, Group) else gang.entries)
            )
            for gang in gangs
        ]

    def dequeue(self, group: Group) -> None:
        """Take a gang out of the queue."""
        if group.queued:
            group.queued = False
            self.leave_queue([group.handle])

    def leave_queue(self, handles: Iterable[int]) -> None:
        """Let gangs leave the core's queue."""
        coming = self._coming
        self._going += [at for at in handles if not coming or coming.pop(at, None) is None]

    def take_effect(self, now: int) -> None:
        """Tell the core of the gangs that came to the queue and left it."""
        engine = self.book.engine
        if self._going:
            engine.dequeue_gangs(self._going)
            self._going.clear()
        if self._coming:
            handles, gangs = list(self._coming), list(self._coming.values())
            self._coming.clear()
            completing = [type(gang) is Group and self._is_completing(gang) for gang in gangs]
            engine.enqueue_gangs(handles, now, self._created(gangs), completing)
            if self.tenants is not None:
                self.tenants.assign(map(Waiting, gangs))

    def _is_completing(self, group: Group) -> bool:
        """Whether members that it lacks go first; where tenants take turns, only back to what it was."""
        return bool(group.placed) and (self.tenants is None or group.is_broken)

    def queued(self) -> list[Waiting]:
        """Return the gangs in the queue, for their tenants."""
        return [Waiting(group) for group in self.book if group.queued]

    def let_go_alone(self, group: Group) -> None:
        """Let the members that the minimum does not need be tried on their own."""
        for entry in group.pending():
            uid = entry.pod.metadata.uid
            if uid not in group.surplus:
                group.surplus.add(uid)
                # One whose gate was lifted just now is on its way out of the gated pool.
                if self.book.engine.pool(entry.handle) in (None, "gated"):
                    self._surplus[uid] = entry

    def take_back_surplus(self, group: Group) -> None:
        """Let members that are needed again go with their gang."""
        for uid in group.surplus - group.placed if group.surplus else ():
            self.drop_surplus(group, uid)
            self.book.engine.dequeue(group.members[uid].handle)

    def drop_surplus(self, group: Group, uid: str) -> None:
        """Forget that a member went alone."""
        group.surplus.discard(uid)
        self._surplus.pop(uid, None)

    def release_surplus(self, now: int) -> bool:
        """Queue members beyond the minimums, now that all minimums have had their turn."""
        if not self._surplus:
            return False
        handles = [entry.handle for entry in self._surplus.values()]
        self._surplus.clear()
        self.book.engine.enqueue_surplus(handles, now)
        return True
