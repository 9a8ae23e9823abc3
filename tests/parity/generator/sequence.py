"""Tier B: a sequence of scheduling cycles, with changes to the cluster in between."""

from __future__ import annotations

import copy
from collections.abc import Callable

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import Chooser, chance, subset
from tests.parity.generator.cluster import draw_cluster, make_demanding
from tests.parity.generator.nodes import draw_node, draw_node_labels
from tests.parity.generator.pods import bind, draw_pod
from tests.parity.generator.restock import restock
from tests.parity.generator.selectors import draw_pod_labels
from tests.parity.generator.topology import REQUIRED, pod_terms
from tests.parity.generator.world import TRAITS, Object, World, draw_traits

# Families that a sequence plays less often than a judgement: they leave little to choose from.
RARE = ("volumes", "limits", "features", "pins", "inline", "full", "ports")

# Disks named in pods, on nodes that can attach only so many: what a class without claims reads of storage.
DISKS = {"inline", "limits"}

CANARY = {"release": "canary"}
RACK = "example.com/rack"


def draw_tier_b(c: Chooser, name: str) -> Object:
    """A tier-B scenario."""
    drawn = draw_traits(c)
    traits = {trait for trait in TRAITS if trait in drawn and (trait not in RARE or chance(c, 35))}
    if "contention" not in traits and chance(c, 10):
        traits |= DISKS
    w = World(c, frozenset(traits), {"id": name, "tier": "B"})
    draw_cluster(w, nodes=_node_count(w))
    sequence = Sequence(w)
    sequence.draw()
    w.scenario["steps"] = restock(w, sequence.steps)
    w.scenario["traits"] = sorted(w.traits | sequence.extra)
    return w.scenario


def _node_count(w: World) -> int:
    """Mostly few nodes, which fill up; sometimes enough for sampling, which starts at a hundred."""
    if chance(w.c, 8):
        w.traits = w.traits - {"full", "contention", "volumes", "resize", "sidecars"} | {"large"}
        return w.c.pick((100, 101, 120, 150, 260, 320))
    return w.c.pick((8, 5, 3, 12, 18, 26))


class Sequence:
    """The steps of one sequence, and what they can refer to."""

    def __init__(self, w: World) -> None:
        self.w = w
        self.steps: list[Object] = w.scenario.setdefault("steps", [])
        self.templates: list[str] = []
        self.placed: list[str] = []  # keys of pods that steps have brought in
        self.nodes: dict[str, Object] = {node["metadata"]["name"]: node for node in w.all("nodes")}
        self.extra: set[str] = set()

    def draw(self) -> None:
        c = self.w.c
        self._draw_templates()
        if self.w.often("interpod", 25):
            self._move_to_racks()
        large = self.w.has("large")
        for number in range(c.pick((40, 30, 60, 90)) if large else c.pick((40, 30, 60, 90, 140, 200))):
            if number and chance(c, 14):
                event = c.pick(EVENTS)
                (_update_node if "racks" in self.extra and chance(c, 50) else event)(self)
            self._schedule(number)
        self._settle_and_retry()

    def _draw_templates(self) -> None:
        c = self.w.c
        templates = self.w.scenario.setdefault("templates", {})
        for number in range(c.integer(1, 6)):
            pod = self._similar() if number and chance(c, 30) else self._new_template()
            name = f"t{number}"
            if self.w.has("contention") and number and chance(c, 50):
                make_demanding(self.w, pod)
            elif self.w.has("priorities") and number and chance(c, 40):
                pod["spec"]["priority"] = c.pick((1000, 100))
            templates[name] = pod
            self.templates.append(name)

    def _new_template(self) -> Object:
        pod, _ = draw_pod(self.w, "template")
        pod["metadata"].pop("uid")
        return pod

    def _similar(self) -> Object:
        """Another template but for a label or priority: pods of both are alike unless somebody asks."""
        c = self.w.c
        pod = copy.deepcopy(self.w.scenario["templates"][c.pick(self.templates)])
        if self.w.has("priorities") and chance(c, 60):
            pod["spec"]["priority"] = c.pick(words.PRIORITIES)
        else:
            pod["metadata"]["labels"] |= CANARY
        return pod

    def _move_to_racks(self) -> None:
        """Let all affinity terms be about a label that no node has, until an update of a node brings it."""
        self.extra.add("racks")
        pods = [*self.w.all("pods"), *self.w.scenario["templates"].values()]
        for pod in pods:
            for term in pod_terms(pod):
                term["topologyKey"] = RACK

    def _schedule(self, number: int) -> None:
        template = self.w.c.pick(self.templates)
        name = f"p{number}"
        self.steps.append({"op": "schedule", "template": template, "name": name})
        namespace = self.w.scenario["templates"][template]["metadata"]["namespace"]
        self.placed.append(f"{namespace}/{name}")
        if self.w.has("priorities") and chance(self.w.c, 12):
            if chance(self.w.c, 70):
                self.steps.append({"op": "settle"})
            self.steps.append({"op": "retry", "key": self.placed[-1]})

    def _settle_and_retry(self) -> None:
        self.steps.append({"op": "settle"})
        self.steps.extend({"op": "retry", "key": key} for key in subset(self.w.c, self.placed, 8))

    def any_pod(self) -> str:
        """A pod of the sequence or of the beginning."""
        bound = [f"{p['metadata']['namespace']}/{p['metadata']['name']}" for p in self.w.all("pods")]
        return self.w.c.pick([*self.placed, *bound])

    def touch_nodes(self) -> None:
        """Note what upstream's caches make of a changed node, for those who do not follow it there."""
        if self.w.has("images"):
            self.extra.add("staleImages")


