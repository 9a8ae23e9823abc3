"""What follows a failed attempt: the pod's status and events, and its way back into the queue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from podium._core import Engine
from podium.cluster.port import Action, Emit, PatchStatus
from podium.framework.status import Code, Status
from podium.scheduler.entry import Entry
from podium.scheduler.observer import Attempt, Observer

#: The longest note of an event.
_NOTE: Final = 1024


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an attempt failed.

    Attributes:
        result: ``unschedulable`` or ``error``.
        message: kube-scheduler's text.
        plugins: whose events can help the pod; with none it comes back after its backoff.
        pending: plugins that answered PENDING; their events bring it back without backoff.

    """

    result: str
    message: str
    plugins: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()

    @classmethod
    def on_one_node(cls, status: Status) -> "Refusal":
        """Say that Reserve or Permit turned a pod away from the node it had been given."""
        if not status.is_rejected:
            return cls("error", status.message)
        reasons = ", ".join(sorted(f"1 {reason}" for reason in status.reasons))
        text = f"0/1 nodes are available: {reasons}." if reasons else "0/1 nodes are available:"
        own = (status.plugin,)
        if status.code is Code.PENDING:
            return cls("unschedulable", text, pending=own)
        return cls("unschedulable", text, plugins=own)

    @classmethod
    def while_binding(cls, status: Status) -> "Refusal":
        """Say that a pod failed after Permit: nobody's event is waited for, whatever the code."""
        return cls("unschedulable" if status.is_rejected else "error", status.message)


class Failures:
    """Reports failed attempts and puts their pods back."""

    def __init__(self, engine: Engine, observer: Observer, bits: Mapping[str, int]) -> None:
        self._engine = engine
        self._observer = observer
        self._bits = bits
        self.returning: Callable[[int, int], None] | None = None
        """Hears of each handle that goes back to the queue, and when, before it does."""

    def put_back(self, entry: Entry, refusal: Refusal, now: int, actions: list[Action]) -> None:
        """Report a failed attempt without more to it, and return the pod to the queue."""
        self.record(Attempt(entry, refusal.result, message=refusal.message), actions)
        self.requeue(entry, refusal, now)

    def requeue(self, entry: Entry, refusal: Refusal, now: int) -> None:
        """Return a popped pod to the queue."""
        self.requeue_at(entry.handle, refusal, now)

    def requeue_at(self, handle: int, refusal: Refusal, now: int) -> None:
        """Return whatever was popped to the queue: a pod, or a gang."""
        rejected_by = sum(self._bits.get(name, 0) for name in set(refusal.plugins))
        pending_by = sum(self._bits.get(name, 0) for name in set(refusal.pending))
        if self.returning is not None:
            self.returning(handle, now)
        self._engine.put_back(handle, now, rejected_by, pending_by)

    def record(self, attempt: Attempt, actions: list[Action]) -> None:
        """Tell the observer, the pod's status and its events of a failed attempt."""
        entry = attempt.entry
        entry.message = attempt.message
        entry.victims = [f"{v.pod.metadata.namespace}/{v.pod.metadata.name}" for v in attempt.victims]
        self._observer.attempted(attempt)
        reason = "Unschedulable" if attempt.result == "unschedulable" else "SchedulerError"
        nominated = attempt.nominated
        stale = entry.gang is not None and nominated is None and entry.pod.status.nominated_node_name
        if stale and self._engine.nominated(entry.handle) is None:
            nominated = ""
        actions.append(PatchStatus(entry.pod.metadata.uid, reason, attempt.message, nominated))
        note = attempt.message
        if len(note) > _NOTE:
            note = note[: _NOTE - 4] + " ..."
        actions.append(Emit(entry.pod, "Warning", "FailedScheduling", "Scheduling", note))
