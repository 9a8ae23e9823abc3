"""Load of a live cluster for LoadAware: the metrics API, or a Prometheus server."""

import asyncio
import functools
import logging
import time
from collections.abc import Mapping
from typing import Final

from podium.api import BY_NAME, NodeMetrics
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.connection import Connection
from podium.cluster.kube.listing import list_kind
from podium.cluster.prometheus import Prometheus
from podium.errors import PodiumError
from podium.live.driver import Driver
from podium.plugins.load_aware import args
from podium.plugins.load_aware.feed import learn, load_aware, read
from podium.plugins.load_aware.sample import Sample, of_metrics, of_vector

log = logging.getLogger("podium.live")

#: Seconds between two reads: Metrics Server has a new sample every 15.
EVERY: Final = 15.0

_NODES: Final = BY_NAME["metrics.k8s.io/v1beta1", "NodeMetrics"]


class LiveLoad:
    """See ``podium.plugins.load_aware.sample.LoadReader``; both methods wait, so call them on a thread.

    Args:
        connection: the cluster.
        url: of the Prometheus server to ask in place of the configuration's.

    """

    def __init__(self, connection: Connection, url: str | None = None) -> None:
        self._connection = connection
        self._url = url

    def metrics(self) -> Mapping[str, Sample]:
        """List ``NodeMetrics``."""
        return asyncio.run(self._metrics())

    async def _metrics(self) -> Mapping[str, Sample]:
        async with KubeClient(self._connection) as client:
            items = await list_kind(client, _NODES)
        return of_metrics((item for item in items if isinstance(item, NodeMetrics)), time.time())

    def query(self, asked: args.Prometheus) -> Mapping[str, Sample]:
        """Ask the server; raises PodiumError if none is named."""
        url = self._url or asked.url
        if not url:
            raise PodiumError("no Prometheus server is named: set prometheus.url in LoadAware's args")
        return of_vector(Prometheus(url).query(asked.query))


async def follow_load(driver: Driver, load: LiveLoad) -> None:
    """Keep LoadAware up to date until cancelled; at once, and then every 15 seconds."""
    profiles = driver.scheduler.profiles
    plugins = load_aware(plugin for profile in profiles for plugin in profile.plugins.values())
    while plugins:
        try:
            found = await asyncio.to_thread(read, plugins, load)
        except PodiumError as error:
            log.warning("LoadAware: no new samples: %s", error)
        else:
            await driver.inspect(functools.partial(learn, found))
            driver.wake()
        await asyncio.sleep(EVERY)
