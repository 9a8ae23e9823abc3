"""What fair shares do for a pod that fits nowhere: others give back, or space is kept for who waits long.

Whose turn it is never depends on age. But a pod that needs much in one place could wait for ever for others
that need little, so after ``PATIENCE`` one such pod at a time gets a node where space is kept for it until it
fits: it waits no longer than the pods on that node run, and the next one comes after it.

Reclaim evicts only what lets the pod fit, never for a tenant that would then be ahead of those who gave, so
nobody can claim it back. It goes on when the pod is on its node, and charged, and not before; the space is
kept for the pod, so victims that come again do not take it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium._core import Engine, GangEviction
from podium.cluster.port import Action, Preempt
from podium.framework.config import TenantSettings
from podium.scheduler.entry import Entry
from podium.scheduler.observer import Attempt, Observer
from podium.scheduler.state import State
from podium.scheduler.tenants import Tenants
from podium.scheduler.waiting import WaitingRoom

#: How long a pod waits before space is kept for it, in nanoseconds.
PATIENCE: Final = 300 * 1_000_000_000


class Relief:
    """Space for pods that cannot be placed, one decision per failed attempt."""

    def __init__(self, state: State, tenants: Tenants, settings: TenantSettings) -> None:
        self._engine: Engine = state.engine
        self._state = state
        self._tenants = tenants
        self._settings = settings.reclaim
        self._holders: Sequence[Entry] = ()
        """Who has space kept for it."""
        self._takers: Sequence[Entry] = ()
        """For whom others leave: a pod, or the members of a gang."""
        self._leaving: Sequence[Entry] = ()

    def awaits(self, entry: Entry) -> bool:
        """Whether pods are still leaving for this one, so that nothing more is to be done for it."""
        return entry in self._takers and any(map(self._is_known, self._leaving))

    def give(self, attempt: Attempt, now: int, actions: list[Action]) -> Attempt:
        """Look for space after a failed attempt; returns the attempt with what came of it."""
        entry = attempt.entry
        if self._settings.enabled and not self._wait_still(self._takers, (entry,)):
            found = self._reclaim(attempt, now, actions)
            if found is not None:
                return found
        row = self._place_to_keep(entry, now)
        if row is None:
            return attempt
        self._engine.keep_space(entry.handle, row)
        self._holders = (entry,)
        return replace(attempt, nominated=self._engine.node_name(row))

    def _reclaim(self, attempt: Attempt, now: int, actions: list[Action]) -> Attempt | None:
        entry = attempt.entry
        found = self._engine.reclaim(entry.handle, *self._all_spared(now))
        if found is None:
            return None
        row, handles = found
        node = self._engine.node_name(row)
        victims = self._state.by_handles(handles)
        self._engine.keep_space(entry.handle, row)
        self._takers, self._leaving = (entry,), victims
        actions += [Preempt(victim.pod, entry.pod, node) for victim in victims]
        message = f"{attempt.message} reclaim: {len(victims)} pods of tenants above their share leave {node}."
        return replace(attempt, message=message, nominated=node, victims=victims)

    def give_gang(
        self,
        find: Callable[[NDArray[np.uint32], NDArray[np.uint32]], GangEviction | None],
        members: Sequence[Entry],
        now: int,
    ) -> GangEviction | None:
        """Look for pods that owe a gang its places, and keep those; None: there are none.

        Args:
            find: plans who leaves, given handles of pods and of tenants that give nothing.
            members: those without a node.
            now: the time.

        """
        if not self._settings.enabled or self._wait_still(self._takers, members):
            return None
        found = find(*self._all_spared(now))
        if found is None:
            return None
        for handle, row in found.places:
            self._engine.keep_space(handle, row)
        self._takers = self._state.by_handles(handle for handle, _ in found.places)
        self._leaving = self._state.by_handles(found.victims)
        return found

    def _all_spared(self, now: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return handles of pods and of tenants that give nothing."""
        pods = np.fromiter((spared.handle for spared in self._spared(now)), dtype=np.uint32)
        return pods, np.asarray(self._tenants.not_reclaimable(), dtype=np.uint32)

    def _spared(self, now: int) -> Iterator[Entry]:
        """Yield pods that run too short a time."""
        least = self._settings.min_run_time.nanoseconds
        for entry in self._state.entries():
            if entry.node is not None:
                ran = now - _started(entry)
                if 0 <= ran < least:
                    yield entry

    def _place_to_keep(self, entry: Entry, now: int) -> int | None:
        if entry.failed_at is None:
            entry.failed_at = now
        if now - entry.failed_at < PATIENCE or self._wait_still(self._holders, (entry,)):
            return None
        kept = self._engine.nominated(entry.handle) if entry in self._holders else None
        return self._engine.roomiest(entry.handle, None if kept is None else self._engine.row(kept))

    def _wait_still(self, entries: Sequence[Entry], others: Sequence[Entry]) -> bool:
        """Whether some of ``entries``, none of the others, still wait for the space that is kept for them."""
        waiting = [entry for entry in entries if entry.node is None and self._is_known(entry)]
        return bool(waiting) and not any(entry in others for entry in waiting)

    def _is_known(self, entry: Entry) -> bool:
        return self._state.entry(entry.pod.metadata.uid) is entry


class Bindings(Observer):
    """Notes when pods were bound: reclaim lets them run for a while, and they end by a time they declare."""

    def __init__(self, clock: WaitingRoom) -> None:
        self._clock = clock

    def bound(self, entries: Sequence[Entry]) -> None:
        """Note the time."""
        for entry in entries:
            entry.placed_at = self._clock.now


def _started(entry: Entry) -> int:
    """Return when a pod came onto its node; pods that do not say ran long before this scheduler began."""
    if entry.placed_at is not None:
        return entry.placed_at
    started = entry.pod.status.start_time
    return round(datetime.fromisoformat(started).timestamp() * 1_000_000_000) if started else -(2**62)
