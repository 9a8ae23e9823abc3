"""Namespaces, services, controllers and disruption budgets."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import Chooser, chance
from tests.parity.generator.selectors import draw_selector
from tests.parity.generator.world import Object, World

CONTROLLERS = (
    ("replicaSets", "apps/v1", "ReplicaSet"),
    ("statefulSets", "apps/v1", "StatefulSet"),
    ("replicationControllers", "v1", "ReplicationController"),
)


def draw_namespaces(w: World) -> None:
    """Namespaces with labels; one is missing on purpose."""
    for name in words.NAMESPACES:
        if name == "orphan":
            continue
        labels = {"kubernetes.io/metadata.name": name}
        for key, values in words.NAMESPACE_LABELS.items():
            if not chance(w.c, 30):
                labels[key] = w.c.pick(values)
        w.add("namespaces", {"metadata": {"name": name, "labels": labels}})


def draw_owners(w: World) -> None:
    """Services and controllers, whose selectors give pods without constraints their default ones."""
    if not w.has("owners"):
        return
    for number in range(w.c.integer(1, 3)):
        service: Object = {"metadata": {"name": f"service-{number}", "namespace": _namespace(w)}, "spec": {}}
        if not chance(w.c, 10):
            service["spec"]["selector"] = _plain_selector(w.c)
        w.add("services", service)
    for number in range(w.c.integer(0, 3)):
        _controller(w, f"owner-{number}")


def _controller(w: World, name: str) -> None:
    kind, api_version, singular = w.c.pick(CONTROLLERS)
    namespace = _namespace(w)
    selector: Object = _plain_selector(w.c)
    if singular != "ReplicationController":
        drawn = draw_selector(w.c) if chance(w.c, 30) else None
        selector = drawn or {"matchLabels": selector}
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    w.add(kind, {"metadata": metadata, "spec": {"replicas": 3, "selector": selector}})
    reference = {"apiVersion": api_version, "kind": singular, "name": name, "uid": f"uid-{name}"}
    w.owners.append((namespace, reference | {"controller": True}))


def _plain_selector(c: Chooser) -> dict[str, str]:
    selector = {"app": c.pick(words.APPS)}
    return selector | {"tier": c.pick(words.TIERS)} if chance(c, 20) else selector


def _namespace(w: World) -> str:
    return w.c.pick(words.NAMESPACES[:2])


def draw_budgets(w: World) -> None:
    """Disruption budgets: used up or not, with a selector of any kind, with pods that are counted already."""
    if not w.has("budgets"):
        return
    for number in range(w.c.integer(1, 3)):
        namespace = _namespace(w)
        spec: Object = {"minAvailable": 1}
        selector = {"matchLabels": {"app": w.c.pick(words.APPS)}} if chance(w.c, 60) else draw_selector(w.c)
        if selector is not None:
            spec["selector"] = selector
        status: Object = {"disruptionsAllowed": w.c.pick((0, 0, 1, 2))}
        names = [p["metadata"]["name"] for p in w.all("pods") if p["metadata"]["namespace"] == namespace]
        if names and chance(w.c, 25):
            status["disruptedPods"] = {w.c.pick(names): "2026-02-01T00:00:00Z"}
        metadata = {"name": f"budget-{number}", "namespace": namespace}
        w.add("podDisruptionBudgets", {"metadata": metadata, "spec": spec, "status": status})
