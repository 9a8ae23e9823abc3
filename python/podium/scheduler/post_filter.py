"""PostFilter: making room for a pod that no node takes, by evicting others."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium._core import Decision, Engine, Eviction
from podium.cluster.port import Action, Preempt
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.scheduler.cycle import Cycle
from podium.scheduler.entry import Entry
from podium.scheduler.fit import Misfit, Statuses
from podium.scheduler.observer import Attempt
from podium.scheduler.preemption import Failed, Preemption
from podium.scheduler.profiles import DEFAULT_PREEMPTION, Profiles
from podium.scheduler.state import State
from podium.scheduler.waiting import WaitingRoom


@dataclass(frozen=True, slots=True)
class Room:
    """What the PostFilter plugins of a profile came to.

    Attributes:
        nominated: the node; the empty string if a nomination is to be withdrawn, None if nothing changes.
        eviction: what the native one found out, None if it was not asked.
        text: what they have to say.

    """

    nominated: str | None
    eviction: Eviction | None
    text: str


class PostFilter:
    """Asks who can make room, and evicts whom they name."""

    def __init__(
        self,
        engine: Engine,
        state: State,
        waiting: WaitingRoom,
        profiles: Profiles,
        preemption: Preemption,
        cycle: Cycle,
    ) -> None:
        self._engine = engine
        self._state = state
        self._waiting = waiting
        self._profiles = profiles
        self._preemption = preemption
        self._cycle = cycle
        self.evicted = False
        """Whether pods were evicted since the loop looked last: they may leave at once."""

    def native(
        self, entry: Entry, decision: Decision, feasible: Sequence[str] | None, actions: list[Action]
    ) -> Attempt:
        """Preempt for a pod that is a matter of the core alone; return the attempt with what came of it."""
        message = decision.message
        if entry.gang is not None:
            # A member beyond its gang's minimum takes what is free, it evicts nobody.
            return Attempt(entry, "unschedulable", message=message, feasible=feasible)
        eviction = self._engine.preempt(entry.handle, self._engine.attempts(entry.handle))
        if eviction is None:
            return Attempt(entry, "unschedulable", message=message, feasible=feasible)
        if eviction.message:
            message = f"{message} {eviction.message}"
        nominated: str | None = self._engine.nominated(entry.handle)
        victims: list[Entry] = []
        if eviction.row is not None:
            nominated = self._engine.node_name(eviction.row)
            self._engine.nominate(entry.handle, nominated)
            victims = self._evict(entry, eviction, nominated, actions)
        elif eviction.result == "helpless":
            nominated = None
            self._engine.nominate(entry.handle, None)
        return Attempt(
            entry,
            "unschedulable",
            message=message,
            nominated=nominated,
            victims=victims,
            feasible=feasible,
        )

    def with_plugins(
        self, entry: Entry, runner: Runner, state: CycleState, why: Misfit, actions: list[Action]
    ) -> Attempt:
        """Do what the PostFilter plugins of a profile say; return the attempt with what came of it."""
        found = self.ask(entry, runner, state, why)
        victims: list[Entry] = []
        if found.nominated:
            self._engine.nominate(entry.handle, found.nominated)
            if found.eviction is not None and found.eviction.row is not None:
                victims = self._evict(entry, found.eviction, found.nominated, actions)
        elif found.nominated == "":
            self._engine.nominate(entry.handle, None)
        return Attempt(
            entry,
            "unschedulable",
            message=f"{why.message} {found.text}" if found.text else why.message,
            nominated=self._engine.nominated(entry.handle),
            victims=victims,
            feasible=self._cycle.feasible,
        )

    def ask(self, entry: Entry, runner: Runner, state: CycleState, why: Misfit) -> "Room":
        """Ask the PostFilter plugins of a profile, the native one in its place among them; do nothing."""
        plugins = self._profiles.of(entry.pod)
        extenders = plugins.extenders if plugins is not None else ()
        self._preemption.failed = Failed(entry, runner, why, extenders)
        self._preemption.eviction = None
        statuses = Statuses(self._engine, entry.handle, self._preemption.services.facts, why)
        result = runner.post_filter(state, entry.pod, statuses)
        self._preemption.failed = None
        eviction = self._preemption.eviction
        text = result.status.message
        if eviction is not None and result.status.is_success:
            text = eviction.message
        return Room(result.nominated_node, eviction, text)

    def _evict(self, entry: Entry, eviction: Eviction, node: str, actions: list[Action]) -> list[Entry]:
        victims = self._state.by_handles(eviction.victims)
        for victim in victims:
            held = self._waiting.get(victim.pod.metadata.uid)
            if held is not None:
                # It has no more than a place in the snapshot: there is nothing to delete.
                held.preempt(DEFAULT_PREEMPTION, "preempted")
            elif not victim.pod.metadata.deletion_timestamp:
                actions.append(Preempt(victim.pod, entry.pod, node))
        self.evicted = True
        return victims
