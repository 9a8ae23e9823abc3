"""What follows when a gang had its turn: its members are bound, or told what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from podium._core import Batch, Engine, GangEviction
from podium.cluster.port import Action, Preempt
from podium.framework.config import GangSettings
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Failures, Refusal
from podium.scheduler.gangs.attempts import Ended, profile_of
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import GROUP, Group, Phase
from podium.scheduler.gangs.nominations import give_back
from podium.scheduler.gangs.reserve import Reservation
from podium.scheduler.gangs.room import RoomMaker
from podium.scheduler.gangs.seats import Outcome
from podium.scheduler.gangs.wording import fitting, shortage_text
from podium.scheduler.observer import Attempt
from podium.scheduler.relief import Relief
from podium.scheduler.state import State

Feasible = Mapping[str, Sequence[str]]

NOBODY: Final[Feasible] = {}


@dataclass(frozen=True, slots=True)
class Room:
    """Room that was made for a gang.

    Attributes:
        victims: who leaves.
        nominated: member -> the node that it goes to once they have left; also where they leave already.
        preemption: what came of preemption: ``Success`` or ``Unschedulable``; empty: it was not tried.
        how: what to say of it.
        reserved: member -> the node that is held for it although nobody is evicted.

    """

    victims: Sequence[Entry] = ()
    nominated: Mapping[str, str] = field(default_factory=dict)
    preemption: str = ""
    how: str = ""
    reserved: Mapping[str, str] = field(default_factory=dict)


class GangCycle:
    """The end of a gang's scheduling cycle where it has no places."""

    def __init__(
        self,
        engine: Engine,
        state: State,
        gangs: Gangs,
        failures: Failures,
        settings: GangSettings,
        preempting: frozenset[str],
    ) -> None:
        self._engine = engine
        self._state = state
        self._gangs = gangs
        self._failures = failures
        self._keeps_budgets = settings.respect_pdb == "always"
        self._preempting = preempting
        self.reservation = Reservation(engine, state, settings.backfill)
        self.room: RoomMaker | None = None
        """Plans what Python plugins have a say in; None: there are none."""
        self.relief: Relief | None = None
        """What fair shares do for gangs; None: tenants do not take turns."""

    def failed(self, batch: Batch, now: int, actions: list[Action], feasible: Feasible = NOBODY) -> Ended:
        """Report a gang that lacks places, and make room for it if that can be done."""
        assert batch.stopped is not None, "only what was stopped has failed"
        group = self._gangs.by_handle(batch.stopped)
        shortage = batch.shortage
        if shortage is None:
            assert batch.decision is not None, "its tenant was refused"
            refusal = Refusal("unschedulable", batch.decision.message, tuple(batch.decision.plugins))
            return self._end(group, refusal, Room(), now, actions, feasible)
        text = shortage_text(self._state, self._gangs, group, shortage)
        group.nearest = shortage.nearest
        if shortage.failed:
            return self._end(group, Refusal("error", text), Room(), now, actions, feasible)
        room = self._make_room(group, now, actions)
        refusal = Refusal("unschedulable", text + room.how, tuple(shortage.plugins))
        return self._end(group, refusal, room, now, actions, feasible)

    def refused(self, group: Group, outcome: Outcome, number: int, now: int, actions: list[Action]) -> Ended:
        """Report a gang that lacks places because Python plugins, or others, refuse one; ``number`` fit."""
        assert outcome.refused is not None, "only what was refused has failed"
        entry, why = outcome.refused
        text = (
            f"{fitting(group, number, outcome.need)}{outcome.where}, "
            f"{entry.pod.metadata.name} does not: {why.message}"
        )
        lacks_room = outcome.lacks_room and why.result == "unschedulable"
        room = self._make_room(group, now, actions) if lacks_room else Room()
        refusal = Refusal(why.result, text + room.how, why.plugins, why.pending)
        return self._end(group, refusal, room, now, actions, outcome.feasible)

    def _make_room(self, group: Group, now: int, actions: list[Action]) -> Room:
        """Make room, else hold places for later."""
        room = self._evicted(group, now, actions)
        if room.nominated:
            return room
        self.reservation.consider(group, now, self._planner(group))
        return replace(room, reserved=self.reservation.places(group))

    def _planner(self, group: Group) -> RoomMaker | None:
        """Return who plans with the plugins that concern a gang's members, None where there are none."""
        concerned = self.room is not None and any(entry.concerned for entry in group.pending())
        return self.room if concerned else None

    def _evicted(self, group: Group, now: int, actions: list[Action]) -> Room:
        """Make room by priority, else as fair shares do."""
        pending = list(group.pending())
        if self.relief is not None and any(map(self.relief.awaits, pending)):
            return Room((), self._nominations(group), how=" reclaim: waiting for pods to leave.")
        room = self._preempt(group, now, actions)
        if room.nominated or self.relief is None:
            return room
        planner, reclaim = self._planner(group), self._engine.reclaim_group
        find = partial(reclaim, group.handle) if planner is None else partial(planner.reclaim, group)
        found = self.relief.give_gang(find, pending, now)
        if found is None:
            return room
        victims, nominated = self._evict(group, found, actions)
        how = f" reclaim: {len(victims)} pods of tenants above their share leave."
        return Room(victims, nominated, room.preemption, how)

    def _preempt(self, group: Group, now: int, actions: list[Action]) -> Room:
        """Evict whoever is in the way if that makes room for all."""
        may_preempt = profile_of(group) in self._preempting
        found = self._plan(group) if may_preempt else None
        if found is None or found.result == "helpless":
            if self.reservation.group is not group:
                give_back(self._engine, group.pending(), now, gang=group.handle)
            return Room(preemption="Unschedulable" if may_preempt else "")
        if found.result != "nominate":
            return Room((), self._nominations(group), "Unschedulable")
        for handle, row in found.places:
            self._engine.nominate(handle, self._engine.node_name(row))
        victims, nominated = self._evict(group, found, actions)
        self._gangs.counts["preempted"] += bool(victims)
        return Room(victims, nominated, "Success")

    def _plan(self, group: Group) -> GangEviction | None:
        planner = self._planner(group)
        if planner is not None:
            return planner.plan(group)
        return self._engine.preempt_group(group.handle, self._keeps_budgets)

    def _evict(
        self, group: Group, found: GangEviction, actions: list[Action]
    ) -> tuple[Sequence[Entry], Mapping[str, str]]:
        """Evict who is in the way; returns them, and where the members go."""
        nominated = {
            self._state.by_handle(handle).pod.metadata.uid: self._engine.node_name(row)
            for handle, row in found.places
        }
        victims = self._state.by_handles(found.victims)
        by_node = {node: group.members[uid].pod for uid, node in nominated.items()}
        first = group.members[next(iter(nominated))].pod
        for victim in victims:
            by = by_node.get(victim.node or "", first)
            held = self._gangs.permits.waiting.get(victim.pod.metadata.uid)
            if held is not None:
                # It has no more than a place in the snapshot: there is nothing to delete.
                held.preempt("DefaultPreemption", "preempted")
            else:
                actions.append(Preempt(victim.pod, by, victim.node or ""))
        return victims, nominated

    def _nominations(self, group: Group) -> Mapping[str, str]:
        nodes = ((e.pod.metadata.uid, self._engine.nominated(e.handle)) for e in group.pending())
        return {uid: node for uid, node in nodes if node is not None}

    def _end(
        self,
        group: Group,
        refusal: Refusal,
        room: Room,
        now: int,
        actions: list[Action],
        feasible: Feasible,
    ) -> Ended:
        """Tell every member that waits, and put the gang back."""
        nominated = room.nominated or room.reserved
        group.error = refusal.result == "error"
        is_news = group.message != refusal.message
        group.message = refusal.message
        together = False
        for entry in group.pending():
            uid = entry.pod.metadata.uid
            attempt = Attempt(
                entry,
                refusal.result,
                message=refusal.message,
                nominated=nominated.get(uid),
                victims=room.victims,
                feasible=feasible.get(uid),
                together=together,
            )
            self._failures.record(attempt, actions if is_news or not together else [])
            together = True
        self._failures.requeue_at(GROUP | group.handle, refusal, now)
        group.move(Phase.BACKOFF if group.error else Phase.QUEUED)
        self._gangs.counts["unschedulable"] += 1
        self._gangs.telling.report(group)
        result = "waiting_on_preemption" if room.nominated and not group.error else refusal.result
        return Ended(result, room.preemption, len(room.victims))
