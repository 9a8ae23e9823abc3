"""What nodes and pods use: by requests, by the metrics API, by a Prometheus query."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from podium._core import Quantity
from podium.api import Node, Pod
from podium.api.quantities import ZERO, exact
from podium.descheduler.framework import Handle, PluginFailedError
from podium.descheduler.plugins.node_utilization.args import METRIC
from podium.descheduler.requests import PODS, Amounts
from podium.errors import PodiumError


class NoSampleError(PodiumError):
    """A pod's usage is not known, so it is left alone."""


class Usage(Protocol):
    """A source of usage."""

    def of_nodes(self, nodes: Sequence[Node]) -> dict[str, Amounts]:
        """Return what each node uses of the resources that count; raises PluginFailedError."""

    def of_pod(self, pod: Pod) -> Amounts | None:
        """Return what a pod uses, None if the source cannot say; raises NoSampleError. Not to be changed."""


class Requested:
    """Usage is what the pods request."""

    def __init__(self, handle: Handle, resources: Sequence[str]) -> None:
        self._handle = handle
        self._resources = resources
        self._known: dict[int, tuple[Mapping[str, Quantity], Amounts]] = {}

    def of_nodes(self, nodes: Sequence[Node]) -> dict[str, Amounts]:
        """Sum requests."""
        world = self._handle.world
        return {node.metadata.name: world.requested(node.metadata.name, self._resources) for node in nodes}

    def of_pod(self, pod: Pod) -> Amounts:
        """Return the requests."""
        requests = self._handle.world.shape(pod).requests
        # Equal pods have one object of requests; it is kept so that its id cannot be reused.
        known = self._known.get(id(requests))
        if known is None:
            amounts = {name: requests.get(name, ZERO) for name in self._resources}
            known = self._known[id(requests)] = (requests, amounts)
        return known[1]


class Measured:
    """Usage is what the metrics API says, smoothed for nodes, as it is for pods."""

    def __init__(self, handle: Handle, resources: Sequence[str]) -> None:
        self._handle = handle
        self._resources = resources

    def of_nodes(self, nodes: Sequence[Node]) -> dict[str, Amounts]:
        """Read all nodes; one without a sample fails the plugin."""
        source, world = self._handle.metrics, self._handle.world
        if source is None:
            raise PluginFailedError("error initializing usage client: metrics client not initialized")
        known = source.nodes()
        return {
            node.metadata.name: self._node(
                node.metadata.name, known, len(world.active_on(node.metadata.name))
            )
            for node in nodes
        }

    def _node(self, name: str, known: Mapping[str, Mapping[str, Quantity]], pods: int) -> Amounts:
        if name not in known:
            raise PluginFailedError(
                f'error getting node usage: unable to find node "{name}" in the collected metrics'
            )
        collected = {**known[name], PODS: exact(pods)}
        missing = next((resource for resource in self._resources if resource not in collected), None)
        if missing is not None:
            what = f'unable to find "{missing}" resource for collected "{name}" node metric'
            raise PluginFailedError(f"error getting node usage: {what}")
        return {resource: collected[resource] for resource in self._resources}

    def of_pod(self, pod: Pod) -> Amounts:
        """Sum the containers' samples."""
        meta, source = pod.metadata, self._handle.metrics
        containers = source.pod(meta.namespace, meta.name) if source is not None else None
        if not containers:
            raise NoSampleError(f'unable to get podmetrics for "{meta.namespace}"/"{meta.name}"')
        total: Amounts = {}
        for container, usage in containers.items():
            for resource in self._resources:
                if resource == PODS:
                    continue
                if resource not in usage:
                    where = f'pod {meta.namespace}/{meta.name}: container "{container}"'
                    raise NoSampleError(f'{where} is missing "{resource}" resource')
                total[resource] = total.get(resource, ZERO) + usage[resource]
        return total


class Queried:
    """Usage of nodes is what a Prometheus query says; of pods nothing is known."""

    def __init__(self, handle: Handle, query: str) -> None:
        self._handle = handle
        self._query = query

    def of_nodes(self, nodes: Sequence[Node]) -> dict[str, Amounts]:
        """Ask the query; a node without a sample, or one bad sample, fails the plugin."""
        client = self._handle.prometheus
        if client is None:
            raise PluginFailedError("error initializing usage client: prometheus client not initialized")
        try:
            samples = read_vector(client.query(self._query))
            missing = next((n for node in nodes if (n := node.metadata.name) not in samples), None)
            if missing is not None:
                raise PluginFailedError(f"unable to find metric entry for {missing}")
        except PodiumError as error:
            raise PluginFailedError(f"error getting node usage: {error}") from None
        return {node.metadata.name: {METRIC: exact(samples[node.metadata.name])} for node in nodes}

    def of_pod(self, pod: Pod) -> None:  # noqa: ARG002 (the protocol's)
        """Say that it is not known."""
        return


def read_vector(data: Mapping[str, Any]) -> dict[str, int]:
    """Return node to percent, cut to whole ones as upstream does; raises PodiumError for a bad sample.

    Upstream takes a sample that is not a number for 0 to 1 and makes something of it; here it is refused.
    """
    if data.get("resultType") != "vector":
        found = data.get("resultType")
        raise PodiumError(f'expected query results to be of type "vector", got "{found}" instead')
    percent: dict[str, int] = {}
    for sample in data.get("result", ()):
        node = sample.get("metric", {}).get("instance")
        if node is None:
            raise PodiumError("the collected metrics sample is missing 'instance' key")
        value = float(sample["value"][1])
        if math.isnan(value) or not 0 <= value <= 1:
            shown = sample["value"][1]
            raise PodiumError(
                f'the collected metrics sample for "{node}" has value {shown} outside of <0; 1> interval'
            )
        percent[node] = int(value * 100)
    return percent
