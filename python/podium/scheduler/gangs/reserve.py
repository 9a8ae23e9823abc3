"""A large gang at the head holds places for later; smaller pods may use them until then.

With ``runtime`` a pod may run in the gap if it declares that it ends before the gang can start, with
``preemptible`` if the gang can evict it. Places are held by nomination, so nothing else of at most the gang's
priority takes them, and the gang starts when those that run there now have left: no later than they end.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import numpy as np

from podium._core import Engine
from podium.api import Pod
from podium.api.gangs import RUN_TIME
from podium.framework.duration import Duration
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.nominations import give_back
from podium.scheduler.gangs.room import RoomMaker
from podium.scheduler.state import State

SECOND: Final = 1_000_000_000

#: When a pod ends that does not say so.
SOMETIME: Final = 2**62


def run_time(pod: Pod) -> int | None:
    """Return how long a pod runs at most, in nanoseconds, by its own account; None if it does not say."""
    declared = (pod.metadata.annotations or {}).get(RUN_TIME)
    if declared is not None:
        try:
            return Duration.parse(declared).nanoseconds
        except ValueError:
            return None
    deadline = pod.spec.active_deadline_seconds
    return None if deadline is None else deadline * SECOND


def _started(entry: Entry, now: int) -> int:
    """Return when a pod on a node began; one whose binding is under way begins now."""
    if entry.placed_at is not None:
        return entry.placed_at
    if not entry.pod.spec.node_name:
        return now
    said = entry.pod.status.start_time
    start = round(datetime.fromisoformat(said).timestamp() * SECOND) if said else 0
    # On a virtual clock what ran before is as old as the clock.
    return start if start <= now else 0


class Reservation:
    """The places that are held for one gang."""

    def __init__(self, engine: Engine, state: State, policy: str) -> None:
        self._engine = engine
        self._state = state
        self._policy = policy
        self.group: Group | None = None
        self.until = SOMETIME
        """When the gang can start if pods end as they said."""
        self._places: dict[str, str] = {}

    def consider(self, group: Group, now: int, planner: RoomMaker | None) -> None:
        """Hold places for a gang that has none, unless they are held for another or it can never run.

        ``planner`` asks the plugins that concern its members; None: there are none.
        """
        if self._policy == "none":
            return
        if self.group is not None and self.group is not group and self._still_waits(self.group):
            if self.group.description.priority_or_zero >= group.description.priority_or_zero:
                return
            self.release(now, group)
        handles, ends = self._ends(now)
        if planner is None:
            found = self._engine.foresee_group(group.handle, handles, ends)
        else:
            found = planner.foresee(group, handles, ends)
        if found is None:
            if self.group is group:
                self.release(now, group)
            return
        self.group, self._places = group, {}
        self.until, places = found
        for handle, row in places:
            node = self._engine.node_name(row)
            self._engine.nominate(handle, node)
            self._places[self._state.by_handle(handle).pod.metadata.uid] = node

    def _still_waits(self, group: Group) -> bool:
        return bool(group.members) and group.need > 0 and group.queued

    def _ends(self, now: int) -> tuple["np.typing.NDArray[np.uint32]", "np.typing.NDArray[np.int64]"]:
        handles, ends = [], []
        for entry in self._state.entries():
            if entry.node is None:
                continue
            length = run_time(entry.pod)
            handles.append(entry.handle)
            ends.append(SOMETIME if length is None else max(now, _started(entry, now) + length))
        return np.asarray(handles, dtype=np.uint32), np.asarray(ends, dtype=np.int64)

    def places(self, group: Group) -> Mapping[str, str]:
        """Return the nodes that are held for a gang's members, by uid."""
        return self._places if self.group is group else {}

    def release(self, now: int, trying: Group | None = None) -> None:
        """Hold nothing any more, and let others know; ``trying`` is the gang whose turn it is."""
        if self.group is not None:
            gang = None if trying is None else trying.handle
            give_back(self._engine, self.group.pending(), now, gang=gang)
        self.group, self._places, self.until = None, {}, SOMETIME

    def gap_for(self, entry: Entry, now: int) -> Group | None:
        """Return the gang whose places a pod may use meanwhile, None if it may use none."""
        group = self.group
        if group is None or entry.gang is group:
            return None
        if not self._still_waits(group):
            self.release(now)
            return None
        if self._policy == "preemptible":
            mine = (entry.pod.spec.priority or 0) < group.description.priority_or_zero
            return group if mine else None
        length = run_time(entry.pod)
        return group if length is not None and now + length <= self.until else None
