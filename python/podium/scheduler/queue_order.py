"""The queue in the order of a plugin written in Python.

The core orders by numbers. So every queued pod has a place among all others, found by asking ``less`` as
often as a search takes; what the core has to hear is the places that are new or had to move.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from typing import Any

import numpy as np

from podium._core import Engine
from podium.api import Pod
from podium.errors import PluginError
from podium.framework.plugin import QueuedPod
from podium.scheduler.entry import Entry
from podium.scheduler.observer import Observer
from podium.scheduler.places import Places

_SECOND = 1_000_000_000

log = logging.getLogger("podium.framework")


@dataclass(frozen=True, slots=True)
class Queued:
    """See ``podium.framework.plugin.QueuedPod``."""

    pod: Pod
    timestamp: float
    attempts: int = 0


class QueueOrder(Observer):
    """Tells the core where pods stand. A place is found when a pod enters the queue, comes back or changes.

    A ``less`` that raises, or answers with no bool, is logged and taken for no: such pods stay in the order
    in which they came.
    """

    def __init__(self, engine: Engine, less: Callable[[QueuedPod, QueuedPod], bool]) -> None:
        self._engine = engine
        self._less = less
        self._key = cmp_to_key(self._compare)
        self._places = Places()
        self._queued: dict[int, Queued] = {}
        engine.order_by_places()

    def _compare(self, a: Queued, b: Queued) -> int:
        try:
            return -1 if self._less(a, b) else 0
        except PluginError:
            log.exception("the order of the queue")
            return 0

    def enter(self, entries: Sequence[Entry], now: int) -> None:
        """Place pods that were just queued."""
        timestamp = now / _SECOND
        for entry in entries:
            self._place(entry.handle, Queued(entry.pod, timestamp))
        self._tell()

    def changed(self, entry: Entry) -> None:
        """Place a waiting pod anew whose object changed."""
        known = self._queued.get(entry.handle)
        if known is not None:
            self._place(entry.handle, replace(known, pod=entry.pod))
            self._tell()

    def returned(self, handle: int, now: int) -> None:
        """Place a pod anew that was tried and goes back to the queue."""
        known = self._queued.get(handle)
        if known is not None:
            self._place(handle, Queued(known.pod, now / _SECOND, self._engine.attempts(handle)))
            self._tell()

    def leave(self, handle: int) -> None:
        """Forget a pod that is bound or gone."""
        if self._queued.pop(handle, None) is not None:
            self._places.remove(handle)

    def bound(self, entries: Iterable[Entry]) -> None:
        """See ``Observer``."""
        for entry in entries:
            self.leave(entry.handle)

    def _place(self, handle: int, queued: Queued) -> None:
        if handle in self._queued:
            self._places.remove(handle)
        self._queued[handle] = queued
        key: Any = self._key(queued)
        self._places.insert(handle, key)

    def _tell(self) -> None:
        moved = self._places.take_moved()
        if moved:
            handles, places = np.array(list(moved), np.uint32), np.array(list(moved.values()), np.uint64)
            self._engine.set_places(handles, places)
