"""What ``/metrics`` says of gangs."""

import contextlib
from collections import Counter as Tally
from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from podium.framework.metrics import exponential
from podium.scheduler.gangs.attempts import GangAttempt
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import Group, Phase

#: From 1 ms, as upstream, and below it, where nearly all of Podium's cycles are.
_CYCLE: Final = [0.00001, 0.00005, 0.0001, 0.0005, *exponential(0.001, 2, 15)]


def listed(gangs: Gangs) -> list[Group]:
    """Return the gangs; a step may change them meanwhile, then the next look is as good."""
    for _ in range(3):
        with contextlib.suppress(RuntimeError):
            return list(gangs)
    return []


class GangMetrics:
    """kube-scheduler's metrics of pod groups, for gangs however they are declared, and Podium's own."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "scheduler_podgroup_schedule_attempts",
            "Number of attempts to schedule pod group, by the result. 'unschedulable' means a pod group "
            "could not be scheduled, while 'error' means an internal scheduler problem.",
            ["result", "profile"],
            registry=registry,
        )
        self._duration = Histogram(
            "scheduler_podgroup_scheduling_attempt_duration_seconds",
            "Pod group scheduling attempt latency in seconds",
            ["result", "profile"],
            buckets=_CYCLE,
            registry=registry,
        )
        self._algorithm = Histogram(
            "scheduler_podgroup_scheduling_algorithm_duration_seconds",
            "Pod group scheduling algorithm latency in seconds",
            buckets=_CYCLE,
            registry=registry,
        )
        self._preemptions = Counter(
            "scheduler_workload_preemption_attempts",
            "Total preemption attempts initiated by workload (including pod groups) in the cluster till now.",
            ["result"],
            registry=registry,
        )
        self._victims = Histogram(
            "scheduler_workload_preemption_victims",
            "Number of pod preemption victims caused by workload preemption.",
            buckets=exponential(1, 2, 11),
            registry=registry,
        )

        self._states = Gauge(
            "podium_gangs",
            "Gangs with members in the cluster, by how far they have come.",
            ["state"],
            registry=registry,
        )
        self._counts = GangCounts(registry)

    def show(self, gangs: Gangs) -> None:
        """Look at the gangs as they are now. May be called from any thread."""
        self._counts.follow(gangs)
        states = Tally(group.phase for group in listed(gangs))
        for phase in Phase:
            self._states.labels(phase.value).set(states[phase])

    def add(self, attempt: GangAttempt) -> None:
        """Count a cycle of a gang."""
        self._attempts.labels(attempt.result, attempt.profile).inc()
        self._duration.labels(attempt.result, attempt.profile).observe(attempt.duration)
        self._algorithm.observe(attempt.algorithm)
        if attempt.preemption:
            self._preemptions.labels(attempt.preemption).inc()
        if attempt.victims:
            self._victims.observe(attempt.victims)


class GangCounts(Collector):
    """What happened to gangs so far, as the scheduler itself has counted it."""

    _OUTCOMES: Final = ("placed", "unschedulable", "bound", "rolled_back", "timed_out", "preempted")

    def __init__(self, registry: CollectorRegistry) -> None:
        self._gangs: Gangs | None = None
        registry.register(self)

    def follow(self, gangs: Gangs) -> None:
        """Show the counts of these gangs from now on."""
        self._gangs = gangs

    def collect(self) -> Iterable[Metric]:
        """Return one counter with a sample per outcome, from 0."""
        text = (
            "Outcomes of gangs: placed and unschedulable are attempts, timed_out counts members that waited "
            "too long in Permit, preempted the gangs that others were evicted for."
        )
        family = CounterMetricFamily("podium_gang_outcomes", text, labels=["outcome"])
        for outcome in self._OUTCOMES:
            family.add_metric([outcome], self._gangs.counts[outcome] if self._gangs is not None else 0)
        return [family]
