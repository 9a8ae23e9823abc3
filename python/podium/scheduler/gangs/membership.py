"""Who is in which gang: pods come, change and go, and so do the objects that declare gangs."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from podium.api import Object, Pod, PriorityClass
from podium.api.gangs import WAY_OF, Description, GangKey, gang_of
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Refusal
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.conclusions import Conclusions
from podium.scheduler.gangs.founding import born_whole
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.members import Told, controller_of, signature
from podium.scheduler.gangs.whole import Gang, WholeGang


@dataclass(slots=True)
class _Newcomers:
    """New pods.

    Attributes:
        members: those of each gang, in order of appearance.
        firsts: how many pods without a gang come before the first of each.
        kinds: the like of the first of each gang.
        mixed: gangs of which not all are like the first.
        alone: pods without a gang.

    """

    members: dict[GangKey, list[Entry]] = field(default_factory=dict)
    firsts: list[int] = field(default_factory=list)
    kinds: dict[GangKey, int] = field(default_factory=dict)
    mixed: set[GangKey] = field(default_factory=set)
    alone: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class Membership:
    """Hears of pods and objects from the state; what follows is a matter of the conclusions."""

    book: Book
    conclusions: Conclusions
    is_gang_aware: Callable[[str], bool]
    """Whether the profile of a scheduler name knows gangs."""
    _objects: dict[GangKey, Object] = field(default_factory=dict)

    def take(self, entries: Sequence[Entry], likes: NDArray[np.int64], now: int) -> Iterator[Sequence[Entry]]:
        """Let new pods join their gangs; yields runs of those that are in none.

        A gang is queued where its first member stands among them, so both keep the order of appearance.

        Args:
            entries: the pods, pending and to stay.
            likes: (N,), equal for pods that differ in name and uid alone: those are in one gang.
            now: the time.

        """
        label = self.book.settings.label
        kinds = dict(zip(likes.tolist(), entries, strict=True))
        named = {like: key for like, some in kinds.items() if (key := gang_of(some.pod, label)) is not None}
        if not named:
            yield entries
            return
        new = self._sort(entries, likes, named)
        alone, turns, conclude = new.alone, self.conclusions.turns, self.conclusions.conclude
        done = 0
        heard: list[Gang] = []
        for gang, first in zip(self._join(new.members, new.mixed), new.firsts, strict=True):
            is_whole = type(gang) is WholeGang
            if heard and (is_whole or first > done):
                conclude(heard, now)
                heard.clear()
            if first > done:
                turns.take_effect(now)
                yield alone[done:first]
                done = first
            if is_whole:
                turns.come(gang)
            else:
                del self.book.dirty[gang.handle]
                heard.append(gang)
        conclude(heard, now)
        turns.take_effect(now)
        if done < len(alone):
            yield alone[done:]

    def _sort(
        self, entries: Sequence[Entry], likes: NDArray[np.int64], named: Mapping[int, GangKey]
    ) -> _Newcomers:
        """Tell the pods of each gang from one another and from those without; ``named`` are keys by like."""
        new = _Newcomers()
        members, alone, kinds = new.members, new.alone, new.kinds
        starts = [0, *(np.flatnonzero(np.diff(likes)) + 1).tolist()]
        for (start, end), like in zip(pairwise([*starts, len(likes)]), likes[starts].tolist(), strict=True):
            some, key = list(entries[start:end]), named.get(like)
            if key is None:
                alone += some
            elif not self.is_gang_aware(some[0].pod.spec.scheduler_name):
                alone += some
                for entry in some:
                    self.strayed(entry.pod)
            elif key not in members:
                members[key], kinds[key] = some, like
                new.firsts.append(len(alone))
            else:
                members[key] += some
                if kinds[key] != like:
                    new.mixed.add(key)
        return new

    def _gang_of(self, pod: Pod) -> GangKey | None:
        """Return the gang of a pod, None if its profile knows no gangs."""
        key = gang_of(pod, self.book.settings.label)
        return key if key is not None and self.is_gang_aware(pod.spec.scheduler_name) else None

    def joined(self, entries: Iterable[Entry]) -> None:
        """Let pods that are on nodes join their gangs."""
        label = self.book.settings.label
        for entry in entries:
            key = gang_of(entry.pod, label)
            if key is None:
                continue
            if self.is_gang_aware(entry.pod.spec.scheduler_name):
                self._join({key: [entry]})
            else:
                self.strayed(entry.pod)

    def strayed(self, pod: Pod) -> None:
        """Note a pod that may name a gang, but whose schedulerName is that of others."""
        self._look_again(self.book.strays.note(pod))

    def held(self, pod: Pod, why: str) -> None:
        """Note what keeps a pod from the queue: a gang that waits for it says so."""
        key = self._gang_of(pod)
        if key is not None:
            self.book.held_back.note(key, pod, why)
            self._look_again(key)

    def released(self, pod: Pod) -> None:
        """Note that nothing keeps a pod from the queue any more, or that it is gone."""
        if not self.book.held_back:
            return
        key = self._gang_of(pod)
        if key is not None and self.book.held_back.forget(key, pod):
            self._look_again(key)

    def _look_again(self, key: GangKey | None) -> None:
        group = self.book.get(key) if key is not None else None
        if group is not None:
            self.book.dirty[group.handle] = group

    def _join(
        self, fresh: Mapping[GangKey, list[Entry]], mixed: Collection[GangKey] | None = None
    ) -> list[Gang]:
        """Let pods join their gangs, which begin with them if need be.

        Args:
            fresh: the pods.
            mixed: the gangs of which not all newcomers are alike, where all pods are pending and to stay;
                then gangs may come whole.

        Returns:
            The gangs. Those that must be concluded about, all but whole ones, are dirty.

        """
        book, descriptions = self.book, self.conclusions.descriptions
        known = book.known(fresh)
        handles = iter(book.engine.add_groups(len(fresh) - len(known)))
        joins: list[tuple[Gang, Collection[Entry]]] = []
        told: list[tuple[int, Told]] = []
        for key, entries in fresh.items():
            group = book.get(key) if known else None
            if group is None:
                handle = next(handles)
                whole = None
                if mixed is not None and key not in book.ended:
                    whole = born_whole(key, handle, entries, descriptions, alike=key not in mixed)
                if whole is not None:
                    book.add(whole)
                    joins.append((whole, entries))
                    told.append((handle, whole.verdict.told))
                    continue
                group = self._begin(key, handle)
            self._meet(group, entries)
            self._take_in(group, entries)
            joins.append((group, entries))
            group.woken = True
            book.dirty[group.handle] = group
        descriptions.enter(joins)
        descriptions.tell(told)
        return [gang for gang, _ in joins]

    def _take_in(self, group: Group, entries: list[Entry]) -> None:
        members, said = group.members, group.signature
        comes_first, runs_first = not members, not group.bound
        for entry in entries:
            entry.gang = group
            pod = entry.pod
            uid = pod.metadata.uid
            members[uid] = entry
            if said is not None and signature(pod, self.book.settings) != said:
                group.signature = said = None
            if pod.metadata.deletion_timestamp:
                group.leaving.add(uid)
            elif entry.node is not None:
                group.placed.add(uid)
                group.bound.add(uid)
        if comes_first or (runs_first and group.bound):
            self._inherit(group, [entry.pod for entry in entries])

    def _meet(self, group: Group, entries: list[Entry]) -> None:
        """Find out whether newcomers are of another life of the gang than those that have ended."""
        owner = controller_of(entries[0].pod)
        if owner != group.owner:
            if group.members and not group.live:
                self._begin_anew(group)
            group.owner = owner
        if group.succeeded:
            # Who has the name of one that ended well is to do its work again.
            names = {entry.pod.metadata.name for entry in entries}
            for uid, pod in list(group.succeeded.items()):
                if pod.metadata.name in names:
                    del group.succeeded[uid]
                    group.signature = None

    def _inherit(self, group: Group, pods: Sequence[Pod]) -> None:
        """Count in who ended well in the run that these newcomers are of."""
        for pod in self.book.ended.of_run(group.key, pods):
            if pod.metadata.uid not in group.members:
                group.succeeded[pod.metadata.uid] = pod

    def _begin_anew(self, group: Group) -> None:
        self.book.ended.run_over(group.key)
        group.begin_anew()

    def _begin(self, key: GangKey, handle: int) -> Group:
        declared = self._objects.get(key) if self._objects else None
        name = str(key)
        group = Group(key, name, handle, name if declared is None else declared.metadata.uid, declared)
        self.book.add(group)
        return group

    def changed(self, entry: Entry, old: Pod) -> None:
        """Look at a member whose object changed."""
        book = self.book
        group = book.of(entry)
        key = gang_of(entry.pod, book.settings.label)
        if group is None or key != group.key:
            if group is not None:
                self._leave(group, entry)
                book.engine.leave_group(entry.handle)
                entry.gang = None
            if key is not None and self.is_gang_aware(entry.pod.spec.scheduler_name):
                book.engine.dequeue(entry.handle)
                self._join({key: [entry]})
            return
        uid = entry.pod.metadata.uid
        if entry.pod.metadata.deletion_timestamp and uid not in group.leaving:
            group.leaving.add(uid)
            group.placed.discard(uid)
            group.bound.discard(uid)
            book.dirty[group.handle] = group
        elif entry.pod.spec.node_name and uid not in group.bound and uid not in group.leaving:
            group.placed.add(uid)
            group.bound.add(uid)
            self.conclusions.turns.drop_surplus(group, uid)
            book.dirty[group.handle] = group
        if signature(entry.pod, book.settings) != signature(old, book.settings):
            group.signature = None
            group.woken = True
            book.dirty[group.handle] = group

    def left(self, entry: Entry, phase: str) -> None:
        """Let go of a member that is gone, or ended in ``phase``."""
        group = self.book.of(entry)
        if group is None:
            return
        uid = entry.pod.metadata.uid
        if phase == "Succeeded" and (uid in group.bound or uid in group.leaving):
            group.succeeded[uid] = entry.pod
        elif phase == "Failed":
            group.failed.add(uid)
        self._leave(group, entry)

    def _leave(self, group: Group, entry: Entry) -> None:
        uid = entry.pod.metadata.uid
        group.members.pop(uid, None)
        for uids in (group.placed, group.bound, group.leaving):
            uids.discard(uid)
        group.failures.pop(uid, None)
        self.conclusions.turns.drop_surplus(group, uid)
        self.book.dirty[group.handle] = group
        if not group.bound:
            why = f"member {entry.pod.metadata.name} is gone"
            # Nothing that happens can help against that: those that are left are tried again after a while.
            group.turned_away = group.turned_away or Refusal("error", why)
            self.conclusions.permits.reject(group, why)

    def observe(self, item: Object, *, gone: bool = False) -> None:
        """Look at an object that may declare a gang, be what is left of a member, or be a priority class."""
        if isinstance(item, Pod):
            if gone or item.status.phase in ("Succeeded", "Failed"):
                self._look_again(self.book.strays.forget(item))
                self.released(item)
            if item.status.phase == "Succeeded" and item.spec.node_name:
                self._note_ended(item, gone=gone)
            return
        if isinstance(item, PriorityClass):
            self.conclusions.descriptions.classes[item.metadata.name] = item
            return
        way = WAY_OF.get(type(item))
        if way is None:
            return
        key = GangKey(way, item.metadata.namespace, item.metadata.name)
        old = self._objects.get(key)
        if gone:
            self._objects.pop(key, None)
        else:
            self._objects[key] = item
        group = self.book.get(key)
        if group is None:
            return
        if not gone and old is not None and _asks_alike(old, item):
            # Its status changed, which this scheduler wrote itself: that is no reason to try it again.
            group.object = item
            return
        if not gone and item.metadata.uid != group.uid:
            group.uid = item.metadata.uid
            group.reported = None
            if group.placed:
                group.epoch += 1
            else:
                self._begin_anew(group)
        group.object = None if gone else item
        group.signature = None
        group.woken = True
        self.book.dirty[group.handle] = group

    def without_members(self) -> Iterator[tuple[GangKey, Description, str]]:
        """Yield the gangs of which all pods are held back, and why they do not begin."""
        held_back = self.book.held_back
        for key in held_back:
            if self.book.knows(key):
                continue
            _, verdict = self.conclusions.descriptions.hear(key, self._objects.get(key), held_back.of(key))
            says = verdict.description
            why = f"0 of {says.minimum} members exist, beside {held_back.text(key)}"
            yield key, says, says.problem or why

    def _note_ended(self, pod: Pod, *, gone: bool) -> None:
        key = self._gang_of(pod)
        if key is None:
            return
        if gone:
            self.book.ended.forget(key, pod)
            return
        uid, group = pod.metadata.uid, self.book.get(key)
        is_new = self.book.ended.note(key, pod)
        if is_new and group is not None and group.members and uid not in group.members:
            uids = group.bound or group.members
            self._inherit(group, [group.members[uid].pod for uid in uids])
            self.book.dirty[group.handle] = group

    def settle(self, now: int) -> None:
        """Draw the conclusions of all that was heard."""
        self.conclusions.settle(now)


def _asks_alike(old: Object, new: Object) -> bool:
    """Whether two versions of a PodGroup are of one group and ask for the same."""
    return old.metadata.uid == new.metadata.uid and bool(
        getattr(old, "spec", None) == getattr(new, "spec", None)
    )
