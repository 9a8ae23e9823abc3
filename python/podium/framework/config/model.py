"""The finished configuration: defaulted, validated, expanded, frozen."""

from typing import Any, Final

import msgspec

from podium.framework.config.args import NATIVE_ARGS
from podium.framework.config.decode import encode
from podium.framework.config.podium import PodiumSettings
from podium.framework.config.v1 import ClientConnection, Extender, LeaderElection
from podium.framework.native import NATIVE_PLUGINS
from podium.framework.points import CYCLE_POINTS
from podium.framework.registry import Registry

#: The points that the core takes part in.
_NATIVE_POINTS: Final = ("preFilter", "filter", "preScore", "score", "reserve", "postFilter")


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduling profile.

    Attributes:
        scheduler_name: pods name it in ``spec.schedulerName``.
        percentage_of_nodes_to_score: the profile's own value, else the global one; 0 is adaptive.
        points: extension point -> plugins in order, each with its weight (0 where the point has none).
        args: plugin -> its arguments: a struct of ``config.args`` for a native plugin, of the plugin's own
            ``Args`` for a Python one. Plugins without arguments are absent.

    """

    scheduler_name: str
    percentage_of_nodes_to_score: int
    points: dict[str, list[tuple[str, int]]]
    args: dict[str, msgspec.Struct]

    def names(self, point: str) -> list[str]:
        """Return the plugins of a point in order."""
        return [name for name, _ in self.points[point]]

    def python_plugins(self) -> list[str]:
        """Return the plugins that are not native, in order of appearance, each once."""
        names = (name for plugins in self.points.values() for name, _ in plugins)
        return [name for name in dict.fromkeys(names) if name not in NATIVE_PLUGINS]

    @property
    def needs_caller(self) -> bool:
        """Whether a Python plugin is called in the scheduling cycle: the core cannot run it alone."""
        return any(name not in NATIVE_PLUGINS for point in CYCLE_POINTS for name in self.names(point))

    def native_json(self) -> bytes:
        """Return the profile as the core reads it: native plugins only, every argument, camel case.

        ``needsCaller`` tells the core not to schedule batches on its own. The lists of filters and scores are
        whole: the core tells the caller at which place a native plugin rejects a node, and whether the
        caller has scores.
        """
        native = {
            point: [entry for entry in self.points[point] if entry[0] in NATIVE_PLUGINS]
            for point in _NATIVE_POINTS
        }
        native |= {point: self.points[point] for point in ("filter", "score")}
        document: dict[str, Any] = {
            "schedulerName": self.scheduler_name,
            "percentageOfNodesToScore": self.percentage_of_nodes_to_score,
            **{
                point: entries if point == "score" else [name for name, _ in entries]
                for point, entries in native.items()
            },
            "needsCaller": self.needs_caller,
            "args": {name: encode(args) for name, args in self.args.items() if name in NATIVE_ARGS},
        }
        return msgspec.json.encode(document)


class SchedulerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that ``--config`` says.

    Attributes:
        profiles: at least one; all have the same queueSort plugin.
        podium: Podium's own settings.
        registry: where the plugins that the profiles name come from.
        extenders: in the order in which they are asked, ignorable ones last.
        warnings: what is accepted but has a cost or no effect, one line each.
        pod_initial_backoff_seconds, pod_max_backoff_seconds: the queue's backoff.

    """

    profiles: list[Profile]
    podium: PodiumSettings
    parallelism: int
    percentage_of_nodes_to_score: int
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    leader_election: LeaderElection
    client_connection: ClientConnection
    enable_profiling: bool
    enable_contention_profiling: bool
    delay_cache_until_active: bool
    registry: Registry
    extenders: tuple[Extender, ...] = ()
    warnings: tuple[str, ...] = ()

    def profile(self, scheduler_name: str) -> Profile | None:
        """Return the profile of a scheduler name, None if no profile handles it."""
        return next((profile for profile in self.profiles if profile.scheduler_name == scheduler_name), None)
