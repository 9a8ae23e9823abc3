"""The closed loop on a virtual clock: descheduler, scheduler, workload controllers and kubelets.

A cycle of the descheduler sees the cluster as it is; when it is over, evicted pods are gone, their
controllers have made new ones, the scheduler places those, and what the metrics say follows them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from podium.api import NodeMetrics, Object, Pod, PodDisruptionBudget, PodMetrics
from podium.api.manifest import Manifest
from podium.cluster.port import Applied, Removed
from podium.cluster.simulated import SimulatedCluster
from podium.collector import collector_paused
from podium.descheduler.framework import PluginType
from podium.descheduler.loop import Cycle, Descheduler, Turn
from podium.descheduler.nodereport import report
from podium.descheduler.policy.load import LoadedPolicy
from podium.descheduler.policy.model import PROMETHEUS
from podium.descheduler.ports import PrometheusClient
from podium.descheduler.profile import Sources
from podium.descheduler.shapes import Shapes
from podium.descheduler.smoothing import is_fresh
from podium.descheduler.world import World
from podium.framework.config import SchedulerConfig
from podium.scheduler.loop import Scheduler
from podium.simulator import run
from podium.simulator.evictions import SimulatedEvictions
from podium.simulator.given_load import GivenLoad
from podium.simulator.measured import MeasuredLoad
from podium.simulator.replacement import Controllers, started
from podium.simulator.whatif import Shadow

Mode = Literal["compat", "guarded"]

#: Time between two cycles unless asked for.
INTERVAL = 300_000_000_000

#: Times that preempted pods are replaced before the next cycle; each round may preempt again.
_PREEMPTION_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run.

    Attributes:
        now: the time of the first cycle, in nanoseconds since 1970.
        cycles: how many.
        interval: nanoseconds between two.
        mode: ``compat`` evicts as upstream does, ``guarded`` only where the scheduler says it helps.
        prometheus_url: the server that LoadAware asks, in place of its own arguments'.

    """

    now: int
    cycles: int = 1
    interval: int = INTERVAL
    mode: Mode = "compat"
    prometheus_url: str | None = None


@dataclass(slots=True)
class Rebalancing:
    """All cycles."""

    turns: list[Turn] = field(default_factory=list)
    pending: list[Pod] = field(default_factory=list)
    """Pods without a node at the end."""


def rebalance(
    manifest: Manifest,
    loaded: LoadedPolicy,
    table: Mapping[str, PluginType],
    config: SchedulerConfig,
    options: Options,
    prometheus: PrometheusClient | None = None,
) -> Rebalancing:
    """Run a policy on a manifest.

    Args:
        manifest: the cluster.
        loaded: the policy.
        table: the descheduler's plugins.
        config: the scheduler that places what was evicted.
        options: see there.
        prometheus: asked where the policy has such a provider.

    Raises:
        InputError: for a policy that cannot start.

    """
    return _Loop(manifest, loaded, table, config, options, prometheus).run()


class _Loop:
    def __init__(
        self,
        manifest: Manifest,
        loaded: LoadedPolicy,
        table: Mapping[str, PluginType],
        config: SchedulerConfig,
        options: Options,
        prometheus: PrometheusClient | None,
    ) -> None:
        self._options = options
        self._config = config
        policy = loaded.policy
        nodes, usages = manifest.of(NodeMetrics), manifest.of(PodMetrics)
        if options.mode == "guarded":
            # What is stale counts as missing, so that nothing is done because of it.
            nodes = [item for item in nodes if is_fresh(item.timestamp, options.now)]
            usages = [item for item in usages if is_fresh(item.timestamp, options.now)]
        self._load = MeasuredLoad(nodes, usages)
        sources = Sources(
            self._load if policy.collects_metrics() else None,
            prometheus if policy.provider(PROMETHEUS) is not None else None,
        )
        self._evictions = SimulatedEvictions(manifest.of(PodDisruptionBudget))
        made = Controllers()
        self._given = GivenLoad(self._load.samples, options.prometheus_url)
        self._shadow = (
            Shadow(config, lambda pod: made.replace(pod, self._time()), self._given)
            if options.mode == "guarded"
            else None
        )
        self._descheduler = Descheduler(loaded, table, self._evictions, sources, self._shadow)
        self._others = list(run.all_but_pods(manifest))
        self._shapes = Shapes()
        self._controllers = Controllers()
        self._cluster = SimulatedCluster()
        self._cluster.apply(self._others)
        for pods in run.bound_and_pending(manifest):
            self._cluster.apply(pods)
        self._scheduler: Scheduler | None = None
        self._preempted = 0

    def run(self) -> Rebalancing:
        result = Rebalancing()
        for number in range(1, self._options.cycles + 1):
            result.turns.append(self._turn(is_last=number == self._options.cycles))
        result.pending = [pod for pod in self._cluster.pods() if not pod.spec.node_name]
        return result

    @collector_paused()
    def _turn(self, *, is_last: bool) -> Turn:
        world = self._world()
        self._evictions.begin(world)
        if self._shadow is not None:
            self._shadow.begin(self._others, self._cluster.pods(), self._cluster.now())
        cycle = self._descheduler.cycle(world)
        if cycle.evicted or not is_last:
            self._close(cycle)
            world = self._world()
        nodes = self._descheduler.nodes(world)
        return Turn(cycle, report(world, nodes, self._descheduler.profiles))

    def _time(self) -> int:
        return self._options.now + self._cluster.now()

    def _world(self) -> World:
        return World([*self._others, *self._cluster.pods()], self._time(), self._shapes)

    def _close(self, cycle: Cycle) -> None:
        """Let the evicted pods leave, and everybody else act until the next cycle."""
        until = self._cluster.now() + self._options.interval
        leaving = [self._cluster.pod(wanted.pod.metadata.uid) for wanted in cycle.evicted]
        before = {pod.metadata.uid for pod in self._cluster.pods() if pod.spec.node_name}
        scheduler = self._scheduler = self._scheduler or Scheduler(self._config)
        # What moves from here on is not in the samples.
        self._cluster.perform(scheduler.step(self._cluster.events(), self._cluster.now(), 0))
        self._given.tell(scheduler)
        replaced = self._replace(leaving)
        for _ in range(_PREEMPTION_ROUNDS):
            run.drive(self._cluster, scheduler, run.Options(until=until))
            victims = [action.victim for action in self._cluster.evicted[self._preempted :]]
            self._preempted += len(victims)
            if not victims:
                break
            replaced |= self._replace(victims)
        self._start(before, replaced)
        self._load.pass_time(self._options.interval)
        self._cluster.advance(until)

    def _replace(self, leaving: Iterable[Pod]) -> dict[str, Pod]:
        """Remove pods and make their successors; returns uid of the new pod to the old pod."""
        successors: dict[str, Pod] = {}
        now = self._cluster.now()
        for pod in leaving:
            self._load.left(pod)
            self._cluster.schedule(now, Removed(pod))
            successor = self._controllers.replace(pod, self._time())
            if successor is not None:
                successors[successor.metadata.uid] = pod
                self._cluster.schedule(now, Applied(successor))
        self._cluster.advance(now)
        return successors

    def _start(self, before: set[str], replaced: Mapping[str, Pod]) -> None:
        """Let the pods that got a node run there."""
        new = [pod for pod in self._cluster.pods() if pod.spec.node_name and pod.metadata.uid not in before]
        for pod in new:
            self._load.came(pod, replaced.get(pod.metadata.uid))
        self._cluster.apply(_running(new, self._time()))


def _running(pods: Iterable[Pod], now: int) -> list[Object]:
    return [started(pod, now) for pod in pods]
