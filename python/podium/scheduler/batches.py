"""Runs of cycles in the core, with what Python plugins say of the nodes that it asks about."""

from dataclasses import dataclass

from podium._core import Batch, Engine
from podium.scheduler.columns import CustomColumns
from podium.scheduler.inbox import Inbox
from podium.scheduler.observer import Observer
from podium.scheduler.profiles import Profiles
from podium.scheduler.state import State
from podium.scheduler.waiting import WaitingRoom


@dataclass(frozen=True, slots=True)
class Batches:
    """Lets the core run cycles.

    A batch ends after the pod for which a plugin made a request: that is heard before the next cycle.
    """

    engine: Engine
    state: State
    profiles: Profiles
    observer: Observer
    inbox: Inbox
    waiting: WaitingRoom
    columns: CustomColumns

    def run(self, limit: int, now: int) -> Batch:
        """Run up to ``limit`` cycles, fewer where one is for Python to end."""
        batch = self.engine.run_batch(limit, now, self.observer.timing)
        while batch.asks is not None:
            assert batch.stopped is not None, "a batch asks for a pod"
            entry = self.state.by_handle(batch.stopped)
            plugins = self.profiles.of(entry.pod)
            assert plugins is not None, "only profiles with Python plugins ask"
            answers = self.profiles.remembered.ask(entry, plugins.runner, batch.asks)
            if answers is None:
                break
            heard = self.inbox or self.waiting.decided or self.columns
            more = self.engine.resume(batch, *answers, len(batch) + 1 if heard else limit, now)
            if more is None:
                break
            batch = more
        return batch
