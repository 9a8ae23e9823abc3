"""One profile at work: its plugins, built once, and the evictor they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from podium.api import Node
from podium.descheduler.evictor import PodEvictor
from podium.descheduler.framework import Handle, PluginFailedError, PluginType, Point
from podium.descheduler.policy.load import LoadedProfile
from podium.descheduler.ports import LoadSource, PrometheusClient
from podium.descheduler.profile_evictor import ProfileEvictor
from podium.descheduler.world import World
from podium.errors import InputError
from podium.framework.config.problems import quote

#: What the points are called where a profile is refused, in the order in which they are looked at.
_SPELLING = {
    Point.DESCHEDULE: "deschedule",
    Point.BALANCE: "balance",
    Point.FILTER: "filter",
    Point.PRE_EVICTION_FILTER: "preEvictionFilter",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """A plugin that could not do its work in a cycle."""

    plugin: str
    profile: str
    message: str


@dataclass(frozen=True, slots=True)
class Sources:
    """Where real load comes from; None where the policy configures no such source."""

    metrics: LoadSource | None = None
    prometheus: PrometheusClient | None = None


class RunningProfile:
    """Plugins by extension point, in the order of the policy."""

    def __init__(
        self, loaded: LoadedProfile, table: Mapping[str, PluginType], shared: PodEvictor, sources: Sources
    ) -> None:
        """Build every enabled plugin once; raises InputError with upstream's text."""
        self.name = loaded.name
        evictor = ProfileEvictor(shared, loaded.name, lambda: self.handle.world)
        self.handle = Handle(World((), 0), evictor, sources.metrics, sources.prometheus)
        _check_points(loaded, table)
        names = dict.fromkeys(name for point in Point for name in loaded.enabled[point])
        self._plugins = {name: self._build(name, loaded, table) for name in names}
        self._enabled = {
            point: [(name, self._plugins[name]) for name in loaded.enabled[point]] for point in Point
        }
        evictor.filters = [plugin.filter for _, plugin in self._enabled[Point.FILTER]]
        evictor.pre_eviction_filters = [
            plugin.pre_eviction_filter for _, plugin in self._enabled[Point.PRE_EVICTION_FILTER]
        ]

    def _build(self, name: str, loaded: LoadedProfile, table: Mapping[str, PluginType]) -> Any:
        if name not in loaded.args:
            raise InputError(f'unable to build {name} plugin: unable to find "{name}" plugin config')
        try:
            return table[name].build(loaded.args[name], self.handle)
        except InputError as error:
            raise InputError(
                f'unable to build {name} plugin: unable to initialize "{name}" plugin: {error}'
            ) from None

    def plugin(self, name: str) -> Any:
        """Return an enabled plugin by name, None if it is not enabled."""
        return self._plugins.get(name)

    def enabled(self, point: Point) -> list[str]:
        """Return the names of the plugins at a point, in the order of the policy."""
        return [name for name, _ in self._enabled[point]]

    def plugins(self) -> list[Any]:
        """Return the plugins that are enabled, each once, in the order of points and policy."""
        return list(self._plugins.values())

    def deschedule(self, nodes: Sequence[Node]) -> list[Failure]:
        """Run the deschedule plugins; one that fails does not stop the others."""
        return self._run(Point.DESCHEDULE, "deschedule", nodes)

    def balance(self, nodes: Sequence[Node]) -> list[Failure]:
        """Run the balance plugins; one that fails does not stop the others."""
        return self._run(Point.BALANCE, "balance", nodes)

    def _run(self, point: Point, method: str, nodes: Sequence[Node]) -> list[Failure]:
        failures = []
        for name, plugin in self._enabled[point]:
            try:
                getattr(plugin, method)(nodes)
            except PluginFailedError as error:
                failures.append(Failure(name, self.name, str(error)))
        return failures


def _check_points(loaded: LoadedProfile, table: Mapping[str, PluginType]) -> None:
    for point, spelling in _SPELLING.items():
        wrong = sorted(
            {name for name in loaded.enabled[point] if name not in table or point not in table[name].points}
        )
        if wrong:
            shown = " ".join(f"{name}:{{}}" for name in wrong)
            raise InputError(
                f"profile {quote(loaded.name)} configures {spelling} extension point of non-existing "
                f"plugins: map[{shown}]"
            )
