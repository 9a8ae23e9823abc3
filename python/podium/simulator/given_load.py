"""Load for LoadAware in a simulation: metrics among the inputs, or a server's answer; both stand still."""

from collections.abc import Callable, Mapping

from podium.api import NodeMetrics
from podium.api.manifest import Manifest
from podium.cluster.prometheus import Prometheus
from podium.errors import InputError
from podium.plugins.load_aware import args
from podium.plugins.load_aware.feed import load_aware, tell
from podium.plugins.load_aware.plugin import LoadAware
from podium.plugins.load_aware.sample import Sample, of_metrics, of_vector
from podium.scheduler.loop import Scheduler


class GivenLoad:
    """See ``podium.plugins.load_aware.sample.LoadReader``.

    Args:
        metrics: gives the load of nodes as it is now.
        url: of the Prometheus server to ask in place of the configuration's.

    """

    def __init__(self, metrics: Callable[[], Mapping[str, Sample]], url: str | None = None) -> None:
        self._metrics = metrics
        self._url = url

    @classmethod
    def of(cls, manifest: Manifest) -> "GivenLoad":
        """Return the load that a manifest's ``NodeMetrics`` tell of."""
        return cls(lambda: of_metrics(manifest.of(NodeMetrics), None))

    def metrics(self) -> Mapping[str, Sample]:
        """Return what the metrics API would say."""
        return self._metrics()

    def query(self, asked: args.Prometheus) -> Mapping[str, Sample]:
        """Ask the server; raises InputError if none is named."""
        url = self._url or asked.url
        if not url:
            raise InputError("LoadAware: no Prometheus server is named: set prometheus.url in its args")
        return of_vector(Prometheus(url).query(asked.query), is_steady=True)

    def tell(self, scheduler: Scheduler) -> None:
        """Let a scheduler know the load, once it knows the nodes and the pods on them."""
        tell(plugins_of(scheduler), self)


def plugins_of(scheduler: Scheduler) -> list[LoadAware]:
    """Return the plugins of a scheduler that go by load."""
    return load_aware(plugin for profile in scheduler.profiles for plugin in profile.plugins.values())
