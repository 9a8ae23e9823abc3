"""Cycles one by one, for an observer that wants to know which nodes were feasible in each."""

from dataclasses import dataclass

from podium._core import Engine
from podium.cluster.port import Action
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import GROUP
from podium.scheduler.gangs.stopped import StoppedGangs
from podium.scheduler.observer import Attempt, Observer
from podium.scheduler.placements import Placements
from podium.scheduler.single import SingleTurns
from podium.scheduler.state import State


@dataclass(frozen=True, slots=True)
class DetailedCycles:
    """The same cycles as in a batch, much slower."""

    engine: Engine
    state: State
    gangs: Gangs
    singles: SingleTurns
    gang_turns: StoppedGangs
    placements: Placements
    observer: Observer

    def run(self, now: int, actions: list[Action]) -> int:
        """Run one cycle, asking before it which nodes are feasible; returns how many pods were tried."""
        handle = self.engine.pop()
        if handle is None:
            return 0
        if handle & GROUP:
            return self._gang(handle, now, actions)
        entry = self.state.by_handle(handle)
        if entry.concerned:
            self.singles.run(entry, now, actions)
            return 1
        feasible = self.engine.feasible(handle)
        batch = self.engine.run_popped(handle, now)
        if batch.stopped is None:
            node = self.engine.node_name(int(batch.rows[0]))
            self.observer.attempted(Attempt(entry, "scheduled", node=node, feasible=feasible))
            self.placements.begin_batch(batch, now, actions)
        else:
            assert batch.decision is not None, "native profiles decide in the core"
            self.singles.failed(entry, batch.decision, now, actions, feasible)
        return 1

    def _gang(self, handle: int, now: int, actions: list[Action]) -> int:
        """Run the cycle of a gang, asking before it which nodes are feasible for each member alone."""
        pending = list(self.gangs.by_handle(handle).pending())
        feasible = {entry.pod.metadata.uid: self.engine.feasible(entry.handle) for entry in pending}
        batch = self.engine.run_popped(handle, now)
        rows = [*zip(batch.pods.tolist(), batch.rows.tolist(), strict=True), *batch.kept]
        for at, (pod, row) in enumerate(rows):
            entry, node = self.state.by_handle(pod), self.engine.node_name(row)
            alone = feasible.get(entry.pod.metadata.uid)
            attempt = Attempt(entry, "scheduled", node=node, feasible=alone, together=at > 0)
            self.observer.attempted(attempt)
        if batch.stopped is None:
            self.placements.begin_batch(batch, now, actions)
        else:
            self.gang_turns.stopped(batch, now, actions, feasible)
        return max(1, len(batch.pods))
