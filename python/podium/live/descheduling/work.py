"""The descheduler on a live cluster: it reads the cluster, plans, evicts through the API, and waits.

Each cycle lists what it needs anew, so that it judges the cluster as it is. The cycle itself runs in a
thread, since it asks the API in the middle of its work. What the scheduler would do is asked of one in this
process, given by the caller.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from podium.api import BY_NAME, Kind, Node, Object, Pod, PodDisruptionBudget
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.connection import Connection
from podium.cluster.kube.kinds import ALWAYS, OPTIONAL
from podium.cluster.kube.lease import Election, Elector
from podium.cluster.kube.listing import list_kind
from podium.cluster.kube.pace import TokenBucket
from podium.collector import collector_paused
from podium.descheduler.framework import PluginType
from podium.descheduler.loop import Descheduler, Turn
from podium.descheduler.nodereport import report
from podium.descheduler.policy.load import LoadedPolicy
from podium.descheduler.policy.model import PROMETHEUS
from podium.descheduler.ports import PrometheusClient, WhatIf
from podium.descheduler.profile import Sources
from podium.descheduler.shapes import Shapes
from podium.descheduler.smoothing import POLL
from podium.descheduler.world import SECOND, World
from podium.errors import ApiError, LostLease
from podium.live.descheduling.evictions import LiveEvictions
from podium.live.descheduling.load import HELD, LiveLoad

log = logging.getLogger("podium.descheduler")

KINDS: Final[Sequence[Kind]] = (BY_NAME["scheduling.k8s.io/v1", "PriorityClass"], *ALWAYS)

#: What declares gangs, which the scheduler that is asked must know of.
GROUPS: Final[Sequence[Kind]] = [kind for kind in OPTIONAL if kind.name == "PodGroup"]

#: What a server answers that does not know a kind, or does not show it to everybody.
_HIDDEN: Final = (403, 404)

#: As upstream elects: one leader per cluster, slow to give up.
ELECTION: Final = Election(
    namespace="kube-system", name="descheduler", lease=137.0, renew_deadline=107.0, retry=26.0
)


class Planning(WhatIf, Protocol):
    """A scheduler that can be asked, and that can be told what the cluster is like."""

    def begin(self, objects: Iterable[Object], pods: Iterable[Pod], now: int) -> None:
        """Take over the cluster as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What to do.

    Attributes:
        connection: the cluster.
        loaded: the policy.
        table: the plugins that there are.
        planning: the scheduler to ask in guarded mode; None: compat mode.
        prometheus: asked where the policy has such a provider.
        interval: nanoseconds between two cycles; None: one cycle.
        cycles: the most cycles; None: any number.
        dry_run: send nothing.
        elect: wait for a lease before the first cycle.
        qps: requests a second.
        burst: requests at once.

    """

    connection: Connection
    loaded: LoadedPolicy
    table: Mapping[str, PluginType]
    planning: Planning | None = None
    prometheus: PrometheusClient | None = None
    interval: int | None = None
    cycles: int | None = None
    dry_run: bool = False
    elect: bool = False
    qps: float = 50.0
    burst: int = 100


async def deschedule(work: Work, told: Callable[[Turn], None] | None = None) -> list[Turn]:
    """Run the cycles; ``told`` hears of each one when it is over, which an endless run does not keep.

    Raises:
        LostLease: another process may lead now.
        ClusterError: the cluster cannot be read in the first cycle.

    """
    async with KubeClient(work.connection, TokenBucket(work.qps, work.burst)) as client:
        life = _Life(work, client, told)
        if not work.elect or work.dry_run:
            return await life.run()
        async with KubeClient(work.connection) as own, _lease(own):
            return await life.run()


@contextlib.asynccontextmanager
async def _lease(client: KubeClient) -> AsyncIterator[None]:
    """Hold the lease for as long as the block runs; the block ends with LostLease when it is lost."""
    leading = asyncio.Event()
    holder = asyncio.create_task(Elector(client, ELECTION, leading.set).run())
    block = asyncio.current_task()
    lost = False

    def ended(task: asyncio.Task[None]) -> None:
        nonlocal lost
        lost = not task.cancelled()
        if lost and block is not None:
            block.cancel()

    holder.add_done_callback(ended)
    try:
        await leading.wait()
        yield
    except asyncio.CancelledError:
        if lost:
            raise LostLease("leaderelection lost") from holder.exception()
        raise
    finally:
        holder.cancel()
        await asyncio.gather(holder, return_exceptions=True)


class _Life:
    def __init__(self, work: Work, client: KubeClient, told: Callable[[Turn], None] | None) -> None:
        policy = work.loaded.policy
        self._work = work
        self._client = client
        self._told = told
        self._shapes = Shapes()
        guarded = work.planning is not None
        self._load = LiveLoad(client, time.time_ns, guarded=guarded) if policy.collects_metrics() else None
        sources = Sources(self._load, work.prometheus if policy.provider(PROMETHEUS) is not None else None)
        self._evictions = LiveEvictions(client, asyncio.get_running_loop(), dry_run=work.dry_run)
        self._descheduler = Descheduler(work.loaded, work.table, self._evictions, sources, work.planning)

    async def run(self) -> list[Turn]:
        polling = await self._begin_polling()
        done: list[Turn] = []
        try:
            while True:
                began = time.monotonic()
                turn = await self._turn()
                if self._told is not None:
                    self._told(turn)
                if self._work.interval is None or self._work.cycles is not None:
                    done.append(turn)
                if self._work.interval is None or len(done) == self._work.cycles:
                    return done
                left = self._work.interval / SECOND - (time.monotonic() - began)
                await asyncio.sleep(max(left, 0.0))
        finally:
            if polling is not None:
                polling.cancel()
                await asyncio.gather(polling, return_exceptions=True)

    async def _begin_polling(self) -> asyncio.Task[None] | None:
        """Read the metrics once, in guarded mode until they have been held; then go on in the background."""
        if self._load is None:
            return None
        await self._load.read_nodes()
        polling = asyncio.create_task(self._load.poll())
        if self._work.planning is not None and self._work.interval is None:
            # One cycle alone: it needs the samples that a loop gathers while it runs. Metrics Server has a
            # new one every 15 seconds.
            for _ in range(12 * HELD):
                if self._load.nodes():
                    break
                await asyncio.sleep(POLL / SECOND)
        return polling

    async def _turn(self) -> Turn:
        objects: list[Object] = []
        for kind in KINDS:
            objects += await list_kind(self._client, kind)
        for kind in GROUPS if self._work.planning is not None else ():
            objects += await self._list_if_served(kind)
        if self._load is not None:
            await self._load.read_pods()
        return await asyncio.to_thread(self._cycle, objects)

    async def _list_if_served(self, kind: Kind) -> Sequence[Object]:
        """List a kind that a cluster may lack."""
        try:
            return await list_kind(self._client, kind)
        except ApiError as error:
            if error.status in _HIDDEN:
                return ()
            raise

    @collector_paused()
    def _cycle(self, objects: Sequence[Object]) -> Turn:
        now = time.time_ns()
        world = World(objects, now, self._shapes)
        self._evictions.begin((x for x in objects if isinstance(x, PodDisruptionBudget)), world)
        if self._work.planning is not None:
            others: list[Any] = [item for item in objects if isinstance(item, Node)]
            others += [item for item in objects if not isinstance(item, Node | Pod)]
            self._work.planning.begin(others, world.pods, now)
        nodes = report(world, self._descheduler.nodes(world), self._descheduler.profiles)
        cycle = self._descheduler.cycle(world)
        for problem in self._evictions.told(cycle.evicted):
            log.warning("an event could not be written: %s", problem)
        for item in cycle.evicted:
            what = "Evicted pod in dry run mode" if self._work.dry_run else "Evicted pod"
            meta = item.pod.metadata
            where = f"{meta.namespace}/{meta.name} from {item.pod.spec.node_name}"
            log.info("%s: %s, strategy %s, profile %s", what, where, item.plugin, item.profile)
        return Turn(cycle, nodes)
