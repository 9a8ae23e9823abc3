"""Scheduling cycles of gangs, as metrics want to hear of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from podium.scheduler.entry import Entry
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.whole import Gang


@dataclass(frozen=True, slots=True)
class GangAttempt:
    """One scheduling cycle of one gang.

    Attributes:
        profile: the scheduler name of its members.
        result: ``scheduled``, ``unschedulable``, ``waiting_on_preemption`` or ``error``.
        algorithm: seconds until its members had places, or it was known that they have none.
        duration: seconds of the whole cycle.
        preemption: what came of preemption: ``Success`` or ``Unschedulable``; empty: it was not tried.
        victims: how many pods are evicted.

    """

    profile: str
    result: str
    algorithm: float
    duration: float
    preemption: str = ""
    victims: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a cycle ended that the core stopped at; fields as those of :class:`GangAttempt`."""

    result: str
    preemption: str = ""
    victims: int = 0

    def attempt(self, group: Group, algorithm: float, duration: float) -> GangAttempt:
        """Return the whole attempt."""
        return GangAttempt(profile_of(group), self.result, algorithm, duration, self.preemption, self.victims)


def profile_of(group: Group) -> str:
    """Return the scheduler name of a gang."""
    return next(iter(group.members.values())).pod.spec.scheduler_name


def placed_gangs(entries: Iterable[Entry], seconds: Iterable[float]) -> Iterator[GangAttempt]:
    """Yield the gangs among pods that the core has placed, given how long each of its cycles took.

    A gang is placed in one cycle and its members follow one another; every other pod has one of its own.
    """
    times = iter(seconds)
    before: Gang | None = None
    for entry in entries:
        gang = entry.gang
        if gang is None or (isinstance(gang, Group) and entry.pod.metadata.uid in gang.surplus):
            next(times, 0.0)
            before = None
        elif gang is not before:
            before = gang
            taken = next(times, 0.0)
            yield GangAttempt(entry.pod.spec.scheduler_name, "scheduled", taken, taken)
