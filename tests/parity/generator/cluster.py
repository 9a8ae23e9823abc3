"""Tier A: a cluster, the pods in it, and pods to judge alone."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import Chooser, chance
from tests.parity.generator.configuration import draw_configuration
from tests.parity.generator.nodes import add_node
from tests.parity.generator.owners import draw_budgets, draw_namespaces, draw_owners
from tests.parity.generator.pods import bind, draw_pod
from tests.parity.generator.quantities import Amounts
from tests.parity.generator.resize import draw_resize
from tests.parity.generator.storage import draw_attachments, draw_storage
from tests.parity.generator.world import Object, World, new_world


def draw_tier_a(c: Chooser, name: str) -> Object:
    """A tier-A scenario."""
    w = new_world(c, "A", name)
    draw_cluster(w, nodes=c.pick((3, 5, 7, 9, 12, 6, 8, 15, 10, 2, 20, 11, 1)))
    w.scenario["pending"] = [draw_pending(w, f"pending-{i}") for i in range(c.integer(1, 4))]
    draw_attachments(w)
    if chance(c, 1):
        w.scenario["nodes"] = []
    return w.scenario


def draw_cluster(w: World, nodes: int) -> None:
    """Everything that is there before the pods to schedule are."""
    draw_configuration(w)
    draw_namespaces(w)
    draw_owners(w)
    for number in range(nodes):
        add_node(w, f"n{number}")
    draw_storage(w)
    density = w.c.pick((2, 1, 4, 0, 3))
    if w.has("contention"):
        density += 3
    for number in range(nodes * (density + 3 if w.has("full") else density)):
        add_bound_pod(w, f"bound-{number}")
    if w.has("nominated"):
        for number in range(w.c.integer(0, 2)):
            w.add("pods", _nominated(w, f"waiting-{number}"))
    draw_budgets(w)


def add_bound_pod(w: World, name: str) -> None:
    """A pod on some node, if there is room for it; now and then without asking."""
    pod, total = draw_pod(w, name)
    node = w.c.pick(w.node_names())
    if not _fits(w.room[node], total) and not chance(w.c, 4):
        return
    for resource, amount in total.items():
        if resource in w.room[node]:
            w.room[node][resource] -= amount
    bind(w, pod, node)
    draw_resize(w, pod)
    w.add("pods", pod)


def _fits(room: Amounts, total: Amounts) -> bool:
    return all(room.get(resource, 0) >= amount for resource, amount in total.items())


def draw_pending(w: World, name: str) -> Object:
    """A pod to schedule."""
    pod, _ = draw_pod(w, name)
    if w.often("priorities", 60):
        pod["spec"]["priority"] = w.c.pick((1000, 500, 100))
    if w.has("contention"):
        make_demanding(w, pod)
    if w.often("nominated", 30) and w.node_names():
        pod["status"]["nominatedNodeName"] = w.c.pick([*w.node_names(), "absent"])
    elif w.often("pins", 40) and w.node_names():
        # No scheduler meets such a pod; it is here for the NodeName plugin.
        pod["spec"]["nodeName"] = w.c.pick([*w.node_names(), "absent"])
        pod["spec"]["preemptionPolicy"] = "Never"
    if chance(w.c, 1):
        pod["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]
    if w.often("terminating", 3):
        pod["metadata"]["deletionTimestamp"] = "2026-02-01T00:00:00Z"
    return pod


def make_demanding(w: World, pod: Object) -> None:
    """Make a pod ask for most of a full node, and matter more than what runs there."""
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    resources.setdefault("requests", {})["cpu"] = w.c.pick(("1500m", "2500m", "3500m"))
    resources.get("limits", {}).pop("cpu", None)
    pod["spec"].pop("resources", None)
    pod["spec"]["priority"] = w.c.pick((1000, 5000, 100))


def _nominated(w: World, name: str) -> Object:
    """A pod that waits for its victims to leave: filters count it on its node."""
    pod, _ = draw_pod(w, name)
    pod["status"]["nominatedNodeName"] = w.c.pick(w.node_names())
    pod["spec"]["priority"] = w.c.pick((1000, 100, *words.PRIORITIES))
    return pod
