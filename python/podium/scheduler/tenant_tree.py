"""The configured tenants as a tree: what the settings and Volcano's queues say of them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from podium.api.objects.groups import Queue
from podium.framework.config import TenantSettings

Node = dict[str, Any]
"""What the core reads of a tenant, with its parent's name."""

_ROOT = "root"


def fraction(value: float) -> tuple[int, int]:
    """Return what the number's text says: 0.1 is a tenth."""
    return Fraction(str(value)).limit_denominator(2**31).as_integer_ratio()


def node_of(name: str, parent: str | None) -> Node:
    """Return a tenant of which nothing more is known."""
    return {"name": name, "parent": parent, "weight": None, "priority": 0}


def tree_of(settings: TenantSettings, queues: Mapping[str, Queue]) -> dict[str, Node]:
    """Return the configured tenants by name, parents before children.

    Volcano's queues come first; what the configuration says besides wins. A queue whose parents form a circle
    is at the top.
    """
    parents = {name: _above(queue.spec.parent) for name, queue in queues.items() if name != _ROOT}
    parents |= {name: _above(parent) for name, parent in settings.parents.items()}
    parents |= {name: None for name in settings.weights if name not in parents}
    parents |= {above: None for above in list(parents.values()) if above and above not in parents}
    nodes: dict[str, Node] = {}
    for name in parents:
        chain: list[str] = []
        at: str | None = name
        while at is not None and at not in nodes and at not in chain:
            chain.append(at)
            at = parents[at]
        if at in chain:
            parents[chain[-1]] = None
        for member in reversed(chain):
            nodes[member] = {**node_of(member, parents[member]), **_said(member, settings, queues)}
    return nodes


def _above(parent: str) -> str | None:
    return parent if parent and parent != _ROOT else None


def _said(name: str, settings: TenantSettings, queues: Mapping[str, Queue]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    queue = queues.get(name)
    if queue is not None:
        spec = queue.spec
        said = {
            "weight": (spec.weight, 1) if spec.weight > 0 else None,
            "priority": spec.priority,
            "capability": spec.capability,
            "deserved": spec.deserved,
            "guarantee": spec.guarantee.resource if spec.guarantee else {},
        }
    if name in settings.weights:
        said["weight"] = fraction(settings.weights[name])
    return said
