"""The queueing hints of Python plugins: asked once per event for all parked pods that are alike to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium._core import Engine
from podium.api import Pod
from podium.framework.events import ClusterEvent, Hint
from podium.scheduler.events import ELEMENTARY, bit, bits
from podium.scheduler.profiles import Profiles
from podium.scheduler.state import State

#: The object before and after an event, None where there is none.
Change = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class _Hinted:
    """A plugin with hints: its bit in the queue's sets, and the events that it has hints for."""

    name: str
    bit: int
    events: int


class Hints:
    """Says which parked pods an event is nothing to, although the plugin that rejected them registered it."""

    def __init__(
        self, engine: Engine, state: State, profiles: Profiles, of_plugin: Mapping[str, int]
    ) -> None:
        self._engine = engine
        self._state = state
        self._profiles = profiles
        self._hinted = [
            _Hinted(name, of_plugin[name].bit_length() - 1, events)
            for name, events in _events_with_hints(profiles).items()
            if events and name in of_plugin
        ]

    def __bool__(self) -> bool:
        """Whether any plugin has hints."""
        return bool(self._hinted)

    def spared(self, event: int, change: Change) -> list[tuple[int, int]]:
        """Return plugins (bits) and kinds of pods that an event, given as bits, is nothing to."""
        spared = []
        for plugin in self._hinted:
            if not plugin.events & event:
                continue
            happened = [own for own in ELEMENTARY if bit(own.resource, own.action) & event]
            for handle, kind in self._engine.parked_kinds(plugin.bit, event):
                if not self._helps(plugin.name, self._state.by_handle(handle).pod, happened, change):
                    spared.append((plugin.bit, kind))
        return spared

    def help(self, plugin: str, pod: Pod, event: int, change: Change) -> bool:
        """Whether an event, given as bits, may help a pod that a plugin holds at PreEnqueue."""
        happened = [own for own in ELEMENTARY if bit(own.resource, own.action) & event]
        return self._helps(plugin, pod, happened, change)

    def _helps(self, plugin: str, pod: Pod, happened: list[ClusterEvent], change: Change) -> bool:
        plugins = self._profiles.of(pod)
        if plugins is None:
            return True
        return any(plugins.hints.ask(plugin, event, pod, change) is Hint.QUEUE for event in happened)


def _events_with_hints(profiles: Profiles) -> dict[str, int]:
    events: dict[str, int] = {}
    for plugins in profiles:
        for name, items in plugins.hints.by_plugin.items():
            hinted = bits(item.event for item in items if item.hint is not None)
            events[name] = events.get(name, 0) | hinted
    return events
