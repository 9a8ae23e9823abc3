"""All gangs of a scheduler.

Pods of a gang are not in the queue; their gang is, as one entity, once enough members exist. The core places
all that is missing from its minimum in one transaction, or nothing (``podium._core``: ``place_group``). What
becomes of the members then is told here by the state (:class:`Membership`), the binder and the loop; the
:class:`Conclusions` are drawn once for all that happened.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from podium._core import Engine
from podium.api.gangs import Description, GangKey
from podium.cluster.port import Action
from podium.framework.config import GangSettings
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Refusal
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.conclusions import Conclusions
from podium.scheduler.gangs.descriptions import Descriptions
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.healing import Healing
from podium.scheduler.gangs.membership import Membership
from podium.scheduler.gangs.permits import Permits
from podium.scheduler.gangs.telling import Telling
from podium.scheduler.gangs.turns import Requeue, Turns
from podium.scheduler.gangs.whole import WholeGang
from podium.scheduler.observer import Observer
from podium.scheduler.tenants import Tenants
from podium.scheduler.waiting import WaitingRoom


class Gangs(Observer):
    """The gangs of one scheduler, in step with its state, and how its loop and its binder talk to them."""

    def __init__(
        self,
        engine: Engine,
        settings: GangSettings,
        waiting: WaitingRoom,
        *,
        requeue: Requeue,
        tenants: Tenants | None,
    ) -> None:
        book = self.book = Book(engine, settings)
        self._members: Membership | None = None
        self.telling = Telling(book)
        self.permits = Permits(book, waiting)
        self.turns = Turns(book, self.permits, tenants, requeue)
        self._healing = Healing(book, self.telling, self.permits, self.turns)
        self._conclusions = Conclusions(
            book, self.telling, Descriptions(book), self.permits, self.turns, self._healing
        )

    def members(self, is_gang_aware: Callable[[str], bool]) -> Membership:
        """Return who is to hear of all pods and objects."""
        self._members = Membership(self.book, self._conclusions, is_gang_aware)
        return self._members

    def without_members(self) -> Iterator[tuple[GangKey, Description, str]]:
        """Yield the gangs of which all pods are held back, and why they do not begin."""
        return iter(()) if self._members is None else self._members.without_members()

    def __iter__(self) -> Iterator[Group]:
        return iter(self.book)

    @property
    def counts(self) -> Counter[str]:
        """How often gangs were ``placed``, ``bound``, ``rolled_back``, ``timed_out`` … so far."""
        return self.book.counts

    @property
    def outbox(self) -> list[Action]:
        """What the backend is to do beside what the loop asks of it."""
        return self.book.outbox

    def by_handle(self, handle: int) -> Group:
        """Return the gang behind a handle of the queue."""
        return self.book.of_queue(handle)

    def settle(self, now: int) -> None:
        """Draw the conclusions of all that happened."""
        self._conclusions.settle(now)

    def given_nodes(self, entries: Sequence[Entry], *, held: bool = False) -> None:
        """Note members that were put on nodes; their bindings begin, unless they are held in Permit."""
        gangs = {entry.gang for entry in entries}
        gangs.discard(None)
        whole = [gang for gang in gangs if type(gang) is WholeGang]
        binding = Phase.BINDING
        for gang in whole:
            gang.phase = binding
        self.book.counts["placed"] += len(whole)
        if len(whole) < len(gangs):
            self._given_nodes(entries, held=held)

    def _given_nodes(self, entries: Iterable[Entry], *, held: bool) -> None:
        """Note members of gangs that do not come whole, if there are any."""
        touched: dict[int, Group] = {}
        noted = None
        for entry in entries:
            group = entry.gang
            if type(group) is Group:
                uid = entry.pod.metadata.uid
                group.placed.add(uid)
                if group is not noted and uid not in group.surplus:
                    touched[group.handle] = noted = group
        book = self.book
        book.counts["placed"] += len(touched)
        for group in touched.values():
            group.woken = False
            group.message = group.nearest = ""
            group.error, group.turned_away = False, None
            group.move(Phase.PLACED)
            if held:
                self.permits.held[group.key] = group
            else:
                # Nobody holds it in Permit.
                group.phase = Phase.BINDING
            if group.ready or group.need or group.deadline is not None or group.object is not None:
                book.dirty[group.handle] = group

    def bound(self, entries: Sequence[Entry]) -> None:
        """Note members whose binding succeeded."""
        book = self.book
        dirty = book.dirty
        counts = Counter([entry.gang for entry in entries])
        counts.pop(None, None)
        whole = 0
        for gang, count in counts.items():
            if type(gang) is WholeGang:
                if count == len(gang.entries):
                    gang.bound = True
                    dirty[gang.handle] = gang
                    whole += 1
                else:
                    book.looked_into(gang)
        if whole < len(counts):
            self._bound(entries)

    def _bound(self, entries: Sequence[Entry]) -> None:
        """Note bindings of gangs that do not come whole, if there are any."""
        dirty = self.book.dirty
        noted = None
        for entry in entries:
            group = entry.gang
            if type(group) is not Group:
                continue
            uid = entry.pod.metadata.uid
            if uid not in group.members or uid in group.leaving:
                continue
            group.bound.add(uid)
            group.placed.add(uid)
            if group.surplus:
                self.turns.drop_surplus(group, uid)
            if group is not noted:
                dirty[group.handle] = noted = group
            if group.phase is Phase.ROLLING_BACK:
                self._healing.evict(group, entry)

    def rolled_back(self, entry: Entry, node: str, why: Refusal) -> None:
        """Note a member that lost the node it had been given.

        It is tried there once more, then elsewhere. Where others only wait in Permit, they go back with it.
        """
        book = self.book
        group = book.of(entry)
        if group is None:
            return
        uid = entry.pod.metadata.uid
        group.placed.discard(uid)
        book.dirty[group.handle] = group
        book.counts["member_failed"] += 1
        is_held = group.key in self.permits.held
        is_binding = group.phase is not Phase.ROLLING_BACK and not is_held
        if is_held and group.turned_away is None:
            group.turned_away = why
            name = entry.pod.metadata.name
            group.message = f"gang {group.name}: member {name} was turned away: {why.message}"
        if uid in group.members and uid not in group.surplus and is_binding:
            group.binding_failed = True
            failures = group.failures[uid] = group.failures.get(uid, 0) + 1
            if failures == 1:
                book.engine.nominate(entry.handle, node)
            else:
                book.engine.nominate(entry.handle, None)
                book.engine.avoid_node(group.handle, entry.handle, node)
        if "timeout" in why.message:
            book.counts["timed_out"] += 1
        self.permits.reject(group, f"member {entry.pod.metadata.name} was turned away: {why.message}")

    def tick(self, now: int) -> None:
        """Roll back gangs that were not complete in time, and tell members why their gang is held back."""
        self.telling.tick(now)
        if self._healing.tick(now):
            self.settle(now)

    def next_time(self) -> int | None:
        """Return when the next gang must be complete, None if none must."""
        return self._healing.next_time()
