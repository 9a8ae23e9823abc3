"""The whole scheduling loop on a generated workload, measured.

The clock starts when the pods are API objects outside the queue and stops when the last one is bound; what
compiling, queueing, scheduling and binding them costs is in it. Building the cluster is not.
"""

import resource
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from podium.cluster.port import Applied, Event, Removed
from podium.cluster.simulated import SimulatedCluster
from podium.collector import collector_paused
from podium.framework.config import SchedulerConfig
from podium.scheduler.entry import Entry
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Observer
from podium.simulator.workloads import Change, Step, Workload

#: Cycles between two looks at the clock.
_SLICE = 2048

#: Rounds of retries without any progress after which the pods that are left count as failed.
_FUTILE_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one run showed.

    Attributes:
        scheduled, failed: of the pods that were measured.
        seconds: from the first pod's arrival to the last binding.
        cycles: uint64 nanoseconds of each scheduling cycle that ended in a placement.

    """

    scheduled: int
    failed: int
    seconds: float
    cycles: NDArray[np.uint64]

    @property
    def pods_per_second(self) -> float:
        """Bound pods per second; those that failed do not count."""
        return self.scheduled / self.seconds if self.seconds else 0.0

    def latency_us(self, percentile: float) -> float:
        """Return a percentile of the cycles in microseconds; 0 if there was none."""
        return float(np.percentile(self.cycles, percentile)) / 1000 if len(self.cycles) else 0.0


class _Meter(Observer):
    """Counts the measured pods that get a node, and keeps the times of cycles."""

    timing = True

    def __init__(self) -> None:
        self.measured: frozenset[str] = frozenset()
        self.bound_pods = 0
        self.cycles: list[NDArray[np.uint64]] = []

    def bound(self, entries: Sequence[Entry]) -> None:
        """Count the ones that are measured."""
        self.bound_pods += len(self.measured.intersection([entry.pod.metadata.uid for entry in entries]))

    def timed(self, entries: Sequence[Entry], nanos: NDArray[np.uint64]) -> None:  # noqa: ARG002 (the contract's)
        """Keep the times of one run of cycles."""
        self.cycles.append(nanos)


class Bench:
    """One run of one workload."""

    def __init__(self, workload: Workload, config: SchedulerConfig) -> None:
        self._workload = workload
        self._meter = _Meter()
        self._cluster = SimulatedCluster()
        self._scheduler = Scheduler(config, self._meter)

    def run(self) -> Measurement:
        """Build the cluster, let the parked pods find out that they cannot run, then measure."""
        self._prepare()
        pods = self._workload.pods
        with collector_paused():
            started = perf_counter()
            self._cluster.apply(pods)
            ended = self._drive(len(pods))
        bound = self._meter.bound_pods
        cycles = np.concatenate(self._meter.cycles) if self._meter.cycles else np.empty(0, dtype=np.uint64)
        return Measurement(bound, len(pods) - bound, ended - started, cycles)

    def _prepare(self) -> None:
        workload = self._workload
        self._cluster.apply(workload.nodes)
        self._cluster.apply(workload.objects)
        self._cluster.apply(workload.bound)
        self._cluster.apply(workload.parked)
        while self._turn(_SLICE):
            pass
        self._meter.cycles.clear()
        self._meter.measured = frozenset(pod.metadata.uid for pod in workload.pods)

    def _turn(self, limit: int) -> bool:
        """Run some cycles; returns whether anything happened."""
        scheduler, cluster = self._scheduler, self._cluster
        before = scheduler.tries
        actions = scheduler.step(cluster.events(), cluster.now(), limit)
        cluster.perform(actions)
        return bool(actions) or scheduler.tries != before

    def _drive(self, pods: int) -> float:
        """Run until all pods are bound or no more will be; returns the time of the last binding."""
        meter, steps = self._meter, list(reversed(self._workload.steps))
        last, futile = perf_counter(), 0
        while meter.bound_pods < pods and futile <= _FUTILE_ROUNDS:
            before = meter.bound_pods
            while steps and steps[-1].after <= before:
                self._cluster.schedule(self._cluster.now(), _event(steps.pop()))
            self._cluster.advance(self._cluster.now())
            limit = min(_SLICE, steps[-1].after - before) if steps else _SLICE
            worked = self._turn(limit)
            if meter.bound_pods > before:
                last, futile = perf_counter(), 0
            if not worked and not self._let_time_pass():
                break
            futile += not worked
        return last

    def _let_time_pass(self) -> bool:
        """Move the virtual clock to whatever is next; returns False if nothing is."""
        due = [time for time in (self._cluster.next_time(), self._scheduler.next_retry()) if time is not None]
        if due:
            self._cluster.advance(min(due))
        return bool(due)


def _event(step: Step) -> Event:
    if step.change is Change.DELETE:
        return Removed(step.item)
    return Applied(step.item)


def peak_rss_mib() -> float:
    """Return the most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
