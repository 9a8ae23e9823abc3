"""LoadAware: pods go where there is load to spare, by what nodes were seen to use.

A node's load is its last sample, and for pods that have come or gone since a part of what they request:

    expected = sample + factor x (requested now - requested when the sample began)

That is read from the columns of the snapshot, so it holds in overlays, for pods that leave, and whichever
profile placed a pod. The caller hands over samples (``learn``); the plugin reads nothing itself.
"""

from collections import deque
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium._core import Quantity
from podium.api import Pod, PodSpec
from podium.api.requests import pod_requests
from podium.framework import (
    Action,
    ClusterEvent,
    CycleState,
    EventRegistration,
    FilterResult,
    Handle,
    NodesView,
    Plugin,
    Resource,
)
from podium.plugins.load_aware.args import METRIC, LoadAwareArgs
from podium.plugins.load_aware.sample import Sample

Amounts = NDArray[np.float64]

#: What a column says where nothing is known.
_UNKNOWN: Final = -1.0

#: What a pod is thought to request that requests none: millicores, bytes. The scheduler's own defaults.
_DEFAULTS: Final = {"cpu": 100, "memory": 200 << 20}

#: Seconds for which the requests of the past are kept: no sample begins earlier.
_HISTORY: Final = 300.0


class LoadAware(Plugin):
    """Filters nodes above a threshold and scores the others by what they have left."""

    name = "LoadAware"
    Args = LoadAwareArgs

    def __init__(self, args: LoadAwareArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._thresholds = args.thresholds()
        self._weights = {name: weight for name, weight in args.weights().items() if weight}
        self._resources = tuple(dict.fromkeys((*self._thresholds, *self._weights)))
        self._history: deque[tuple[float, dict[str, dict[str, int]]]] = deque()
        self._hot: frozenset[str] = frozenset()
        self._last: tuple[PodSpec | None, dict[str, int]] = (None, {})
        self._refused: dict[str, Pod] = {}
        for column in ("taken", *(f"{name}/{what}" for name in self._resources for what in ("used", "then"))):
            handle.register_column(f"LoadAware/{column}", np.float64, _UNKNOWN)

    def applies_to(self, pod: Pod) -> bool:
        """Leave pods of a DaemonSet alone: they have one node to go to."""
        return all(owner.kind != "DaemonSet" for owner in pod.metadata.owner_references)

    def events_to_register(self) -> list[EventRegistration]:
        """Wait for nodes, and for pods that leave them; new samples wake whom this refused (``learn``)."""
        grown = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE)
        return [
            EventRegistration(grown),
            EventRegistration(ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)),
        ]

    def learn(self, samples: Mapping[str, Sample]) -> None:
        """Take over samples by node, between two cycles. Nodes without one keep theirs while it counts."""
        now = self.handle.now()
        self._remember(now)
        columns: dict[str, dict[str, float]] = {"taken": {}}
        for node, sample in samples.items():
            columns["taken"][node] = np.inf if sample.is_steady else now - sample.age
            then = self._requested_at(now if sample.is_steady else now - sample.age - sample.window)
            for name in self._resources:
                columns.setdefault(f"{name}/used", {})[node] = sample.used.get(name, _UNKNOWN)
                columns.setdefault(f"{name}/then", {})[node] = then[_measure(name)].get(node, _UNKNOWN)
        for column, values in columns.items():
            self.handle.update_column(f"LoadAware/{column}", values)
        self._wake()

    def _remember(self, now: float) -> None:
        """Note what is requested now, and forget what no sample can begin at any more."""
        view = self.handle.snapshot()
        names = view.names.tolist()
        requested = {
            name: dict(zip(names, view.nonzero_requested(name).tolist(), strict=True))
            for name in dict.fromkeys(map(_measure, self._resources))
        }
        self._history.append((now, requested))
        while len(self._history) > 1 and self._history[1][0] <= now - _HISTORY:
            self._history.popleft()

    def _requested_at(self, time: float) -> Mapping[str, Mapping[str, int]]:
        """Return what was requested at a time, the earliest that is known if it is before that."""
        found = (requested for then, requested in reversed(self._history) if then <= time)
        return next(found, self._history[0][1])

    def _wake(self) -> None:
        """Let pods that were refused try again if a node has cooled down."""
        view = self.handle.snapshot()
        over = np.zeros(len(view), np.bool_)
        for name, limit in self._thresholds.items():
            over |= self._percent(view, name) > limit
        hot = frozenset(view.names[over].tolist())
        if self._hot - hot and self._refused:
            self.handle.activate(self._refused.values())
            self._refused = {}
        self._hot = hot

    def filter(self, state: CycleState, pod: Pod, nodes: NodesView) -> FilterResult:  # noqa: ARG002 (contract)
        """Refuse nodes above a threshold, and those that the pod would take there.

        A pod that is above a threshold all by itself needs a node that is below.
        """
        mask = np.ones(len(nodes), np.bool_)
        reason = np.zeros(len(nodes), np.int64)
        for at, (name, limit) in enumerate(self._thresholds.items()):
            before = self._percent(nodes, name)
            own = self._own(pod, nodes, name)
            out = np.where(own > limit, before > limit, before + own > limit)
            reason[mask & out] = at
            mask &= ~out
        if not mask[nodes.candidates].all():
            self._refused[pod.metadata.uid] = pod
        return FilterResult(mask, tuple(map(_reason, self._thresholds)), reason)

    def score(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.int64]:  # noqa: ARG002 (contract)
        """Return the weighted mean of what is left with the pod, in percent; 0 for unknown load."""
        left = np.zeros(len(nodes), np.float64)
        for name, weight in self._weights.items():
            used = self._percent(nodes, name) + self._own(pod, nodes, name)
            left += weight * np.nan_to_num(np.clip(100.0 - used, 0.0, 100.0))
        return (left / (sum(self._weights.values()) or 1)).astype(np.int64)

    def _percent(self, nodes: NodesView, name: str) -> Amounts:
        """Return the expected load of each node in percent, NaN where no sample says anything."""
        used, then = _column(nodes, f"{name}/used"), _column(nodes, f"{name}/then")
        measure = _measure(name)
        since = np.where(then < 0, 0.0, nodes.nonzero_requested(measure) - then) * self.args.factor(measure)
        size = _size(nodes, measure)
        percent = used + since / size * 100 if name == METRIC else (used + since) / size * 100
        oldest = self.handle.now() - self.args.node_metric_expiration_seconds
        known = (used >= 0) & (_column(nodes, "taken") >= oldest)
        return np.where(known, np.maximum(percent, 0.0), np.nan)

    def _own(self, pod: Pod, nodes: NodesView, name: str) -> Amounts:
        """Return what the pod is thought to add to each node, in percent."""
        measure = _measure(name)
        share: Amounts = self._requests(pod)[measure] * self.args.factor(measure) / _size(nodes, measure)
        return share * 100

    def _requests(self, pod: Pod) -> dict[str, int]:
        """Return what a pod requests; one cycle asks several times for the same."""
        spec, found = self._last
        if spec is not pod.spec:
            sums = pod_requests(pod.spec)
            found = {name: _amount(sums, name) for name in _DEFAULTS}
            self._last = (pod.spec, found)
        return found


def _column(nodes: NodesView, name: str) -> Amounts:
    return nodes.column(f"LoadAware/{name}").astype(np.float64, copy=False)


def _measure(name: str) -> str:
    """Return the resource whose requests stand for a load: a query is taken to follow cpu."""
    return "cpu" if name == METRIC else name


def _size(nodes: NodesView, resource: str) -> NDArray[np.int64]:
    """Return what each node offers, at least 1: a node that offers nothing is full."""
    return np.maximum(nodes.allocatable(resource), 1)


def _amount(sums: Mapping[str, Quantity], resource: str) -> int:
    found = sums.get(resource)
    if found is None:
        return _DEFAULTS[resource]
    return found.milli_value() if resource == "cpu" else found.value()


def _reason(name: str) -> str:
    what = "load" if name == METRIC else f"{name} usage"
    return f"node(s) {what} exceed threshold"
