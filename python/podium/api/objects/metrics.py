"""Measured load, as metrics.k8s.io reports it."""

from collections.abc import Sequence

from podium.api.objects.base import Base, Object, ResourceList, Timestamp


class NodeMetrics(Object, tag="NodeMetrics"):
    """What a node uses."""

    timestamp: Timestamp | None = None
    window: str = ""
    usage: ResourceList = {}


class ContainerMetrics(Base):
    """What a container uses."""

    name: str = ""
    usage: ResourceList = {}


class PodMetrics(Object, tag="PodMetrics"):
    """What a pod uses."""

    timestamp: Timestamp | None = None
    window: str = ""
    containers: Sequence[ContainerMetrics] = ()
