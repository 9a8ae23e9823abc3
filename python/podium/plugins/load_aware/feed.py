"""Hands samples to the LoadAware plugins of a scheduler; a source is read once for all that share it."""

from collections.abc import Iterable, Mapping

from podium.framework import Plugin
from podium.plugins.load_aware.args import Prometheus
from podium.plugins.load_aware.plugin import LoadAware
from podium.plugins.load_aware.sample import LoadReader, Sample

Read = list[tuple[LoadAware, Mapping[str, Sample]]]
"""Plugins with what they are to learn."""


def load_aware(plugins: Iterable[Plugin]) -> list[LoadAware]:
    """Return those of the plugins that go by load."""
    return [plugin for plugin in plugins if isinstance(plugin, LoadAware)]


def read(plugins: Iterable[LoadAware], reader: LoadReader) -> Read:
    """Read the load for plugins; may wait. Raises PodiumError if a source does not answer."""
    found: dict[Prometheus | None, Mapping[str, Sample]] = {}
    for plugin in plugins:
        asked = plugin.args.prometheus
        if asked not in found:
            found[asked] = reader.metrics() if asked is None else reader.query(asked)
    return [(plugin, found[plugin.args.prometheus]) for plugin in plugins]


def tell(plugins: Iterable[LoadAware], reader: LoadReader) -> None:
    """Read the load and hand it over, between two cycles of the scheduler.

    Raises:
        PodiumError: if a source does not answer; the plugins keep what they know.

    """
    learn(read(list(plugins), reader))


def learn(found: Read) -> None:
    """Hand over what was read; quick, but only between two cycles."""
    for plugin, samples in found:
        plugin.learn(samples)
