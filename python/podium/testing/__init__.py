"""For authors of plugins: pods, nodes and a handle without a cluster, and ``check_plugin``.

``check_plugin(MyPlugin)`` tells whether a plugin keeps the contract; call it in a test.
"""

from podium.testing.check import Report, check_plugin
from podium.testing.handle import FakeHandle, FakeWaitingPod, RecordedEvent
from podium.testing.node_builder import NodeBuilder, make_node
from podium.testing.nodes import ObjectNodes, node_view
from podium.testing.pod_builder import PodBuilder, make_pod

__all__ = [
    "FakeHandle",
    "FakeWaitingPod",
    "NodeBuilder",
    "ObjectNodes",
    "PodBuilder",
    "RecordedEvent",
    "Report",
    "check_plugin",
    "make_node",
    "make_pod",
    "node_view",
]
