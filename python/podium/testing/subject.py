"""What the conformance kit tries: a plugin class with its arguments, and the world it is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.api import Node, Pod
from podium.framework.config import Profile
from podium.framework.plugin import Plugin
from podium.framework.points import POINTS
from podium.framework.registry import PluginInfo, instantiate
from podium.framework.runner import Runner
from podium.testing.handle import FakeHandle
from podium.testing.nodes import ObjectNodes


@dataclass(frozen=True, slots=True)
class Case:
    """A fresh instance, ready to be called."""

    plugin: Plugin
    runner: Runner
    handle: FakeHandle


@dataclass(frozen=True, slots=True)
class Subject:
    """The plugin under test."""

    info: PluginInfo
    args: Any
    nodes: Sequence[Node]
    bound: Sequence[Pod]
    pods: Sequence[Pod]
    make_handle: Callable[[], FakeHandle]

    def fresh(self) -> Case:
        """Make an instance that has seen nothing yet."""
        handle = self.make_handle()
        handle.nodes, handle.pods = self.nodes, self.bound
        plugin = instantiate(self.info, self.args, handle)
        points = {point: [(self.info.name, 1)] if point in self.info.points else [] for point in POINTS}
        profile = Profile(
            scheduler_name=handle.profile_name, percentage_of_nodes_to_score=0, points=points, args={}
        )
        return Case(plugin, Runner(profile, {self.info.name: plugin}), handle)

    def has(self, *points: str) -> bool:
        """Whether the plugin takes part in any of these points."""
        return any(point in self.info.points for point in points)

    def views(self, case: Case) -> list[ObjectNodes]:
        """Return all nodes, all with some candidates, and a single node."""
        whole = case.handle.snapshot()
        some = whole.with_candidates(np.arange(len(whole)) % 2 == 0)
        return [whole, some, whole.select(np.arange(len(whole))[:1])]
