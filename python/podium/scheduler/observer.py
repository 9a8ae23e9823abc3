"""Whoever looks on: the simulator's recorder, the bench's meter, metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from podium.scheduler.entry import Entry

if TYPE_CHECKING:
    from podium.scheduler.failures import Refusal
    from podium.scheduler.gangs.attempts import GangAttempt


@dataclass(frozen=True, slots=True)
class Attempt:
    """One scheduling cycle of one pod, or the end of its binding cycle where that failed."""

    entry: Entry
    result: str
    """``scheduled``, ``waiting`` (held in Permit), ``unschedulable`` or ``error``."""
    node: str | None = None
    message: str = ""
    nominated: str | None = None
    victims: Sequence[Entry] = ()
    feasible: Sequence[str] | None = None
    """Nodes that passed every filter; None where it was not asked for."""
    together: bool = False
    """Whether it belongs to the same turn as the attempt before: another member of a gang."""


class Observer:
    """Sees every attempt. The default looks away."""

    #: Whether attempts come one by one with their feasible nodes; much slower.
    detailed = False

    #: Whether ``timed`` is to hear how long cycles take.
    timing = False

    def attempted(self, attempt: Attempt) -> None:
        """Look at one attempt; only failures are shown unless ``detailed``."""

    def gang_attempted(self, attempt: "GangAttempt") -> None:
        """Look at one cycle of a gang that Python had a part in; only where ``timing``."""

    def placed(self, entries: Sequence[Entry], nodes: Sequence[str]) -> None:
        """Look at a run of pods that got their nodes; some may be rolled back later."""

    def bound(self, entries: Sequence[Entry]) -> None:
        """Look at pods that are bound to ``entry.node`` now."""

    def rolled_back(self, entry: Entry, node: str, why: "Refusal") -> None:
        """Look at a pod that had a node, waited or was being bound, and has lost it."""

    def gone(self, entry: Entry) -> None:
        """Look at a pod that is about to be forgotten: it was deleted, or has ended."""

    def timed(self, entries: Sequence[Entry], nanos: NDArray[np.uint64]) -> None:
        """Hear of the pods of a run and how long the core took for each cycle; only where ``timing``.

        A gang is placed in one cycle and its members follow one another.
        """
