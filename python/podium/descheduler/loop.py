"""The descheduler: a policy at work. Read this first.

:meth:`Descheduler.cycle` is one cycle: all profiles' deschedule plugins, then all profiles' balance plugins,
on the ready nodes of the policy. It never waits and knows no clock: the cluster comes in as a
:class:`~podium.descheduler.world.World` that says when now is, evictions go out through a port.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podium.api import Node, Pod
from podium.collector import collector_paused
from podium.descheduler.evictor import Blocked, Evicted, PodEvictor
from podium.descheduler.framework import PluginType, Point
from podium.descheduler.guard.memory import Memory
from podium.descheduler.guard.meter import meter
from podium.descheduler.guard.planner import Asked, Planner
from podium.descheduler.limits import Limits
from podium.descheduler.nodereport import NodeReport
from podium.descheduler.policy.load import LoadedPolicy
from podium.descheduler.policy.selector import parse_selector
from podium.descheduler.ports import Evictions, WhatIf
from podium.descheduler.profile import Failure, RunningProfile, Sources
from podium.descheduler.world import World
from podium.errors import InputError
from podium.framework.config.problems import quote

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cycle:
    """What one cycle did; ``skipped`` says why it did nothing at all."""

    evicted: Sequence[Evicted] = ()
    blocked: Sequence[Blocked] = ()
    failures: Sequence[Failure] = ()
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One cycle, and how the nodes stood: in a simulation once its pods had landed, live before it."""

    cycle: Cycle
    nodes: Sequence[NodeReport]


class Descheduler:
    """All profiles of one policy."""

    def __init__(
        self,
        loaded: LoadedPolicy,
        table: Mapping[str, PluginType],
        evictions: Evictions,
        sources: Sources | None = None,
        whatif: WhatIf | None = None,
    ) -> None:
        """Build the profiles.

        Args:
            loaded: the policy.
            table: the plugins that there are.
            evictions: where evictions go.
            sources: of real load.
            whatif: the scheduler to ask in guarded mode; None: compat mode.

        Raises:
            InputError: with upstream's text for a policy that cannot start.

        """
        policy = loaded.policy
        limits = Limits(
            policy.max_no_of_pods_to_evict_per_node,
            policy.max_no_of_pods_to_evict_per_namespace,
            policy.max_no_of_pods_to_evict_total,
        )
        self._evictor = PodEvictor(evictions, limits, policy.grace_period_seconds)
        self._evictions = evictions
        self._whatif = whatif
        self._memory = Memory()
        refusal = "failed to create new descheduler: "
        try:
            self._selector = parse_selector(policy.node_selector) if policy.node_selector else None
        except InputError as error:
            raise InputError(f"{refusal}{error}") from None
        self.profiles: list[RunningProfile] = []
        for profile in loaded.profiles:
            try:
                running = RunningProfile(profile, table, self._evictor, sources or Sources())
            except InputError as error:
                raise InputError(
                    f"{refusal}unable to create {quote(profile.name)} profile: {error}"
                ) from None
            self.profiles.append(running)

    def nodes(self, world: World) -> list[Node]:
        """Return the nodes of a cycle: ready, and selected by the policy."""
        return world.ready_nodes(self._selector)

    def _guard(self, world: World, nodes: Sequence[Node]) -> Planner | None:
        if self._whatif is None:
            return None
        self._memory.begin(world)
        gauge = meter(world, nodes, self.profiles)
        budgets = self._evictions.budgets()
        turns = [
            (profile.name, name)
            for point in (Point.DESCHEDULE, Point.BALANCE)
            for profile in self.profiles
            for name in profile.enabled(point)
        ]
        asked = Asked(self._plugin, self._may_go, turns)
        return Planner(world, nodes, gauge, self._whatif, self._memory, budgets, asked)

    def _plugin(self, profile: str, name: str) -> Any:
        return self._profile(profile).plugin(name)

    def _may_go(self, profile: str, pod: Pod) -> bool:
        evictor = self._profile(profile).handle.evictor
        return evictor.filter(pod) and evictor.pre_eviction_filter(pod)

    def _profile(self, name: str) -> RunningProfile:
        return next(item for item in self.profiles if item.name == name)

    def cycle(self, world: World) -> Cycle:
        """Run one cycle; it makes few cycles of objects, so Python's collector is paused."""
        with collector_paused():
            return self._cycle(world)

    def _cycle(self, world: World) -> Cycle:
        nodes = self.nodes(world)
        for profile in self.profiles:
            profile.handle.world = world
        self._evictor.start_cycle(self._guard(world, nodes))
        if len(nodes) <= 1:
            skipped = f"Skipping descheduling cycle: requires >=2 nodes, found {len(nodes)}"
            logger.info(skipped)
            return Cycle(skipped=skipped)
        failures: list[Failure] = []
        for profile in self.profiles:
            failures += profile.deschedule(nodes)
        for profile in self.profiles:
            failures += profile.balance(nodes)
        self._evictor.finish()
        for failure in failures:
            logger.error("plugin %s of profile %s: %s", failure.plugin, failure.profile, failure.message)
        return Cycle(self._evictor.log.evicted, self._evictor.log.blocked, failures)
