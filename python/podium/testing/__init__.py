"""For authors of plugins: builders for pods and nodes, node views and a handle without a cluster."""

from podium.testing.builders import NodeBuilder, PodBuilder, make_node, make_pod
from podium.testing.handle import FakeHandle, FakeWaitingPod, RecordedEvent
from podium.testing.nodes import ObjectNodes, node_view

__all__ = [
    "FakeHandle",
    "FakeWaitingPod",
    "NodeBuilder",
    "ObjectNodes",
    "PodBuilder",
    "RecordedEvent",
    "make_node",
    "make_pod",
    "node_view",
]
