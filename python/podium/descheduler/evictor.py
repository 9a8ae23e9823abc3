"""The one way to evict: limits per cycle, then the API; what was done and what was not, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from podium.api import Pod
from podium.descheduler.framework import Outcome
from podium.descheduler.limits import TEXTS, Counts, Cuts, Limits
from podium.descheduler.ports import Eviction, EvictionRefusedError, Evictions
from podium.descheduler.world import World


@dataclass(frozen=True, slots=True)
class Evicted:
    """A pod that was evicted, where from, and by what.

    Attributes:
        destination: the planned node, if any.
        gang: the gang that moves as a whole, empty for a pod that goes alone.

    """

    pod: Pod
    plugin: str
    profile: str
    destination: str | None = None
    gang: str = ""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A pod that a plugin wanted to evict.

    Attributes:
        why: ``pdb``, ``limit``, ``error`` (the API refused otherwise), or a reason of guarded mode.
        message: the full text.

    """

    pod: Pod
    plugin: str
    profile: str
    why: str
    message: str


@dataclass(slots=True)
class Log:
    """What one cycle did."""

    evicted: list[Evicted] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)


class Guard(Protocol):
    """What stands between a candidate and its eviction in guarded mode."""

    def company(self, wanted: Evicted) -> Sequence[Evicted]:
        """Return who goes with a pod, itself first; raises EvictionRefusedError if they may not."""

    def consider(self, company: Sequence[Evicted]) -> Sequence[Evicted]:
        """Plan the evictions of who goes together, or none of them; returns them with their destinations.

        Raises EvictionRefusedError with a reason.
        """

    def settle(self) -> tuple[Sequence[Evicted], Sequence[tuple[Evicted, EvictionRefusedError]]]:
        """Return the planned evictions that hold together, and those that do not."""

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain."""

    def bound(self, node: str) -> float:
        """Return what no promise of a pod of a node exceeds."""

    def gain(self, wanted: Evicted) -> float | None:
        """Ask the scheduler what moving a pod would gain; None if the plan would not take it."""

    def remember(self, done: Sequence[Evicted], cuts: Cuts) -> None:
        """Learn what was done, and where limits and budgets ended the work."""


class PodEvictor:
    """Shared by all profiles of a descheduler."""

    def __init__(self, api: Evictions, limits: Limits, grace_period_seconds: int | None = None) -> None:
        self._api = api
        self._limits = limits
        self._grace = grace_period_seconds
        self.start_cycle()

    def start_cycle(self, guard: Guard | None = None) -> None:
        """Forget the counts and the log of the last cycle; with a guard, plan first and evict at the end."""
        self.guard = guard
        self.log = Log()
        self.cuts = Cuts()
        self._counts = Counts(self._limits)
        self._listed: set[str] = set()

    def evict(self, world: World, wanted: Evicted, reason: str) -> Outcome:
        """Evict one pod if the limits allow.

        A pod that was evicted in this cycle may be so again and counts again, as the API has it; it is listed
        once. In a plan it goes once.
        """
        guard = self.guard
        if guard is not None and wanted.pod.metadata.uid in self._listed:
            return Outcome.EVICTED
        limited = self._counts.exceeded([wanted.pod])
        if limited is not None:
            self.limit(wanted, limited, TEXTS[limited])
            return limited
        try:
            if guard is not None:
                done = guard.consider(self._company(guard, wanted))
            else:
                done = [wanted]
                self._send(wanted, reason)
        except EvictionRefusedError as refusal:
            self.block(wanted, refusal.why, str(refusal))
            # A plan that is full takes nothing more, whoever asks.
            return Outcome.TOTAL_LIMIT if refusal.ends_plan else Outcome.REFUSED
        for item in done:
            self._counts.add(item.pod)
            if item.pod.metadata.uid not in self._listed:
                self._listed.add(item.pod.metadata.uid)
                self.log.evicted.append(item)
                world.set_terminating(item.pod)
        return Outcome.EVICTED

    def _company(self, guard: Guard, wanted: Evicted) -> Sequence[Evicted]:
        """Return who goes with a pod; raises EvictionRefusedError where the limits have no room for all."""
        company = guard.company(wanted)
        limited = self._counts.exceeded([item.pod for item in company])
        if limited is not None:
            self.cuts.note(wanted.pod, limited)
            text = f"gang {company[0].gang} of {len(company)}: {TEXTS[limited]}"
            raise EvictionRefusedError(text, why="limit")
        return company

    def _send(self, wanted: Evicted, reason: str) -> None:
        self._api.evict(self._eviction(wanted, reason))

    def _eviction(self, wanted: Evicted, reason: str) -> Eviction:
        by = f"triggered by {wanted.profile}/{wanted.plugin}: {reason}"
        return Eviction(wanted.pod, by, self._grace)

    def finish(self) -> None:
        """End the cycle: with a guard, the plan that holds is carried out now."""
        if self.guard is None:
            return
        planned, dropped = self.guard.settle()
        done = [item for company in companies(planned) for item in self._carry_out(company)]
        for wanted, reason in dropped:
            self.block(wanted, reason.why, str(reason))
        self.log.evicted = done
        # A pod that was refused at first may have taken another's place in the plan.
        gone = {wanted.pod.metadata.uid for wanted in done}
        self.log.blocked = [item for item in self.log.blocked if item.pod.metadata.uid not in gone]
        self.guard.remember(done, self.cuts)

    def _carry_out(self, company: Sequence[Evicted]) -> list[Evicted]:
        """Evict who goes together: nobody if the API would refuse one of them now. Returns who went.

        Should the API refuse one all the same, the rest stays.
        """
        reasons = [f"to {item.destination}" if item.destination else "" for item in company]
        done: list[Evicted] = []
        try:
            if len(company) > 1:
                self._api.rehearse([self._eviction(*pair) for pair in zip(company, reasons, strict=True)])
            for wanted, reason in zip(company, reasons, strict=True):
                self._send(wanted, reason)
                done.append(wanted)
        except EvictionRefusedError as refusal:
            for wanted in company[len(done) :]:
                self.block(wanted, refusal.why, str(refusal))
        return done

    def limit(self, wanted: Evicted, outcome: Outcome, message: str) -> None:
        """Note a pod that a limit keeps."""
        self.cuts.note(wanted.pod, outcome)
        self.block(wanted, "limit", message)

    def block(self, wanted: Evicted, why: str, message: str) -> None:
        """Note a pod that is not evicted."""
        if why == "pdb":
            self.cuts.pods.append(wanted.pod)
        self.log.blocked.append(Blocked(wanted.pod, wanted.plugin, wanted.profile, why, message))


def companies(plan: Sequence[Evicted]) -> Iterator[list[Evicted]]:
    """Yield who goes together: single pods, and gangs, whose members follow one another."""
    company: list[Evicted] = []
    for item in plan:
        if company and not (item.gang and item.gang == company[0].gang):
            yield company
            company = []
        company.append(item)
    if company:
        yield company
