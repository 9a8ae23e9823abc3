"""Puts the live scheduler together and runs it: clients, cluster, scheduler, election, endpoints."""

import asyncio
import contextlib
import gc
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from podium.api.features import DEFAULT_GATES, FeatureGates
from podium.cluster.kube.backend import Clients, KubeCluster, Options
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.connection import Connection
from podium.cluster.kube.lease import Election
from podium.cluster.kube.pace import TokenBucket
from podium.errors import ClusterError
from podium.framework.config import SchedulerConfig
from podium.framework.metrics import FrameworkMetrics
from podium.live.cachecheck import Heard, compare_books, compare_objects
from podium.live.configz import configz
from podium.live.control import Control
from podium.live.driver import Driver
from podium.live.load import LiveLoad, follow_load
from podium.live.metrics import Metrics
from podium.live.shadow import Shadow
from podium.scheduler.loop import Scheduler

if TYPE_CHECKING:
    from podium.live.descheduling.work import Work
    from podium.live.serving import Serving

log = logging.getLogger("podium.live")

#: Seconds that requests under way, then events, get to end.
GRACE: Final = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What ``podium run`` is asked to do.

    Attributes:
        connection: the cluster.
        config: profiles and settings.
        gates: feature gates.
        once: drain what is pending, then end.
        dry_run: decide and never write; compare with what the cluster's scheduler does.
        check_every: seconds between two checks of the cache; 0: only on a signal.
        serving: the secure port; None: nothing is served.
        descheduling: what to do beside scheduling, while this process leads; None: nothing.

    """

    connection: Connection
    config: SchedulerConfig
    gates: FeatureGates = DEFAULT_GATES
    once: bool = False
    dry_run: bool = False
    check_every: float = 600.0
    serving: "Serving | None" = None
    descheduling: "Work | None" = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pod that is pending at the end."""

    pod: str
    message: str
    nominated: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        bound: pods that this process bound.
        pending: those that have no node.
        unwritten: events that are not in the API.
        shadow: the comparisons of a dry run.

    """

    bound: int
    pending: Sequence[Waiting]
    unwritten: int
    shadow: Shadow | None = None


@contextlib.asynccontextmanager
async def clients(connection: Connection, qps: float, burst: int) -> AsyncIterator[Clients]:
    """Open one client for watches, one for writes, one for events."""
    async with (
        KubeClient(connection, connections=0) as watch,
        KubeClient(connection, TokenBucket(qps, burst)) as write,
        KubeClient(connection, TokenBucket(qps, burst), connections=32) as events,
    ):
        yield Clients(watch, write, events)


async def run(job: Run) -> Ended:
    """Schedule until a signal comes, or once.

    Raises:
        LostLease: another process may lead now; this one must end.

    """
    access = job.config.client_connection
    async with clients(job.connection, access.qps, access.burst) as open_clients:
        return await _Life(job, open_clients).run()


class _Life:
    """One run from start to end."""

    def __init__(self, job: Run, open_clients: Clients) -> None:
        self._job = job
        self._loop = asyncio.get_running_loop()
        self.metrics = Metrics()
        budget = job.config.podium.plugin_budget.seconds
        plugins = FrameworkMetrics(self.metrics.registry, time.perf_counter, budget)
        self.scheduler = Scheduler(job.config, self.metrics.observer, plugins)
        options = Options(
            gates=job.gates,
            bind_timeout=_bind_timeout(job.config),
            wake=self._wake,
        )
        self.cluster = KubeCluster(open_clients, options)
        self.watcher = open_clients.watch
        self.shadow = Shadow(self.cluster, self.scheduler, self.metrics.compared) if job.dry_run else None
        # A lease is a write, so a dry run holds none.
        election = None if job.dry_run else _election(job.config)
        self.control = Control(job.connection, election, self._serving(), self._changed)
        self.driver = Driver(self.scheduler, self.shadow or self.cluster, lambda: self.control.leads)
        self._check_now = asyncio.Event()
        self._stopped = asyncio.Event()
        self._ready = False

    def _serving(self) -> "Serving | None":
        serving = self._job.serving
        if serving is None:
            return None
        return replace(
            serving,
            ready={"informer-sync": self._unsynced},
            metrics=lambda: self.metrics.text(self.scheduler, self.cluster, leads=self.control.leads),
            config=lambda: configz(self._job.config),
        )

    def _unsynced(self) -> str:
        if self._ready:
            return ""
        errors = [f"{kind}: {text}" for kind, text in self.cluster.following.errors.items()]
        return "; ".join(["not every kind is listed yet", *errors])

    def _wake(self) -> None:
        self.driver.wake()

    def _changed(self) -> None:
        self._loop.call_soon_threadsafe(self._on_change)

    def _on_change(self) -> None:
        if self.control.error is not None:
            self._stop()
        self.driver.wake()

    def _stop(self) -> None:
        self._stopped.set()
        self.driver.stop()

    async def run(self) -> Ended:
        # Nearly all that is made from here on lives until its object changes; rounds over it find nothing.
        gc.set_threshold(20_000, 10, 10)
        self.control.start()
        with _signals(self._stop, self._check_now.set):
            following = asyncio.create_task(self.cluster.run())
            checking = asyncio.create_task(self._check())
            descheduling = asyncio.create_task(self._deschedule())
            try:
                await _first(self._schedule(), following)
                if self.control.error is not None:
                    raise self.control.error
                await self._finish()
            finally:
                following.cancel()
                checking.cancel()
                descheduling.cancel()
                await asyncio.gather(following, checking, descheduling, return_exceptions=True)
                self.driver.close()
                await asyncio.to_thread(self.control.stop)
        return Ended(self.cluster.bound, self._pending(), self.cluster.recorder.unwritten, self.shadow)

    async def _check(self) -> None:
        """Check the cache on SIGUSR2 and on a schedule, for the first time soon after the start."""
        wait = self._job.check_every / 10
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait or None):
                    await self._check_now.wait()
            self._check_now.clear()
            wait = self._job.check_every
            if not self._ready:
                continue
            try:
                found = await compare_objects(self.watcher, self.cluster)
            except ClusterError as error:
                log.warning("cache check: %s", error)
                continue
            books = await self.driver.compare(
                lambda: Heard.so_far(self.cluster.store), lambda heard: compare_books(self.scheduler, heard)
            )
            self.metrics.checked(found, books)

    async def _deschedule(self) -> None:
        """Run the policy's cycles while this process leads; a cluster that does not answer is asked again."""
        work = self._job.descheduling
        if work is None:
            return
        from podium.live.descheduling.work import deschedule

        while True:
            if self._ready and self.control.leads:
                try:
                    await deschedule(work, lambda _: None)
                except ClusterError as error:
                    log.warning("descheduling: %s", error)
            await asyncio.sleep(1.0)

    def _pending(self) -> list[Waiting]:
        scheduler = self.scheduler
        return [
            Waiting(
                f"{entry.pod.metadata.namespace}/{entry.pod.metadata.name}",
                entry.message,
                scheduler.engine.nominated(entry.handle),
            )
            for entry in scheduler.state.entries()
            if entry.node is None and entry.pod.metadata.uid not in scheduler.state.gates.held
        ]

    async def _schedule(self) -> None:
        """Wait for all kinds to be listed, then schedule; returns when asked to stop."""
        synced = asyncio.create_task(self.cluster.synced())
        stopped = asyncio.create_task(self._stopped.wait())
        await asyncio.wait({synced, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not synced.done():
            synced.cancel()
            return
        stopped.cancel()
        synced.result()
        self._ready = True
        _spare_the_collector()
        log.info("synced: %s", self.cluster.store.sizes())
        load = asyncio.create_task(follow_load(self.driver, LiveLoad(self._job.connection)))
        try:
            await self.driver.run(once=self._job.once)
        finally:
            load.cancel()
            await asyncio.gather(load, return_exceptions=True)

    async def _finish(self) -> None:
        """Let what is under way end, so that nothing is left half done."""
        if not await self.cluster.settle(GRACE):
            log.warning("requests were still under way after %g s", GRACE)
        await self.driver.step()
        await self.cluster.settle(GRACE)
        # Who was asked to stop is killed after a while; who ends by itself may finish.
        await self.cluster.recorder.flush(GRACE, patient=not self._stopped.is_set())


def _election(config: SchedulerConfig) -> Election | None:
    settings = config.leader_election
    if not settings.leader_elect:
        return None
    return Election(
        namespace=settings.resource_namespace,
        name=settings.resource_name,
        lease=settings.lease_duration.seconds,
        renew_deadline=settings.renew_deadline.seconds,
        retry=settings.retry_period.seconds,
    )


def _bind_timeout(config: SchedulerConfig) -> Callable[[str], float]:
    seconds = {
        profile.scheduler_name: float(getattr(profile.args.get("VolumeBinding"), "bind_timeout_seconds", 600))
        for profile in config.profiles
    }
    return lambda name: seconds.get(name, 600.0)


def _spare_the_collector() -> None:
    """Keep the listed objects, which live for long, out of the garbage collector's rounds."""
    gc.freeze()


@contextlib.contextmanager
def _signals(stop: Callable[[], None], check: Callable[[], None]) -> Iterator[None]:
    """Stop on SIGTERM and SIGINT; check the cache on SIGUSR2, as kube-scheduler's debugger."""
    loop = asyncio.get_running_loop()
    handlers = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGUSR2: check}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)


async def _first(work: Coroutine[Any, Any, None], background: asyncio.Task[None]) -> None:
    """Wait for work, unless what it depends on fails."""
    task = asyncio.create_task(work)
    await asyncio.wait({task, background}, return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        background.result()
    task.result()
