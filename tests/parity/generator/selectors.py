"""Label selectors, node selectors, tolerations."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import Chooser, chance, some, subset
from tests.parity.generator.world import Object, World

POD_LABELS = {"app": words.APPS, "tier": words.TIERS}


def draw_pod_labels(c: Chooser) -> dict[str, str]:
    """Labels of a pod."""
    labels = {"app": c.pick(words.APPS)}
    if chance(c, 60):
        labels["tier"] = c.pick(words.TIERS)
    if chance(c, 30):
        labels["pod-template-hash"] = c.pick(words.HASHES)
    return labels


def draw_selector(c: Chooser) -> Object | None:
    """A selector over pod labels; None and {} are the two that mean opposite things."""
    kind = c.integer(0, 19)
    if kind < 10:
        return {"matchLabels": {"app": c.pick(words.APPS)}}
    if kind < 18:
        return {"matchExpressions": [_expression(c, POD_LABELS) for _ in range(c.integer(1, 2))]}
    return {} if kind == 18 else None


def draw_namespace_selector(c: Chooser) -> Object:
    """A selector over namespace labels; {} is every namespace."""
    kind = c.integer(0, 9)
    if kind < 4:
        return {"matchLabels": {"team": c.pick(("a", "b"))}}
    if kind < 8:
        return {"matchExpressions": [_expression(c, words.NAMESPACE_LABELS)]}
    return {}


def _expression(c: Chooser, vocabulary: dict[str, tuple[str, ...]]) -> Object:
    key = c.pick(list(vocabulary))
    operator = c.pick(("In", "NotIn", "Exists", "DoesNotExist"))
    if operator in {"In", "NotIn"}:
        return {"key": key, "operator": operator, "values": some(c, vocabulary[key], 2)}
    return {"key": key, "operator": operator}


def draw_node_term(c: Chooser) -> Object:
    """A term of a node selector: every operator of matchExpressions; the empty term matches nothing."""
    if chance(c, 3):
        return {}
    return {"matchExpressions": [_node_expression(c) for _ in range(c.pick((1, 1, 2)))]}


def _node_expression(c: Chooser) -> Object:
    operator = c.pick(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "In", "NotIn"))
    if operator in {"Gt", "Lt"}:
        return {"key": "gen", "operator": operator, "values": [c.pick(("2", "6", "10"))]}
    key = c.pick(("disk", "arch", "gen", words.ZONE))
    values = words.ZONES if key == words.ZONE else words.NODE_VALUES[key]
    if operator in {"In", "NotIn"}:
        return {"key": key, "operator": operator, "values": some(c, values, 2)}
    return {"key": key, "operator": operator}


def draw_node_affinity(w: World) -> Object:
    """Node affinity of a pod; empty if there is none."""
    affinity: Object = {}
    if w.often("pins", 50) and w.node_names():
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": draw_pins(w)}
    elif w.often("nodeaffinity", 35):
        terms = [_pod_node_term(w.c) for _ in range(w.c.pick((2, 1, 3)))]
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if w.often("nodeaffinity", 60):
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": w.c.pick((1, 10, 50, 100)), "preference": _pod_node_term(w.c)}
            for _ in range(w.c.integer(1, 3))
        ]
    return affinity


def _pod_node_term(c: Chooser) -> Object:
    """A term; rarely one that upstream stores but cannot parse, since a negative number is no label value."""
    if chance(c, 1):
        return {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["-3"]}]}
    return draw_node_term(c)


def draw_pins(w: World) -> list[Object]:
    """Terms that name nodes. A sequence gets one name at most: upstream walks several in random order."""
    c = w.c
    names = [*w.node_names(), "absent"]
    if w.scenario["tier"] == "B":
        return [{"matchFields": [_field(c, "In", names)]}]
    terms = []
    for _ in range(c.integer(1, 3)):
        fields = [_field(c, c.pick(("In", "In", "NotIn")), names) for _ in range(c.pick((1, 1, 2)))]
        term: Object = {"matchFields": fields}
        if chance(c, 25):
            term["matchExpressions"] = [_node_expression(c)]
        terms.append(term)
    return terms


def _field(c: Chooser, operator: str, names: list[str]) -> Object:
    return {"key": "metadata.name", "operator": operator, "values": [c.pick(names)]}


def draw_tolerations(w: World) -> list[Object]:
    """Tolerations that meet the vocabulary's taints, or narrowly miss them."""
    if not w.often("taints", 65):
        return []
    return [_toleration(w.c) for _ in range(w.c.integer(1, 4))]


def _toleration(c: Chooser) -> Object:
    if chance(c, 15):
        return {"operator": "Exists", **_effect(c)}
    taint = c.pick(words.TAINTS)
    toleration: Object = {"key": taint["key"]}
    if chance(c, 50):
        toleration["operator"] = "Exists"
    else:
        if not chance(c, 25):
            toleration["operator"] = "Equal"
        toleration["value"] = c.pick((taint.get("value", ""), taint.get("value", ""), "other"))
    if not chance(c, 40):
        toleration["effect"] = c.pick((taint["effect"], taint["effect"], "NoSchedule", "PreferNoSchedule"))
    if toleration.get("effect") == "NoExecute" and chance(c, 30):
        toleration["tolerationSeconds"] = 300
    return toleration


def _effect(c: Chooser) -> Object:
    effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")
    return {"effect": c.pick(effects)} if chance(c, 60) else {}


def merge_label_keys(
    selector: Object | None, labels: dict[str, str], keys: list[str], operator: str
) -> Object | None:
    """What the API server does with matchLabelKeys: it writes the pod's own values into the selector."""
    if selector is None:
        return None
    added = [{"key": k, "operator": operator, "values": [labels[k]]} for k in keys if k in labels]
    if not added:
        return selector
    return selector | {"matchExpressions": [*selector.get("matchExpressions", []), *added]}


def draw_label_keys(c: Chooser, selector: Object | None) -> list[str]:
    """Keys for matchLabelKeys: none that the selector has already."""
    if not selector:
        return []
    used = set(selector.get("matchLabels", {})) | {e["key"] for e in selector.get("matchExpressions", [])}
    return subset(c, [k for k in ("pod-template-hash", "tier") if k not in used], 1) if chance(c, 25) else []
