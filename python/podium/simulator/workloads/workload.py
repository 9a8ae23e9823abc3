"""What a workload is: a cluster, pods to schedule, and what happens meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from podium.api import Node, Object, Pod


class Change(Enum):
    """What a step does to its object."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Step:
    """A change of the cluster from outside, once ``after`` pods of ``Workload.pods`` have been bound."""

    after: int
    change: Change
    item: Node | Pod


@dataclass(frozen=True, slots=True)
class Workload:
    """A scenario, as the API server would hold it: defaulted, admitted, uids set.

    ``bound`` have a node from the start. ``parked`` and ``pods`` are pending, in this order; the result
    counts ``pods`` alone. ``steps`` are in the order of ``after``. Objects of one template share their
    ``spec``, so whoever changes one changes a copy.
    """

    nodes: Sequence[Node]
    pods: Sequence[Pod]
    bound: Sequence[Pod] = ()
    parked: Sequence[Pod] = ()
    objects: Sequence[Object] = ()
    """What else the cluster has: Services, ReplicaSets, PriorityClasses …"""
    steps: Sequence[Step] = ()
    queue_order: str = "priority"
    """``--queue-order``; the tenants of ``drf`` are the namespaces."""
