"""Label selectors, node selectors and tolerations over plain dicts."""

import re

INTEGER = re.compile(r"[+-]?[0-9]+")
Labels = dict[str, str]


def matches(selector: dict | None, labels: Labels) -> bool:
    """A LabelSelector: absent selects nothing, ``{}`` everything."""
    if selector is None:
        return False
    plain = all(labels.get(k) == v for k, v in (selector.get("matchLabels") or {}).items())
    return plain and all(_requirement(r, labels) for r in selector.get("matchExpressions") or [])


def is_empty(selector: dict | None) -> bool:
    return selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions")


def _requirement(requirement: dict, labels: Labels) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    values = [str(v) for v in requirement.get("values") or []]
    have = labels.get(key)
    if operator == "In":
        return have in values if have is not None else False
    if operator == "NotIn":
        return have is None or have not in values
    if operator == "Exists":
        return have is not None
    if operator == "DoesNotExist":
        return have is None
    if operator in ("Gt", "Lt"):
        return _numeric(operator, have, values)
    return False


def _numeric(operator: str, have: str | None, values: list[str]) -> bool:
    """Base-10 int64 on both sides; anything that is none of that does not match."""
    sides = [have or "", values[0] if len(values) == 1 else ""]
    if not all(INTEGER.fullmatch(side) and abs(int(side)) < 2**63 for side in sides):
        return False
    left, right = map(int, sides)
    return left > right if operator == "Gt" else left < right


def node_matches(term: dict, labels: Labels, name: str) -> bool:
    """One NodeSelectorTerm; a term without requirements matches nothing."""
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    return all(_requirement(r, labels) for r in expressions) and all(
        r["key"] == "metadata.name"
        and r["operator"] in ("In", "NotIn")
        and _requirement(r, {"metadata.name": name})
        for r in fields
    )


def any_node_term(selector: dict | None, labels: Labels, name: str) -> bool:
    """A required NodeSelector: its terms are alternatives; absent restricts nothing."""
    if selector is None:
        return True
    return any(node_matches(term, labels, name) for term in selector.get("nodeSelectorTerms") or [])


def tolerates(toleration: dict, taint: dict) -> bool:
    """Gt and Lt are behind an alpha gate that is off: they tolerate nothing."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    operator = toleration.get("operator") or "Equal"
    same = (toleration.get("value") or "") == (taint.get("value") or "")
    return operator == "Exists" or (operator == "Equal" and same)


def repelling(taints: list[dict], tolerations: list[dict]) -> dict | None:
    """The first NoSchedule or NoExecute taint that nothing tolerates."""
    for taint in taints:
        if taint.get("effect") in ("NoSchedule", "NoExecute") and not any(
            tolerates(t, taint) for t in tolerations
        ):
            return taint
    return None
