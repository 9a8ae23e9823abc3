"""What a node was seen to use, and how that is read from the two sources. No I/O in here."""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from podium.api import NodeMetrics
from podium.api.quantities import exact
from podium.errors import PodiumError
from podium.framework.duration import Duration
from podium.plugins.load_aware.args import METRIC, Prometheus

#: Length of a sample that does not say how long it was measured, in seconds.
_WINDOW = 30.0


class Sample(NamedTuple):
    """The load of one node.

    Attributes:
        used: by resource: millicores of cpu, bytes of memory, percent for a query.
        age: seconds since it was taken.
        window: seconds for which it was measured until then.
        is_steady: whether it stands for a steady state, so that it does not age.

    """

    used: Mapping[str, float]
    age: float = 0.0
    window: float = 0.0
    is_steady: bool = False


class LoadReader(Protocol):
    """Where samples come from; raises PodiumError if a source does not answer."""

    def metrics(self) -> Mapping[str, Sample]:
        """Return what metrics.k8s.io says, by node."""

    def query(self, asked: Prometheus) -> Mapping[str, Sample]:
        """Return what a query says, by node."""


def of_metrics(items: Iterable[NodeMetrics], now: float | None) -> dict[str, Sample]:
    """Read ``NodeMetrics``; ``now`` is in seconds since 1970, None takes them for a steady state."""
    return {item.metadata.name: _of_metrics(item, now) for item in items}


def _of_metrics(item: NodeMetrics, now: float | None) -> Sample:
    used = {
        "cpu": float(exact(item.usage.get("cpu", "0")).milli_value()),
        "memory": float(exact(item.usage.get("memory", "0")).value()),
    }
    if now is None:
        return Sample(used, is_steady=True)
    taken = datetime.fromisoformat(str(item.timestamp)).timestamp() if item.timestamp else now
    return Sample(used, max(now - taken, 0.0), _seconds(item.window))


def _seconds(window: str) -> float:
    try:
        return Duration.parse(window).nanoseconds / 1e9
    except ValueError:
        return _WINDOW


def of_vector(data: Mapping[str, Any], *, is_steady: bool = False) -> dict[str, Sample]:
    """Read ``data`` of an instant query: 0 to 1 per ``instance``; what is no such number is left out.

    Raises:
        PodiumError: if it is no vector.

    """
    if data.get("resultType") != "vector":
        raise PodiumError(f"LoadAware: the query gives a {data.get('resultType')}, it must give a vector")
    return {
        node: Sample({METRIC: value * 100}, window=_WINDOW, is_steady=is_steady)
        for node, value in _values(data.get("result", ()))
    }


def _values(samples: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    for sample in samples:
        node, value = sample.get("metric", {}).get("instance"), float(sample["value"][1])
        if node is not None and math.isfinite(value) and 0 <= value <= 1:
            yield node, value
