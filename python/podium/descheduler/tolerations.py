"""Which taints a pod bears, with the comparison operators of v1.36 (``Lt``, ``Gt``)."""

import re
from collections.abc import Iterable, Sequence

from podium.api import Node, Pod, Taint, Toleration
from podium.api.matching import tolerates as _tolerates

HARD = frozenset({"NoSchedule", "NoExecute"})
"""Effects that keep a pod off a node."""

_INTEGER = re.compile(r"(0|-?[1-9][0-9]*)", re.ASCII)
_INT64 = range(-(2**63), 2**63)


def tolerates(tolerations: Sequence[Toleration], taint: Taint) -> bool:
    """Tell whether one of the tolerations covers a taint."""
    return _tolerates(tolerations, taint) or any(_compares(item, taint) for item in tolerations)


def tolerates_all(tolerations: Sequence[Toleration], taints: Iterable[Taint]) -> bool:
    """Tell whether every taint is tolerated."""
    return all(tolerates(tolerations, taint) for taint in taints)


def tolerates_node(pod: Pod, node: Node) -> bool:
    """Tell whether a pod tolerates the NoSchedule and NoExecute taints of a node."""
    return tolerates_all(pod.spec.tolerations, (taint for taint in node.spec.taints if taint.effect in HARD))


def _compares(toleration: Toleration, taint: Taint) -> bool:
    if toleration.operator not in ("Lt", "Gt") or toleration.effect not in ("", taint.effect):
        return False
    if toleration.key not in ("", taint.key):
        return False
    bound, value = _integer(toleration.value), _integer(taint.value)
    if bound is None or value is None:
        return False
    return value < bound if toleration.operator == "Lt" else value > bound


def _integer(text: str) -> int | None:
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if number in _INT64 else None
