"""Nodes in one line: ``make_node("n1").capacity(cpu="4").label("zone", "a").build()``."""

from collections.abc import Mapping
from typing import Any, Self

from podium.api import ContainerImage, Node, ObjectMeta, Quantity, Taint
from podium.testing.builder import Builder, copy_of, with_changes


def make_node(name: str = "node") -> "NodeBuilder":
    """Start a node with room for 110 pods and no other resource."""
    labels = {"kubernetes.io/hostname": name}
    node = Node(metadata=ObjectMeta(name=name, uid=f"node-{name}", labels=labels))
    return NodeBuilder(node).capacity({"pods": "110"})


class NodeBuilder(Builder):
    """A node in the making."""

    def capacity(self, resources: Mapping[str, Quantity] | None = None, **more: Quantity) -> Self:
        """Add to what the node has and offers: ``capacity(cpu="4", memory="16Gi")``."""
        given = {**(resources or {}), **more}
        status = self.item.status
        offered = {**(status.allocatable or {}), **given}
        return self._status(capacity={**status.capacity, **given}, allocatable=offered)

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> Self:
        """Add a taint."""
        taints = [*self.item.spec.taints, Taint(key=key, value=value, effect=effect)]
        return type(self)(with_changes(self.item, spec=with_changes(self.item.spec, taints=taints)))

    def unschedulable(self) -> Self:
        """Cordon the node."""
        return type(self)(with_changes(self.item, spec=with_changes(self.item.spec, unschedulable=True)))

    def image(self, name: str, size: int) -> Self:
        """Put an image of ``size`` bytes on the node."""
        image = ContainerImage(names=[name], size_bytes=size)
        return self._status(images=[*self.item.status.images, image])

    def _status(self, **changes: Any) -> Self:
        return type(self)(with_changes(self.item, status=with_changes(self.item.status, **changes)))

    def build(self) -> Node:
        """Return the node, a copy of its own."""
        return copy_of(self.item, Node)
