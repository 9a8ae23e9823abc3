"""Selectors, node terms and tolerations as controllers judge them, one object at a time.

Controllers need this while workloads are expanded, before there is a snapshot; scheduling has its own in
the core.
"""

from collections.abc import Iterable, Mapping, Sequence

from podium.api.objects.affinity import NodeSelectorRequirement, NodeSelectorTerm, Toleration
from podium.api.objects.base import LabelSelector, LabelSelectorRequirement
from podium.api.objects.node import Node, Taint
from podium.api.objects.pod import PodSpec

Labels = Mapping[str, str]


def selects(selector: LabelSelector | None, labels: Labels) -> bool:
    """Tell whether a label selector selects; ``None`` selects nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    return all(_meets(requirement, labels) for requirement in selector.match_expressions)


def _meets(requirement: LabelSelectorRequirement | NodeSelectorRequirement, labels: Labels) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compares(requirement, value)
    return False


def _compares(requirement: LabelSelectorRequirement | NodeSelectorRequirement, value: str | None) -> bool:
    if value is None or len(requirement.values) != 1:
        return False
    try:
        have, want = int(value), int(requirement.values[0])
    except ValueError:
        return False
    return have > want if requirement.operator == "Gt" else have < want


def term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """Tell whether one term of a node selector admits a node; an empty term admits none."""
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {"metadata.name": node.metadata.name}
    return all(_meets(item, node.metadata.labels) for item in term.match_expressions) and all(
        _meets(item, fields) for item in term.match_fields
    )


def fits_node(spec: PodSpec, node: Node) -> bool:
    """Tell whether a pod's node selector and required node affinity admit a node."""
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in (spec.node_selector or {}).items()):
        return False
    affinity = spec.affinity and spec.affinity.node_affinity
    if not affinity or affinity.required is None:
        return True
    return any(term_matches(term, node) for term in affinity.required.node_selector_terms)


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Tell whether one of the tolerations covers a taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def fits_taints(tolerations: Sequence[Toleration], node: Node) -> bool:
    """Tell whether all NoSchedule and NoExecute taints of a node are tolerated."""
    hard = (taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute"))
    return all(tolerates(tolerations, taint) for taint in hard)
