"""All gangs of a scheduler: who is in which, when it is tried, and what follows.

Pods of a gang are not in the queue; their gang is, as one entity, once enough members exist. The core places
all that is missing from its minimum in one transaction, or nothing (``podium._core``: ``place_group``). What
becomes of the members then is told here by the state, the binder and the loop; :meth:`Gangs.settle` draws the
conclusions, once for all that happened.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from podium._core import Engine
from podium.api import Object, Pod, PriorityClass
from podium.api.admission.priority import SYSTEM_CLASSES
from podium.api.gang_status import status_of
from podium.api.gangs import WAY_OF, GangKey, Way, describe, gang_of, role_of
from podium.cluster.port import Action, Emit, Evict, PatchGroup, PatchStatus
from podium.framework.config import GangSettings
from podium.scheduler.ages import creation_time
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.members import Signature, Verdict, judge, signature
from podium.scheduler.observer import Observer
from podium.scheduler.state import Entry, State
from podium.scheduler.waiting import WaitingRoom

#: The bit that tells a gang's handle in the queue from a pod's.
GROUP: Final = 1 << 31

GANG: Final = "Gang"

#: The signature of members that say different things.
_MIXED: Final = "mixed"

#: What gangs by label say, remembered by what each of their members says.
_VERDICTS: Final = 1024

SECOND: Final = 1_000_000_000

#: How long a gang may be held back before its members are told, since they come one after the other.
QUIET: Final = 5 * SECOND


class Waiting:
    """A gang in the queue, with a member that stands for it where its tenant is in question."""

    __slots__ = ("handle", "pod")

    def __init__(self, group: Group) -> None:
        self.handle = GROUP | group.handle
        self.pod = next(iter(group.members.values())).pod


class Gangs(Observer):
    """The gangs of one scheduler, in step with its state."""

    def __init__(self, engine: Engine, settings: GangSettings, is_gang_aware: Callable[[str], bool]) -> None:
        self._engine = engine
        self._settings = settings
        self._is_gang_aware = is_gang_aware
        self._label = settings.label
        self._groups: dict[GangKey, Group] = {}
        self._by_handle: dict[int, Group] = {}
        self._objects: dict[GangKey, Object] = {}
        self._classes: dict[str, PriorityClass] = {}
        self._dirty: dict[GangKey, Group] = {}
        self._surplus: dict[str, Entry] = {}
        self._timed: dict[GangKey, Group] = {}
        self._silent: dict[GangKey, int] = {}
        """Gangs that are held back, and when their members are to be told why."""
        self._verdicts: dict[Signature, Verdict] = {}
        self._held: dict[GangKey, Group] = {}
        """Gangs with members in Permit."""
        self.state: State | None = None
        self.waiting: WaitingRoom | None = None
        self.outbox: list[Action] = []
        """What the backend is to do beside what the loop asks of it."""
        self.counts: Counter[str] = Counter()
        """How often gangs were ``placed``, ``bound``, ``rolled_back``, ``timed_out`` … so far."""

    def __iter__(self) -> Iterator[Group]:
        return iter(self._groups.values())

    def by_handle(self, handle: int) -> Group:
        """Return the gang behind a handle of the queue."""
        return self._by_handle[handle & ~GROUP]

    def of(self, pod: Pod) -> Group | None:
        """Return the gang of a pod."""
        key = gang_of(pod, self._label)
        return None if key is None else self._groups.get(key)

    def take(self, entries: Sequence[Entry], leaders: Sequence[Pod], now: int) -> Iterator[Sequence[Entry]]:
        """Let new pods join their gangs; yields runs of those that are in none.

        A gang is queued where its first member stands among them, so both keep the order of appearance.

        Args:
            entries: the pods.
            leaders: one of each template among them: without a gang among these there is none.
            now: the time.

        """
        label = self._label
        if all(gang_of(pod, label) is None for pod in leaders):
            yield entries
            return
        alone = []
        fresh: dict[GangKey, list[Entry]] = {}
        firsts: dict[GangKey, int] = {}
        for entry in entries:
            key = gang_of(entry.pod, label)
            if key is None or not self._is_gang_aware(entry.pod.spec.scheduler_name):
                alone.append(entry)
                continue
            members = fresh.get(key)
            if members is None:
                fresh[key], firsts[key] = [entry], len(alone)
            else:
                members.append(entry)
        for key, members in fresh.items():
            self._join(key, members)
        done = 0
        for key, first in firsts.items():
            if first > done:
                yield alone[done:first]
                done = first
            group = self._dirty.pop(key, None)
            if group is not None:
                self._conclude(group, now)
        if done < len(alone):
            yield alone[done:]

    def joined(self, entry: Entry) -> None:
        """Let a pod that is on a node join its gang."""
        key = gang_of(entry.pod, self._label)
        if key is not None and self._is_gang_aware(entry.pod.spec.scheduler_name):
            self._join(key, [entry])

    def _join(self, key: GangKey, entries: list[Entry]) -> None:
        group = self._groups.get(key)
        if group is None:
            group = self._begin(key)
        for entry in entries:
            entry.group = group
            uid = entry.pod.metadata.uid
            group.members[uid] = entry
            if group.signature is not None and signature(entry.pod, self._settings) != group.signature:
                group.signature = None
            if entry.pod.metadata.deletion_timestamp:
                group.leaving.add(uid)
            elif entry.node is not None:
                group.placed.add(uid)
                group.bound.add(uid)
        roles = self._roles(group, entries)
        self._engine.join_group(group.handle, [entry.handle for entry in entries], roles)
        group.woken = True
        self._dirty[key] = group

    def _roles(self, group: Group, entries: Iterable[Entry]) -> list[int]:
        roles = group.description.roles
        if not roles:
            return [0 for _ in entries]
        numbers = {role: number for number, role in enumerate(roles, 1)}
        return [numbers.get(role_of(entry.pod), 0) for entry in entries]

    def _begin(self, key: GangKey) -> Group:
        handle = self._engine.add_group()
        declared = self._objects.get(key)
        uid = str(key) if declared is None else declared.metadata.uid
        group = self._groups[key] = self._by_handle[handle] = Group(key, handle, uid, declared)
        return group

    def changed(self, entry: Entry, old: Pod) -> None:
        """Look at a member whose object changed."""
        group = entry.group
        key = gang_of(entry.pod, self._label)
        if group is None or key != group.key:
            if group is not None:
                self._leave(group, entry)
                self._engine.leave_group(entry.handle)
                entry.group = None
            if key is not None and self._is_gang_aware(entry.pod.spec.scheduler_name):
                self._engine.dequeue(entry.handle)
                self._join(key, [entry])
            return
        uid = entry.pod.metadata.uid
        if entry.pod.metadata.deletion_timestamp and uid not in group.leaving:
            group.leaving.add(uid)
            group.placed.discard(uid)
            group.bound.discard(uid)
            self._dirty[group.key] = group
        elif entry.pod.spec.node_name and uid not in group.bound and uid not in group.leaving:
            group.placed.add(uid)
            group.bound.add(uid)
            self._drop_surplus(group, uid)
            self._dirty[group.key] = group
        if signature(entry.pod, self._settings) != signature(old, self._settings):
            group.signature = None
            group.woken = True
            self._dirty[group.key] = group

    def left(self, entry: Entry, phase: str) -> None:
        """Let go of a member that is gone, or ended in ``phase``."""
        group = entry.group
        if group is None:
            return
        uid = entry.pod.metadata.uid
        if phase == "Succeeded" and (uid in group.bound or uid in group.leaving):
            group.succeeded.add(uid)
        elif phase == "Failed":
            group.failed.add(uid)
        self._leave(group, entry)

    def _leave(self, group: Group, entry: Entry) -> None:
        uid = entry.pod.metadata.uid
        group.members.pop(uid, None)
        for uids in (group.placed, group.bound, group.leaving):
            uids.discard(uid)
        group.failures.pop(uid, None)
        self._drop_surplus(group, uid)
        self._dirty[group.key] = group
        if not group.bound:
            self._reject_waiting(group, f"member {entry.pod.metadata.name} is gone")

    def _drop_surplus(self, group: Group, uid: str) -> None:
        group.surplus.discard(uid)
        self._surplus.pop(uid, None)

    def observe(self, item: Object, *, gone: bool = False) -> None:
        """Look at an object that may declare a gang or say what a priority class is worth."""
        if isinstance(item, PriorityClass):
            self._classes[item.metadata.name] = item
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
        group = self._groups.get(key)
        if group is None:
            return
        if not gone and old is not None and _asks_alike(old, item):
            # Its status changed, which this scheduler wrote itself: that is no reason to try it again.
            group.object = item
            return
        if not gone and item.metadata.uid != group.uid:
            group.uid = item.metadata.uid
            group.epoch += 1
            group.reported = None
        group.object = None if gone else item
        group.signature = None
        group.woken = True
        self._dirty[key] = group

    def given_nodes(self, entries: Iterable[Entry], *, held: bool = False) -> None:
        """Note members that were put on nodes; their bindings begin, unless they are held in Permit."""
        touched: dict[int, Group] = {}
        for entry in entries:
            group = entry.group
            if group is not None:
                uid = entry.pod.metadata.uid
                group.placed.add(uid)
                if uid not in group.surplus:
                    touched[group.handle] = group
        for group in touched.values():
            group.woken = False
            self.counts["placed"] += 1
            group.message = group.nearest = ""
            group.error = False
            group.move(Phase.PLACED)
            if held:
                self._held[group.key] = group
            else:
                # Nobody holds it in Permit.
                group.phase = Phase.BINDING
            if group.ready or group.need or group.deadline is not None or group.object is not None:
                self._dirty[group.key] = group

    def bound(self, entries: Sequence[Entry]) -> None:
        """Note members whose binding succeeded."""
        for entry in entries:
            group = entry.group
            uid = entry.pod.metadata.uid
            if group is None or uid not in group.members or uid in group.leaving:
                continue
            group.bound.add(uid)
            group.placed.add(uid)
            if group.surplus:
                self._drop_surplus(group, uid)
            self._dirty[group.key] = group
            if group.phase is Phase.ROLLING_BACK:
                self._evict(group, entry)

    def rolled_back(self, entry: Entry, node: str, reason: str) -> None:
        """Note a member that lost the node it had been given.

        It is tried there once more, then elsewhere. Where others only wait in Permit, they go back with it.
        """
        group = entry.group
        if group is None:
            return
        uid = entry.pod.metadata.uid
        group.placed.discard(uid)
        self._dirty[group.key] = group
        self.counts["member_failed"] += 1
        is_binding = group.phase is not Phase.ROLLING_BACK and group.key not in self._held
        if uid in group.members and uid not in group.surplus and is_binding:
            failures = group.failures[uid] = group.failures.get(uid, 0) + 1
            if failures == 1:
                self._engine.nominate(entry.handle, node)
            else:
                self._engine.nominate(entry.handle, None)
                self._engine.avoid_node(group.handle, entry.handle, node)
        if "timeout" in reason:
            self.counts["timed_out"] += 1
        self._reject_waiting(group, f"member {entry.pod.metadata.name} was turned away: {reason}")

    def permit(self) -> None:
        """Let gangs go on to their bindings that nobody but their own members has held."""
        if self.waiting is None or not self._held:
            return
        for key, group in list(self._held.items()):
            waiting = group.placed - group.bound
            if not self.held_in_permit(group):
                if not any(self.waiting.holds(uid) for uid in waiting):
                    del self._held[key]
            elif (group.bound or not group.need) and self.waiting.allow_together(waiting, GANG):
                del self._held[key]
                # A gang that lacks others still is in the queue again for them.
                if group.phase is Phase.PLACED:
                    group.move(Phase.PERMITTED)
                    group.move(Phase.BINDING)

    def turned_away(self, group: Group, entries: Iterable[Entry]) -> None:
        """Note that members lost their nodes in the cycle that gave them, because Permit refused one."""
        group.placed.difference_update(entry.pod.metadata.uid for entry in entries)
        self._held.pop(group.key, None)

    def wait_of(self, group: Group) -> Mapping[str, float]:
        """Return how long members may be held in Permit, as ``Binder.begin`` wants it."""
        own = group.description.timeout
        return {GANG: self._settings.permit_timeout.seconds if own is None else own}

    def _reject_waiting(self, group: Group, why: str) -> None:
        if self.waiting is None or not group.placed:
            return
        for uid in list(group.placed):
            held = self.waiting.get(uid)
            if held is not None:
                held.reject(GANG, why)

    def settle(self, now: int) -> None:
        """Draw the conclusions of all that happened."""
        while self._dirty:
            dirty, self._dirty = self._dirty, {}
            for key, group in dirty.items():
                if self._groups.get(key) is group:
                    self._conclude(group, now)

    def _conclude(self, group: Group, now: int) -> None:
        if not group.members:
            self._end(group)
            return
        if group.signature is None:
            self._describe(group)
        if group.bound or group.deadline is not None:
            self._watch(group, now)
        if group.phase is Phase.ROLLING_BACK and (group.bound or group.leaving):
            return
        problem, need, ready = group.description.problem, group.need, group.ready
        if problem:
            self._hold_back(group, problem)
        elif need == 0:
            self._complete(group)
        elif not group.placed and ready < need:
            self._hold_back(group, f"{group.live} of {group.minimum} members exist")
        elif ready:
            self._queue(group, now)
        else:
            self._dequeue(group)
        if group.phase is Phase.GATED:
            self._silent.setdefault(group.key, now + QUIET)
        else:
            self._silent.pop(group.key, None)
        self._report(group)

    def _describe(self, group: Group) -> None:
        pods = [entry.pod for entry in group.members.values()]
        verdict = self._verdict(group, pods)
        before = group.description
        group.description = verdict.description
        if group.floor:
            group.floor = min(group.floor, group.minimum)
        self._tell_core(group, verdict)
        if group.description.roles != before.roles:
            roles = self._roles(group, group.members.values())
            self._engine.join_group(group.handle, [e.handle for e in group.members.values()], roles)
        # Where members differ in what they say, the next one that comes makes it anew.
        group.signature = signature(pods[0], self._settings) if verdict.uniform else _MIXED

    def _verdict(self, group: Group, pods: Sequence[Pod]) -> Verdict:
        """Hear the members; gangs by label whose members all say the same need that only once."""
        said_alike = None
        if group.key.way is Way.LABEL:
            signatures = self._signatures(pods)
            if len(signatures) == 1:
                said_alike = signatures.pop()
                known = self._verdicts.get(said_alike)
                if known is not None:
                    return known
        said = describe(group.key, group.object, pods, self._settings.min_available)
        verdict = judge(said, pods, self._class_value(said.class_name))
        if said_alike is not None and not verdict.description.problem:
            if len(self._verdicts) >= _VERDICTS:
                self._verdicts.clear()
            self._verdicts[said_alike] = verdict
        return verdict

    def _signatures(self, pods: Sequence[Pod]) -> set[Signature]:
        """Return what pods say; those of one template often share its parts, which then say the same."""
        spec: object = None
        annotations: object = None
        said = set()
        for pod in pods:
            if pod.spec is not spec or pod.metadata.annotations is not annotations:
                spec, annotations = pod.spec, pod.metadata.annotations
                said.add(signature(pod, self._settings))
        return said

    def _tell_core(self, group: Group, verdict: Verdict) -> None:
        description = group.description
        self._engine.set_group(
            group.handle,
            description.minimum,
            verdict.priority,
            verdict.may_preempt,
            [0, *description.roles.values()] if description.roles else [],
            description.topology,
            description.preferred,
        )

    def _class_value(self, name: str) -> int | None:
        if name in SYSTEM_CLASSES:
            return SYSTEM_CLASSES[name]
        found = self._classes.get(name)
        return None if found is None else found.value

    def _watch(self, group: Group, now: int) -> None:
        """Start or stop the time in which a gang must be complete again.

        A member that has a node does not stop it before it is bound there: its binding may fail for ever.
        """
        if group.phase is Phase.ROLLING_BACK or group.is_whole:
            group.deadline = None
            self._timed.pop(group.key, None)
        elif group.deadline is None and group.is_broken:
            group.deadline = now + self._settings.bind_grace.nanoseconds
            self._timed[group.key] = group

    def _hold_back(self, group: Group, why: str) -> None:
        self._dequeue(group)
        group.message = why
        group.nearest = ""
        if group.placed:
            return
        group.move(Phase.GATED)
        for entry in group.pending():
            entry.message = f"gang {group.name}: {why}"
        if group.description.problem:
            self._emit(group, "Warning", "GangRefused", why)

    def _complete(self, group: Group) -> None:
        if len(group.bound) + (len(group.succeeded) if group.floor else 0) >= group.minimum:
            if group.phase is not Phase.BOUND:
                self.counts["bound"] += 1
                note = f"{len(group.bound)} of {group.minimum} members are bound"
                self._emit(group, "Normal", "GangBound", note)
            group.floor = group.minimum
            group.failures.clear()
            group.message = group.nearest = ""
            group.move(Phase.BOUND)
            self._dequeue(group)
        for entry in group.pending() if group.ready else ():
            uid = entry.pod.metadata.uid
            if uid not in group.surplus:
                group.surplus.add(uid)
                if self._engine.pool(entry.handle) is None:
                    self._surplus[uid] = entry

    def _queue(self, group: Group, now: int) -> None:
        self._take_back_surplus(group)
        at = GROUP | group.handle
        if not group.queued:
            group.queued = True
            group.move(Phase.QUEUED)
            self._engine.enqueue_gang(group.handle, now, self._created(group), bool(group.placed))
            self._assign_tenant(group)
        elif self._engine.pool(at) == "in_flight":
            if not self._is_under_way(group):
                # All its bindings have come back and some failed: an error, so it rests for a while.
                group.move(Phase.BACKOFF)
                if not group.bound:
                    group.epoch += 1
                    self.counts["rolled_back"] += 1
                self._engine.put_back(at, now)
        elif group.woken:
            self._engine.activate(at)
            group.move(Phase.QUEUED)
        group.woken = False

    def _is_under_way(self, group: Group) -> bool:
        """Whether members that are not bound yet may still be held by nobody but Permit."""
        if self.waiting is None:
            return False
        return any(self.waiting.get(uid) is not None for uid in group.placed - group.bound)

    def _take_back_surplus(self, group: Group) -> None:
        """Let members that are needed again go with their gang."""
        for uid in group.surplus - group.placed:
            self._drop_surplus(group, uid)
            self._engine.dequeue(group.members[uid].handle)

    def _assign_tenant(self, group: Group) -> None:
        tenants = self.state.tenants if self.state is not None else None
        if tenants is not None:
            tenants.assign([Waiting(group)])

    def _created(self, group: Group) -> int:
        """Return the age of the oldest member, which decides only between tenants."""
        if self.state is None or self.state.tenants is None:
            return 0
        return min(creation_time(entry.pod) for entry in group.members.values())

    def _dequeue(self, group: Group) -> None:
        if group.queued:
            self._engine.dequeue(GROUP | group.handle)
            group.queued = False

    def _end(self, group: Group) -> None:
        self._dequeue(group)
        self._engine.remove_group(group.handle)
        del self._groups[group.key]
        del self._by_handle[group.handle]
        self._timed.pop(group.key, None)
        self._silent.pop(group.key, None)
        self._held.pop(group.key, None)

    def release_surplus(self, now: int) -> bool:
        """Queue members beyond the minimums, now that all minimums have had their turn."""
        if not self._surplus:
            return False
        handles = [entry.handle for entry in self._surplus.values()]
        self._surplus.clear()
        self._engine.enqueue_surplus(handles, now)
        return True

    def tick(self, now: int) -> None:
        """Roll back gangs that were not complete in time, and tell members why their gang is held back."""
        for key in [key for key, at in self._silent.items() if at <= now]:
            del self._silent[key]
            self._tell(self._groups[key])
        due = [
            group for group in self._timed.values() if group.deadline is not None and group.deadline <= now
        ]
        for group in due:
            self._roll_back(group)
        if due:
            self.settle(now)

    def _tell(self, group: Group) -> None:
        """Say it as of pods with gates, so that no autoscaler makes room for what cannot run yet."""
        for entry in group.pending():
            self.outbox.append(PatchStatus(entry.pod.metadata.uid, "SchedulingGated", entry.message))

    def next_time(self) -> int | None:
        """Return when the next gang must be complete, None if none must."""
        return min((g.deadline for g in self._timed.values() if g.deadline is not None), default=None)

    def _roll_back(self, group: Group) -> None:
        grace = self._settings.bind_grace
        why = f"only {len(group.bound)} of {group.least} members could be bound within {grace}"
        group.epoch += 1
        group.message, group.floor, group.deadline = why, 0, None
        group.succeeded.clear()
        self._timed.pop(group.key, None)
        self._dequeue(group)
        group.move(Phase.ROLLING_BACK)
        self.counts["rolled_back"] += 1
        self._emit(group, "Warning", "GangRolledBack", why)
        self._reject_waiting(group, why)
        for uid in sorted(group.bound):
            self._evict(group, group.members[uid])
        self._dirty[group.key] = group

    def _evict(self, group: Group, entry: Entry) -> None:
        self.counts["evicted"] += 1
        self.outbox.append(Evict(entry.pod, f"gang {group.name} is incomplete: {group.message}"))

    def held_in_permit(self, group: Group) -> int:
        """Return how many members wait in Permit."""
        if self.waiting is None:
            return 0
        return sum(self.waiting.get(uid) is not None for uid in group.placed - group.bound)

    def queued(self) -> list[Waiting]:
        """Return the gangs in the queue, for their tenants."""
        return [Waiting(group) for group in self._groups.values() if group.queued]

    def reported(self, group: Group) -> None:
        """Write the status of a gang that was tried in vain."""
        self._report(group)

    def _report(self, group: Group) -> None:
        if group.object is None or not group.members:
            return
        status = status_of(group.object, group.standing())
        if status != group.reported:
            group.reported = status
            self.outbox.append(PatchGroup(group.object, status))

    def _emit(self, group: Group, kind: str, reason: str, note: str) -> None:
        first = next(iter(group.members.values()), None)
        if first is not None:
            self.outbox.append(Emit(first.pod, kind, reason, "Scheduling", f"gang {group.name}: {note}"))


def _asks_alike(old: Object, new: Object) -> bool:
    """Whether two versions of a PodGroup are of one group and ask for the same."""
    return old.metadata.uid == new.metadata.uid and bool(
        getattr(old, "spec", None) == getattr(new, "spec", None)
    )
