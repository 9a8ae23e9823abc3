"""Spread constraints and inter-pod affinity."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import Chooser, chance, some
from tests.parity.generator.selectors import (
    draw_label_keys,
    draw_namespace_selector,
    draw_selector,
    merge_label_keys,
)
from tests.parity.generator.world import Object, World

TOPOLOGY_KEYS = (words.ZONE, words.HOSTNAME, words.REGION, "disk")
POLICIES = ("Honor", "Ignore")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def draw_constraints(w: World, labels: dict[str, str]) -> list[Object]:
    """Between none and three constraints, each (key, whenUnsatisfiable) once, as validation asks."""
    if not w.often("spread", 65):
        return []
    found: dict[tuple[str, str], Object] = {}
    for _ in range(w.c.integer(1, 3)):
        constraint = _constraint(w.c, labels)
        found.setdefault((constraint["topologyKey"], constraint["whenUnsatisfiable"]), constraint)
    return list(found.values())


def _constraint(c: Chooser, labels: dict[str, str]) -> Object:
    hard = chance(c, 50)
    constraint: Object = {
        "maxSkew": c.pick((1, 1, 2, 3, 5)),
        "topologyKey": c.pick((words.ZONE, words.ZONE, words.HOSTNAME, words.REGION, "disk")),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
    }
    selector = {"matchLabels": {"app": labels["app"]}} if chance(c, 60) else draw_selector(c)
    keys = draw_label_keys(c, selector)
    if keys:
        constraint["matchLabelKeys"] = keys
        if not chance(c, 20):  # objects from before the merge carry the keys alone
            selector = merge_label_keys(selector, labels, keys, "In")
    if selector is not None:
        constraint["labelSelector"] = selector
    if hard and chance(c, 30):
        constraint["minDomains"] = c.pick((1, 2, 3, 5))
    if chance(c, 30):
        constraint["nodeAffinityPolicy"] = c.pick(POLICIES)
    if chance(c, 30):
        constraint["nodeTaintsPolicy"] = c.pick(POLICIES)
    return constraint


def draw_interpod(w: World, namespace: str, labels: dict[str, str]) -> Object:
    """podAffinity and podAntiAffinity, each with required and preferred terms; empty if there is none."""
    affinity: Object = {}
    for side, percent in (("podAffinity", 22), ("podAntiAffinity", 22)):
        rules: Object = {}
        if w.often("interpod", percent):
            rules[REQUIRED] = [_term(w.c, namespace, labels) for _ in range(w.c.pick((1, 1, 2)))]
        if w.often("interpod", percent + 15):
            rules[PREFERRED] = [
                {"weight": w.c.pick((1, 7, 50, 100)), "podAffinityTerm": _term(w.c, namespace, labels)}
                for _ in range(w.c.pick((1, 1, 2)))
            ]
        if rules:
            affinity[side] = rules
    return affinity


def pod_terms(pod: Object) -> list[Object]:
    """Every affinity term of a pod about other pods."""
    affinity = pod["spec"].get("affinity", {})
    sides = [affinity.get("podAffinity", {}), affinity.get("podAntiAffinity", {})]
    required = [term for side in sides for term in side.get(REQUIRED, [])]
    return required + [wish["podAffinityTerm"] for side in sides for wish in side.get(PREFERRED, [])]


def _term(c: Chooser, namespace: str, labels: dict[str, str]) -> Object:
    term: Object = {"topologyKey": c.pick(TOPOLOGY_KEYS)}
    selector = {"matchLabels": {"app": labels["app"]}} if chance(c, 35) else draw_selector(c)
    selector = _with_label_keys(c, term, selector, labels)
    if selector is not None:
        term["labelSelector"] = selector
    if chance(c, 25):
        term["namespaces"] = some(c, words.NAMESPACES, 2)
    if chance(c, 25):
        term["namespaceSelector"] = draw_namespace_selector(c)
    elif chance(c, 10):
        term["namespaces"] = [namespace]
    return term


def _with_label_keys(
    c: Chooser, term: Object, selector: Object | None, labels: dict[str, str]
) -> Object | None:
    keys = draw_label_keys(c, selector)
    if not keys:
        return selector
    mismatch = chance(c, 40)
    term["mismatchLabelKeys" if mismatch else "matchLabelKeys"] = keys
    return merge_label_keys(selector, labels, keys, "NotIn" if mismatch else "In")