def _add_node(s: Sequence) -> None:
    node = draw_node(s.w, f"late-{s.w.number()}")
    s.nodes[node["metadata"]["name"]] = node
    s.steps.append({"op": "addNode", "node": node})
    s.touch_nodes()


def _update_node(s: Sequence) -> None:
    """New labels, taints, room or cordon. A zone that changes alone keeps its place in upstream's order."""
    name = s.w.c.pick(list(s.nodes))
    node = copy.deepcopy(s.nodes[name])
    fresh = draw_node(s.w, name)
    kind = s.w.c.integer(0, 4)
    if "racks" in s.extra and chance(s.w.c, 60):
        _move_rack(s, node["metadata"]["labels"])
    elif kind == 0:
        labels = draw_node_labels(s.w, name)
        if any(labels.get(k) != node["metadata"]["labels"].get(k) for k in (words.ZONE, words.REGION)):
            s.extra.add("staleOrder")
        node["metadata"]["labels"] = labels
    elif kind == 1:
        node["spec"] = fresh["spec"]
    elif kind == 2:
        node["status"]["allocatable"] = fresh["status"]["allocatable"]
    elif kind == 3:
        node["spec"]["unschedulable"] = not node["spec"].get("unschedulable", False)
    else:
        node["status"] = fresh["status"]
    s.nodes[name] = node
    s.steps.append({"op": "updateNode", "node": node})
    s.touch_nodes()


def _move_rack(s: Sequence, labels: dict[str, str]) -> None:
    if labels.pop(RACK, None) is None:
        labels[RACK] = s.w.c.pick(("r1", "r2"))


def _delete_node(s: Sequence) -> None:
    """Now and then the same name comes back; until then upstream keeps the pods that were there."""
    if len(s.nodes) < 3:
        return
    name = s.w.c.pick(list(s.nodes))
    node = s.nodes.pop(name)
    s.steps.append({"op": "deleteNode", "key": name})
    if chance(s.w.c, 25):
        s.steps.append({"op": "addNode", "node": node})
        s.nodes[name] = node
    s.touch_nodes()


def _add_pod(s: Sequence) -> None:
    pod, _ = draw_pod(s.w, f"foreign-{s.w.number()}")
    pod["spec"]["schedulerName"] = "someone-else"
    if s.w.often("interpod", 40):  # the first to ask for this label
        selector = {"matchLabels": dict(CANARY)}
        term = {"topologyKey": words.ZONE, "labelSelector": selector, "namespaceSelector": {}}
        pod["spec"]["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
    bind(s.w, pod, s.w.c.pick(list(s.nodes)))
    s.steps.append({"op": "addPod", "pod": pod})


def _delete_pod(s: Sequence) -> None:
    s.steps.append({"op": "deletePod", "key": s.any_pod()})


def _patch_pod(s: Sequence) -> None:
    """Labels, the start of a deletion, the end of a pod."""
    kind = s.w.c.integer(0, 3)
    patch: Object = {"metadata": {"labels": draw_pod_labels(s.w.c)}}
    if kind == 2:
        patch = {"metadata": {"deletionTimestamp": "2029-01-01T00:00:00Z"}}
    elif kind == 3:
        patch = {"status": {"phase": s.w.c.pick(("Succeeded", "Failed"))}}
    s.steps.append({"op": "patchPod", "key": s.any_pod(), "patch": patch})


Event = Callable[[Sequence], None]
EVENTS: tuple[Event, ...] = (
    _delete_pod,
    _delete_pod,
    _delete_pod,
    _patch_pod,
    _patch_pod,
    _update_node,
    _update_node,
    _add_node,
    _add_pod,
    _delete_node,
)
