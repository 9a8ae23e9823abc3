"""Who hears from the state of pods and objects, while it applies what happened."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from podium.api import Object, Pod
from podium.scheduler.entry import Entry


class Follower(Protocol):
    """Hears what becomes of pods that have a node and are not bound yet."""

    def abandon(self, entry: Entry) -> None:
        """Hear that a pod is gone, before the core forgets it."""

    def bound_by_another(self, entry: Entry) -> None:
        """Hear that a pod is bound."""


class QueueOrder(Protocol):
    """Says where pods stand in the queue; see ``podium.scheduler.queue_order``."""

    def enter(self, entries: Sequence[Entry], now: int) -> None:
        """Place pods that were just queued."""

    def changed(self, entry: Entry) -> None:
        """Place a waiting pod anew whose object changed."""

    def leave(self, handle: int) -> None:
        """Forget a pod that is bound or gone."""


class GangMembers(Protocol):
    """Hears of all pods, so that gangs know their members."""

    def take(self, entries: Sequence[Entry], likes: NDArray[np.int64], now: int) -> Iterator[Sequence[Entry]]:
        """Let new pods join their gangs; yields runs of those that are in none.

        ``likes`` are equal for pods that differ in name and uid alone.
        """

    def joined(self, entries: Iterable[Entry]) -> None:
        """Let pods that are on nodes join their gangs."""

    def strayed(self, pod: Pod) -> None:
        """Hear of a pod that another scheduler is responsible for."""

    def held(self, pod: Pod, why: str) -> None:
        """Hear of a pod that is kept from the queue, and by what."""

    def released(self, pod: Pod) -> None:
        """Hear of a pod that is kept from it no more."""

    def changed(self, entry: Entry, old: Pod) -> None:
        """Hear that a pod's object changed."""

    def left(self, entry: Entry, phase: str) -> None:
        """Hear that a pod is gone, before the core forgets it."""

    def observe(self, item: Object, *, gone: bool = False) -> None:
        """Hear of an object that is no Node; of pods only what is gone or ended matters."""

    def settle(self, now: int) -> None:
        """Draw the conclusions of all that was heard."""
