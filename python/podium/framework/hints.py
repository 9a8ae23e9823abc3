"""The queueing hints of a profile's Python plugins, read once."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.api import Pod
from podium.errors import PluginError
from podium.framework.events import ClusterEvent, EventRegistration, Hint, registrations
from podium.framework.plugin import Plugin
from podium.framework.points import ENQUEUE_POINTS
from podium.framework.registry import implemented_points

log = logging.getLogger("podium.framework")


@dataclass(frozen=True, slots=True)
class HintTable:
    """What each plugin registered; plugins that cannot reject a pod are absent."""

    by_plugin: Mapping[str, tuple[EventRegistration, ...]]

    @classmethod
    def of(cls, plugins: Mapping[str, Plugin]) -> "HintTable":
        """Read ``events_to_register`` of every plugin that may reject a pod.

        Raises:
            PluginError: if a plugin raises, or returns something else than registrations.

        """
        return cls(
            {
                name: _registered(name, plugin)
                for name, plugin in plugins.items()
                if ENQUEUE_POINTS.intersection(implemented_points(type(plugin)))
            }
        )

    def interested(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins that registered an event; a pod they rejected is worth a question."""
        return frozenset(
            name for name, items in self.by_plugin.items() if any(item.event.matches(event) for item in items)
        )

    def ask(self, plugin: str, event: ClusterEvent, pod: Pod, change: tuple[Any, Any]) -> Hint:
        """Ask one plugin whether an event helps a pod that it rejected.

        Args:
            plugin: its name.
            event: what happened.
            pod: the rejected pod.
            change: the object before and after, None where there is none.

        Returns:
            QUEUE if any of its matching registrations says so, also if a hint raises; else SKIP.

        """
        for item in self.by_plugin.get(plugin, ()):
            if item.event.matches(event) and _says_queue(plugin, item, pod, change):
                return Hint.QUEUE
        return Hint.SKIP


def _registered(name: str, plugin: Plugin) -> tuple[EventRegistration, ...]:
    try:
        declared = plugin.events_to_register()
    except Exception as error:
        raise PluginError(
            f'plugin "{name}": events_to_register raised {type(error).__name__}: {error}'
        ) from error
    if declared is not None and not all(isinstance(item, EventRegistration) for item in declared):
        raise PluginError(f'plugin "{name}": events_to_register must return EventRegistration objects')
    return registrations(declared)


def _says_queue(plugin: str, item: EventRegistration, pod: Pod, change: tuple[Any, Any]) -> bool:
    if item.hint is None:
        return True
    try:
        return item.hint(pod, *change) is not Hint.SKIP
    except Exception:
        log.exception("queueing hint of plugin %s failed for %s", plugin, item.event.label)
        return True
