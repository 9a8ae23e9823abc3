"""Objects as the documentation means them, for ``strict: true``.

kube-scheduler v1.37.2 reads some objects other than documented (``podium.api.quirks`` names them). Here such
an object is written so that the same arithmetic and the same selectors give the documented answer.
"""

from collections.abc import Mapping, Sequence

import msgspec

from podium._core import Quantity as Exact
from podium.api.objects.affinity import TopologySpreadConstraint
from podium.api.objects.base import LabelSelector, LabelSelectorRequirement, Object, Quantity, ResourceList
from podium.api.objects.node import Node
from podium.api.objects.pod import Container, Pod, PodSpec
from podium.api.quantities import MILLI, exact
from podium.api.requests import pod_requests

#: Requests beyond 64 bits count as this many units: more than any node has, and it leaves room for the sums
#: over a node.
_MORE_THAN_ANY_NODE = 2**63 - 2**60
_MAX = 2**63 - 1

_EMPTY = LabelSelector()

#: Selects every pod without being empty: no pod can have a label of this name.
_EVERYTHING = LabelSelector(
    match_expressions=(LabelSelectorRequirement(key="podium.dev/never", operator="DoesNotExist"),)
)


def documented(item: Object) -> Object:
    """Return an object that is scheduled as documented; most objects are returned as they are."""
    if isinstance(item, Pod):
        spec = _with_bounded_requests(_with_wide_selectors(item.spec))
        return item if spec is item.spec else msgspec.structs.replace(item, spec=spec)
    if isinstance(item, Node):
        return _with_bounded_allocatable(item)
    return item


def _with_wide_selectors(spec: PodSpec) -> PodSpec:
    """Let an empty selector of a spread constraint select every pod; v1.37.2 counts none for it."""
    if not any(constraint.label_selector == _EMPTY for constraint in spec.topology_spread_constraints):
        return spec
    constraints = [_wide(constraint) for constraint in spec.topology_spread_constraints]
    return msgspec.structs.replace(spec, topology_spread_constraints=constraints)


def _wide(constraint: TopologySpreadConstraint) -> TopologySpreadConstraint:
    if constraint.label_selector != _EMPTY:
        return constraint
    return msgspec.structs.replace(constraint, label_selector=_EVERYTHING)


def _scale(resource: str) -> int:
    return MILLI if resource == "cpu" else 0


def _amount(resource: str, units: int) -> Quantity:
    return f"{units}m" if resource == "cpu" else str(units)


def _with_bounded_requests(spec: PodSpec) -> PodSpec:
    """Count requests that overflow 64 bits as more than any node has; v1.37.2 lets them wrap around."""
    totals = pod_requests(spec)
    huge = [name for name, total in totals.items() if not total.fits(_scale(name))]
    if not huge:
        return spec
    parts = len(spec.containers) + len(spec.init_containers)
    most = {name: _amount(name, _MORE_THAN_ANY_NODE // parts) for name in huge}
    bounded = msgspec.structs.replace(
        spec,
        containers=_bounded(spec.containers, most),
        init_containers=_bounded(spec.init_containers, most),
    )
    whole = spec.resources
    if whole is not None and whole.requests:
        requests = _at_most(whole.requests, {name: _amount(name, _MORE_THAN_ANY_NODE) for name in huge})
        bounded = msgspec.structs.replace(
            bounded, resources=msgspec.structs.replace(whole, requests=requests)
        )
    return bounded


def _bounded(containers: Sequence[Container], most: Mapping[str, Quantity]) -> list[Container]:
    return [
        msgspec.structs.replace(
            container,
            resources=msgspec.structs.replace(
                container.resources, requests=_at_most(container.resources.requests, most)
            ),
        )
        for container in containers
    ]


def _at_most(amounts: ResourceList, most: Mapping[str, Quantity]) -> ResourceList:
    return {name: _lesser(amount, most.get(name)) for name, amount in amounts.items()}


def _lesser(amount: Quantity, limit: Quantity | None) -> Quantity:
    if limit is None:
        return amount
    return limit if exact(amount) > exact(limit) else amount


def _with_bounded_allocatable(node: Node) -> Node:
    amounts = node.status.allocatable or {}
    huge = [name for name, amount in amounts.items() if not _fits(name, exact(amount))]
    if not huge:
        return node
    most = {name: _amount(name, _MAX) for name in huge}
    status = msgspec.structs.replace(node.status, allocatable=_at_most(amounts, most))
    return msgspec.structs.replace(node, status=status)


def _fits(resource: str, number: Exact) -> bool:
    return number.fits(_scale(resource))
