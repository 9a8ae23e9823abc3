"""Pods held in Permit. ``allow``, ``reject`` and time may come from anywhere; whoever comes first decides.

Everything is decided here, under one lock, in the order of arrival. The effects wait in an inbox until the
loop takes them at the start of its next cycle.
"""

import heapq
import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping

from podium.api import Pod
from podium.framework.duration import Duration
from podium.framework.status import SUCCESS, Code, Status

SECOND = 1_000_000_000


class HeldPod:
    """A pod in Permit; see ``podium.framework.handle.WaitingPod``."""

    __slots__ = ("_room", "decision", "node_name", "pending", "pod", "since")

    def __init__(self, room: "WaitingRoom", pod: Pod, node_name: str, plugins: Mapping[str, float]) -> None:
        self._room = room
        self.pod = pod
        self.node_name = node_name
        self.pending = dict(plugins)
        """Plugin -> seconds; those that have not allowed the pod yet."""
        self.decision: Status | None = None
        self.since = room.now

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        """The Permit plugins that have not allowed it yet."""
        return tuple(self.pending)

    def allow(self, plugin: str) -> None:
        """Say yes for one plugin; the pod goes on when the last one has."""
        self._room.allow(self, plugin)

    def reject(self, plugin: str, message: str) -> bool:
        """Turn the pod away as unschedulable; False if it had been decided before."""
        return self._room.decide(self, Status.unschedulable(message).by(plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """Turn the pod away because it is a victim: an error, so that it comes back after its backoff."""
        return self._room.decide(self, Status(Code.ERROR, (message,), plugin))


class WaitingRoom:
    """All pods in Permit, of all profiles. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, HeldPod] = {}
        self._timers: list[tuple[int, int, HeldPod, str]] = []
        self._order = itertools.count()
        self._inbox: list[HeldPod] = []
        self.now = 0
        """The time of the loop's current step."""

    def __len__(self) -> int:
        return len(self._held)

    @property
    def decided(self) -> bool:
        """Whether somebody has decided and the loop has not heard of it."""
        return bool(self._inbox)

    def hold(self, pod: Pod, node_name: str, plugins: Mapping[str, float]) -> HeldPod:
        """Hold a pod until every plugin has allowed it, each for at most its seconds."""
        held = HeldPod(self, pod, node_name, plugins)
        with self._lock:
            self._held[pod.metadata.uid] = held
            for plugin, seconds in plugins.items():
                if seconds * SECOND < 2**62:
                    at = self.now + round(seconds * SECOND)
                    heapq.heappush(self._timers, (at, next(self._order), held, plugin))
        return held

    def get(self, uid: str) -> HeldPod | None:
        """Return a pod that is held and undecided."""
        held = self._held.get(uid)
        return held if held is not None and held.decision is None else None

    def holds(self, uid: str) -> bool:
        """Whether a pod is here still, decided or not."""
        return uid in self._held

    def __iter__(self) -> Iterator[HeldPod]:
        """Walk over the undecided pods, in the order in which they came."""
        with self._lock:
            return iter([held for held in self._held.values() if held.decision is None])

    def allow(self, held: HeldPod, plugin: str) -> None:
        """Take one plugin's consent."""
        with self._lock:
            held.pending.pop(plugin, None)
            if not held.pending and held.decision is None:
                held.decision = SUCCESS
                self._inbox.append(held)

    def allow_together(self, uids: Iterable[str], plugin: str) -> bool:
        """Let pods go on that wait for this plugin alone, all of them or none; returns whether they do.

        None goes on if one of them is decided already, or is held by another plugin too.
        """
        with self._lock:
            pods = [held for uid in uids if (held := self._held.get(uid)) is not None]
            if not all(held.decision is None and held.pending.keys() <= {plugin} for held in pods):
                return False
            for held in pods:
                held.pending.clear()
                held.decision = SUCCESS
            self._inbox += pods
            return True

    def decide(self, held: HeldPod, status: Status) -> bool:
        """End the wait of a pod; returns whether this was the first word."""
        with self._lock:
            if held.decision is not None:
                return False
            held.decision = status
            self._inbox.append(held)
            return True

    def drop(self, uid: str) -> HeldPod | None:
        """Forget a pod: it is gone, or its wait is over."""
        with self._lock:
            held = self._held.pop(uid, None)
            if held is not None and held.decision is None:
                held.decision = Status.error("the pod is gone")
            return held

    def take(self) -> list[HeldPod]:
        """Return the pods that were decided since the last call, in order; time has its say last."""
        if not self._inbox and not (self._timers and self._timers[0][0] <= self.now):
            return []
        with self._lock:
            while self._timers and self._timers[0][0] <= self.now:
                self._time_out(*heapq.heappop(self._timers)[2:])
            decided, self._inbox = self._inbox, []
            decided = [held for held in decided if self._held.get(held.pod.metadata.uid) is held]
            for held in decided:
                del self._held[held.pod.metadata.uid]
            return decided

    def _time_out(self, held: HeldPod, plugin: str) -> None:
        if held.decision is not None or plugin not in held.pending:
            return
        waited = Duration.from_seconds(held.pending[plugin])
        text = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
        held.decision = Status.unschedulable(text).by(plugin)
        self._inbox.append(held)

    def next_time(self) -> int | None:
        """Return when the next wait runs out, None if none does."""
        with self._lock:
            while self._timers:
                at, _, held, plugin = self._timers[0]
                if held.decision is None and plugin in held.pending:
                    return at
                heapq.heappop(self._timers)
        return None
