"""What plugins ask for from any thread: taken by the loop at the start of its next cycle, in order."""

import threading
from collections.abc import Iterable

from podium.api import Pod
from podium.cluster.port import Emit


class Inbox:
    """Requests of plugins. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._activate: list[str] = []
        self._emit: list[Emit] = []
        self.now = 0
        """The scheduler's clock in nanoseconds."""

    def __bool__(self) -> bool:
        """Whether something was asked for."""
        return bool(self._activate or self._emit)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Ask for pods to be tried at once."""
        uids = [pod.metadata.uid for pod in pods]
        with self._lock:
            self._activate += uids

    def emit(self, event: Emit) -> None:
        """Ask for an event to be recorded."""
        with self._lock:
            self._emit.append(event)

    def take(self) -> tuple[list[str], list[Emit]]:
        """Return uids of pods to activate and events to record, and forget them."""
        if not self:
            return [], []
        with self._lock:
            taken = self._activate, self._emit
            self._activate, self._emit = [], []
            return taken
