"""A spread constraint as the descheduler reads it off a pod."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from podium.api import (
    LabelSelector,
    LabelSelectorRequirement,
    Node,
    NodeAffinity,
    Pod,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
)
from podium.api.matching import fits_node, selects
from podium.api.objects.affinity import Affinity
from podium.descheduler.nodefit import Mask, NodeFit, Rows
from podium.descheduler.tolerations import HARD, tolerates_all


class Constraint(NamedTuple):
    """One constraint with what its policies read of the pod: which nodes count.

    minDomains and the scheduler's default constraints are not looked at.
    """

    max_skew: int
    topology_key: str
    selector: LabelSelector | None
    placement: PodSpec | None
    """Node selector and required node affinity, where nodeAffinityPolicy honours them (the default)."""
    tolerations: Sequence[Toleration] | None
    """Where nodeTaintsPolicy honours taints (not the default)."""

    @property
    def key(self) -> bytes:
        """Equal for constraints that mean the same."""
        return msgspec.json.encode(self._replace(selector=_canonical(self.selector)))

    @property
    def inclusion(self) -> bytes:
        """Equal for constraints that include the same nodes."""
        return msgspec.json.encode((self.placement, self.tolerations))

    def counts(self, pod: Pod) -> bool:
        """Tell whether a pod counts."""
        return selects(self.selector, pod.metadata.labels)

    def includes(self, node: Node) -> bool:
        """Tell whether the domain of a node counts, even if it has no pod."""
        if self.placement is not None and not fits_node(self.placement, node):
            return False
        if self.tolerations is None:
            return True
        return tolerates_all(self.tolerations, (t for t in node.spec.taints if t.effect in HARD))


def read(constraint: TopologySpreadConstraint, pod: Pod) -> Constraint:
    """Read a constraint; the values of matchLabelKeys are the pod's."""
    spec, selector = pod.spec, constraint.label_selector
    values = {
        key: pod.metadata.labels[key] for key in constraint.match_label_keys if key in pod.metadata.labels
    }
    if values and selector is not None:
        same = [LabelSelectorRequirement(key=k, operator="In", values=[v]) for k, v in values.items()]
        selector = msgspec.structs.replace(selector, match_expressions=[*selector.match_expressions, *same])
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = Affinity(node_affinity=NodeAffinity(required=affinity.required)) if affinity else None
    honours = (constraint.node_affinity_policy or "Honor") == "Honor"
    return Constraint(
        constraint.max_skew,
        constraint.topology_key,
        selector,
        PodSpec(node_selector=spec.node_selector or None, affinity=required) if honours else None,
        list(spec.tolerations) if constraint.node_taints_policy == "Honor" else None,
    )


class Places:
    """The nodes of a cycle, and which of them count: constraints with the same policies share it."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self.labels = {node.metadata.name: node.metadata.labels for node in nodes}
        self._eligible: dict[bytes, Sequence[Node]] = {}
        self._domains: dict[tuple[bytes, str], Mapping[str, Sequence[Node]]] = {}
        self._rows: dict[tuple[bytes, str], Mapping[str, Rows]] = {}

    def eligible(self, constraint: Constraint) -> Sequence[Node]:
        """Return the nodes whose domains count, even without a pod."""
        key = constraint.inclusion
        if key not in self._eligible:
            self._eligible[key] = [node for node in self._nodes if constraint.includes(node)]
        return self._eligible[key]

    def domains(self, constraint: Constraint) -> Mapping[str, Sequence[Node]]:
        """Return those nodes by their value of the topology key, in the order of the nodes."""
        at = (constraint.inclusion, constraint.topology_key)
        if at not in self._domains:
            found: dict[str, list[Node]] = defaultdict(list)
            for node in self.eligible(constraint):
                value = node.metadata.labels.get(constraint.topology_key)
                if value is not None:
                    found[value].append(node)
            self._domains[at] = dict(found)
        return self._domains[at]

    def within(self, constraint: Constraint, values: Iterable[str], fit: NodeFit) -> Mask:
        """Return those nodes whose value of the topology key is among some, as a mask over all nodes."""
        at = (constraint.inclusion, constraint.topology_key)
        rows = self._rows.get(at)
        if rows is None:
            domains = self.domains(constraint)
            rows = self._rows[at] = {value: fit.numbers(nodes) for value, nodes in domains.items()}
        return fit.mask(rows[value] for value in values if value in rows)


def _canonical(selector: LabelSelector | None) -> LabelSelector | None:
    """Return the selector as a sorted list of expressions."""
    if selector is None:
        return None
    equal = [
        LabelSelectorRequirement(key=key, operator="In", values=[value])
        for key, value in selector.match_labels.items()
    ]
    items = sorted(
        [*equal, *selector.match_expressions], key=lambda item: (item.key, item.operator, *item.values)
    )
    return LabelSelector(match_expressions=items)
