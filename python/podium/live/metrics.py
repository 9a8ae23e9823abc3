"""Metrics under kube-scheduler's names and buckets, so that its dashboards and alerts work."""

import collections
import contextlib
import logging
import time
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from podium._core import Quantity
from podium.cluster.kube.backend import KubeCluster
from podium.framework.metrics import exponential
from podium.live.cachecheck import Differences
from podium.live.gang_metrics import GangMetrics, listed
from podium.live.shadow import Result
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.attempts import GangAttempt, placed_gangs
from podium.scheduler.gangs.group import GROUP, Phase
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Attempt, Observer
from podium.scheduler.tenants import Tenants

log = logging.getLogger("podium.cache")


#: From 1 ms, as upstream, and below it, where nearly all of Podium's cycles are.
_CYCLE: Final = [0.00001, 0.00005, 0.0001, 0.0005, *exponential(0.001, 2, 15)]
_POOLS: Final = ("active", "backoff", "unschedulable", "gated")

#: Where kube-scheduler counts members of which others are missing.
_INCOMPLETE: Final = "incomplete"


class Metrics:
    """All metrics of one process, in a registry of their own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.attempts = Counter(
            "scheduler_schedule_attempts",
            "Number of attempts to schedule pods, by the result.",
            ["result", "profile"],
            registry=registry,
        )
        self.algorithm = Histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Scheduling algorithm latency in seconds",
            buckets=_CYCLE,
            registry=registry,
        )
        self.sli = Histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "E2e latency for a pod being scheduled, from the time the pod is first seen.",
            ["attempts"],
            buckets=exponential(0.01, 2, 20),
            registry=registry,
        )
        self.tries = Histogram(
            "scheduler_pod_scheduling_attempts",
            "Number of attempts to successfully schedule a pod.",
            buckets=exponential(1, 2, 5),
            registry=registry,
        )
        self.preemptions = Counter(
            "scheduler_preemption_attempts",
            "Total preemption attempts in the cluster till now",
            registry=registry,
        )
        self.victims = Histogram(
            "scheduler_preemption_victims",
            "Number of selected preemption victims",
            buckets=exponential(1, 2, 7),
            registry=registry,
        )
        self.pending = Gauge(
            "scheduler_pending_pods",
            "Number of pending pods, by the queue type.",
            ["queue"],
            registry=registry,
        )
        self.cache = Gauge(
            "scheduler_scheduler_cache_size",
            "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
            ["type"],
            registry=registry,
        )
        self.leader = Gauge(
            "leader_election_master_status",
            "1 where this process leads, 0 where it stands by.",
            ["name"],
            registry=registry,
        )
        self.repairs = Counter(
            "podium_cache_differences",
            "Differences between the cache and the API server that a check found and repaired.",
            ["kind"],
            registry=registry,
        )
        self.checks = Counter(
            "podium_cache_checks", "Comparisons of the cache with the API server.", registry=registry
        )
        self.shadow = Counter(
            "podium_shadow_decisions",
            "Decisions of a dry run by how they compare with where the pod was bound.",
            ["result"],
            registry=registry,
        )
        self.events = Gauge(
            "podium_unwritten_events", "Events that are not in the API yet.", registry=registry
        )
        self.lost_events = Gauge(
            "podium_lost_events", "Events that were refused or given up.", registry=registry
        )
        self.binds = Gauge("podium_bindings_in_flight", "Bindings under way.", registry=registry)
        self.shares = Gauge(
            "podium_tenant_dominant_share",
            "Dominant share of a tenant, not divided by its weight.",
            ["tenant"],
            registry=registry,
        )
        self.usage = Gauge(
            "podium_tenant_requested",
            "What a tenant's pods on nodes request.",
            ["tenant", "resource"],
            registry=registry,
        )
        self.gangs = GangMetrics(registry)
        self.entities = Gauge(
            "scheduler_queued_entities",
            "Number of queued scheduling entities by the queue type: 'pod' (tried alone) or 'podgroup'.",
            ["queue", "type"],
            registry=registry,
        )
        self.observer = _Watching(self)

    def text(self, scheduler: Scheduler, cluster: KubeCluster, *, leads: bool) -> bytes:
        """Return what ``/metrics`` shows now. May be called from any thread."""
        self._show_queue(scheduler)
        sizes = cluster.store.sizes()
        self.cache.labels("nodes").set(sizes.get("Node", 0))
        self.cache.labels("pods").set(sizes.get("Pod", 0))
        self.cache.labels("assumed_pods").set(cluster.binding)
        self.leader.labels(scheduler.config.leader_election.resource_name).set(leads)
        self.events.set(cluster.recorder.unwritten)
        self.lost_events.set(cluster.recorder.lost)
        self.binds.set(cluster.binding)
        self.gangs.show(scheduler.gangs)
        if scheduler.tenants is not None:
            # A step may change the tenants meanwhile; then the next look is as good.
            for _ in range(3):
                with contextlib.suppress(RuntimeError):
                    self._show(scheduler.tenants)
                    break
        return generate_latest(self.registry)

    def _show_queue(self, scheduler: Scheduler) -> None:
        """Count pods, members of a gang where their gang is, and what is queued as one."""
        engine = scheduler.engine
        counts = engine.queue_counts()
        gangs, members = collections.Counter[str](), collections.Counter[str]()
        for group in listed(scheduler.gangs):
            pool = engine.pool(GROUP | group.handle) if group.queued else None
            if pool is not None:
                gangs[pool] += 1
                members[pool] += group.ready
            elif group.phase is Phase.GATED:
                members[_INCOMPLETE] += group.ready
        for pool in _POOLS:
            alone = max(0, counts.get(pool, 0) - gangs[pool])
            self.pending.labels(pool).set(alone + members[pool])
            self.entities.labels(pool, "pod").set(alone)
            self.entities.labels(pool, "podgroup").set(gangs[pool])
        self.pending.labels(_INCOMPLETE).set(members[_INCOMPLETE])

    def _show(self, tenants: Tenants) -> None:
        self.shares.clear()
        self.usage.clear()
        for tenant in tenants.all():
            self.shares.labels(tenant.name).set(tenant.dominant_share)
            for resource, amount in tenant.used.items():
                self.usage.labels(tenant.name, resource).set(float(Quantity(amount)))

    def compared(self, result: Result) -> None:
        """Count a comparison of a dry run."""
        self.shadow.labels(result).inc()

    def checked(self, *found: Differences) -> None:
        """Count and log what a cache check found."""
        self.checks.inc()
        number = sum(len(differences) for differences in found)
        for differences in found:
            for kind, lines in differences.found.items():
                self.repairs.labels(kind).inc(len(lines))
                for line in lines:
                    log.error("cache: %s %s", kind, line)
        log.info("cache check: %d differences", number)


class _Watching(Observer):
    """Counts what the scheduler does."""

    timing = True

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._first: dict[str, float] = {}
        self._tried: dict[str, int] = {}
        self._scheduled: dict[str, Counter] = {}
        self._after: dict[int, Histogram] = {}

    def attempted(self, attempt: Attempt) -> None:
        if attempt.result not in {"unschedulable", "error"}:
            return
        pod = attempt.entry.pod
        uid = pod.metadata.uid
        self._metrics.attempts.labels(attempt.result, pod.spec.scheduler_name).inc()
        self._tried[uid] = self._tried.get(uid, 0) + 1
        self._first.setdefault(uid, time.monotonic())
        if attempt.victims and attempt.entry.gang is None:
            self._metrics.preemptions.inc()
            self._metrics.victims.observe(len(attempt.victims))

    def placed(self, entries: Sequence[Entry], nodes: Sequence[str]) -> None:  # noqa: ARG002 (the contract's)
        now = time.monotonic()
        for entry in entries:
            self._first.setdefault(entry.pod.metadata.uid, now)

    def bound(self, entries: Sequence[Entry]) -> None:
        now = time.monotonic()
        numbers: dict[str, int] = {}
        for entry in entries:
            pod = entry.pod
            tries = self._tried.pop(pod.metadata.uid, 0) + 1
            since = self._first.pop(pod.metadata.uid, now)
            name = pod.spec.scheduler_name
            numbers[name] = numbers.get(name, 0) + 1
            self._metrics.tries.observe(tries)
            self._duration(min(tries, 15)).observe(now - since)
        for name, number in numbers.items():
            scheduled = self._scheduled.get(name)
            if scheduled is None:
                scheduled = self._scheduled[name] = self._metrics.attempts.labels("scheduled", name)
            scheduled.inc(number)

    def _duration(self, tries: int) -> Histogram:
        """Return the histogram of pods that took so many attempts; looking labels up costs more."""
        found = self._after.get(tries)
        if found is None:
            found = self._after[tries] = self._metrics.sli.labels(str(tries))
        return found

    def gang_attempted(self, attempt: GangAttempt) -> None:
        self._metrics.gangs.add(attempt)

    def timed(self, entries: Sequence[Entry], nanos: NDArray[np.uint64]) -> None:
        seconds = (nanos * 1e-9).tolist()
        for each in seconds:
            self._metrics.algorithm.observe(each)
        for attempt in placed_gangs(entries, seconds):
            self._metrics.gangs.add(attempt)

    def gone(self, entry: Entry) -> None:
        uid = entry.pod.metadata.uid
        self._first.pop(uid, None)
        self._tried.pop(uid, None)
