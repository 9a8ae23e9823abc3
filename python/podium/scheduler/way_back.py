"""The one way back of a pod that had a node: Unreserve in reverse, off the node, back into the queue."""

from typing import Final

from podium._core import Engine
from podium.cluster.port import Action
from podium.framework.events import Action as What
from podium.framework.events import Resource
from podium.scheduler.assumed import Assumed, Phase, Underway
from podium.scheduler.entry import Entry
from podium.scheduler.events import bit
from podium.scheduler.failures import Failures, Refusal
from podium.scheduler.observer import Observer
from podium.scheduler.state import State
from podium.scheduler.waiting import WaitingRoom

_POD_DELETED: Final = bit(Resource.ASSIGNED_POD, What.DELETE)


class WayBack(Underway):
    """Takes pods off the way to a binding."""

    def __init__(self, engine: Engine, state: State, failures: Failures, observers: list[Observer]) -> None:
        super().__init__()
        self.waiting = WaitingRoom()
        self._engine = engine
        self._state = state
        self._failures = failures
        self._observers = observers

    def roll_back(self, assumed: Assumed, why: Refusal, now: int, actions: list[Action]) -> None:
        """Undo what was done for a pod that was given a node, and put it back."""
        entry, phase = assumed.entry, assumed.phase
        self._withdraw(assumed)
        if entry.pod.spec.node_name:
            # Somebody else has bound it: it is where it is, and waits for nothing.
            return
        entry.node = None
        self._engine.forget(entry.handle)
        self._failures.put_back(entry, why, now, actions)
        if phase is not Phase.ASSUMED:
            self._state.announce(entry, _POD_DELETED, now, own=phase is Phase.WAITING)
            for observer in self._observers:
                observer.rolled_back(entry, assumed.node, why)

    def take_back(self, assumed: Assumed) -> None:
        """Undo a place in the cycle in which its wait began: nobody has seen it yet, so no event tells."""
        self._withdraw(assumed)
        assumed.entry.node = None
        self._engine.forget(assumed.entry.handle)

    def bound_by_another(self, entry: Entry) -> None:
        """Let go of a pod that has turned out to be bound although no binding was asked for."""
        assumed = self._assumed.get(entry.pod.metadata.uid)
        if assumed is not None and assumed.phase is not Phase.BINDING:
            self._withdraw(assumed)

    def abandon(self, entry: Entry) -> None:
        """Let go of a pod that is gone: plugins give back what they reserved for it."""
        uid = entry.pod.metadata.uid
        self._plain.discard(uid)
        assumed = self._assumed.get(uid)
        if assumed is not None:
            self._withdraw(assumed)
            for observer in self._observers:
                observer.rolled_back(entry, assumed.node, Refusal("error", "the pod is gone"))
        for observer in self._observers:
            observer.gone(entry)

    def _withdraw(self, assumed: Assumed) -> None:
        """End a machine: answers that are still out will find nobody; all plugins unreserve in reverse."""
        entry = assumed.entry
        self._leave(assumed)
        self.waiting.drop(entry.pod.metadata.uid)
        entry.epoch += 1
        if assumed.runner is not None:
            assumed.runner.unreserve(assumed.state, entry.pod, assumed.node)
