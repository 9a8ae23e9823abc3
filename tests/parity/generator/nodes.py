"""Nodes."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import chance, some, subset
from tests.parity.generator.quantities import GI, MI, Amounts, spelled
from tests.parity.generator.world import Object, World

SIZES: tuple[Amounts, ...] = (
    {"cpu": 8000, "memory": 16 * GI, "pods": 110},
    {"cpu": 4000, "memory": 8 * GI, "pods": 20},
    {"cpu": 16000, "memory": 32 * GI, "pods": 110},
    {"cpu": 16000, "memory": 64 * GI, "pods": 30},
    {"cpu": 7900, "memory": 17777777777, "pods": 16},
    {"cpu": 64000, "memory": 256 * GI, "pods": 250},
)


def add_node(w: World, name: str) -> Object:
    """Draw a node and put it into the scenario."""
    node = draw_node(w, name)
    return w.add("nodes", node)


def draw_node(w: World, name: str) -> Object:
    """A node: labels, taints, room, images, declared features."""
    size = _size(w)
    w.room[name] = dict(size)
    status: Object = {"allocatable": spelled(w.c, size, odd=w.has("odd"))}
    status["capacity"] = dict(status["allocatable"])
    if w.often("scalars", 15):  # capacity without allocatable: the resource counts as absent
        status["capacity"]["example.com/gpu"] = "2"
    if w.has("images"):
        status["images"] = _images(w)
    if w.often("features", 70):
        status["declaredFeatures"] = sorted(subset(w.c, words.DECLARED_FEATURES, 3))
    spec: Object = {}
    if taints := _taints(w):
        spec["taints"] = taints
    if w.often("taints", 6):
        spec["unschedulable"] = True
    return {"metadata": {"name": name, "labels": draw_node_labels(w, name)}, "spec": spec, "status": status}


def _size(w: World) -> Amounts:
    size = dict(w.c.pick(SIZES))
    if w.has("full"):
        size["cpu"] = min(size["cpu"], 4000)
        size["pods"] = w.c.pick((size["pods"], size["pods"], 5, 8))
    if w.has("scalars"):
        size["ephemeral-storage"] = w.c.pick((10 * GI, GI, 100 * MI))
        for name in words.EXTENDED:
            if not chance(w.c, 25):
                size[name] = w.c.pick((4, 8, 16, 0, 1))
        for name, amounts in words.HUGEPAGES.items():
            if chance(w.c, 60):
                size[name] = w.c.pick(amounts)
    if chance(w.c, 1):
        del size[w.c.pick(("cpu", "memory", "pods"))]
    return size


def draw_node_labels(w: World, name: str) -> dict[str, str]:
    """Topology in its old and new spelling (or none), and what selectors look for."""
    c = w.c
    labels = {words.HOSTNAME: name}
    if chance(c, 6):
        labels[words.HOSTNAME] = c.pick(("shared", name))
    elif chance(c, 4):
        del labels[words.HOSTNAME]
    if not chance(c, 12):
        labels[words.ZONE] = c.pick(words.ZONES)
    if chance(c, 50):
        labels[words.REGION] = c.pick(("r1", "r2"))
    if chance(c, 2):
        labels[words.ZONE] = ""
    if w.often("volumes", 15) or chance(c, 2):
        labels[words.BETA_ZONE] = c.pick(words.ZONES)
        labels[words.BETA_REGION] = c.pick(("r1", "r2"))
    if w.has("nodeaffinity") or w.has("volumes"):
        for key, values in words.NODE_VALUES.items():
            if not chance(c, 25):
                labels[key] = c.pick(values)
    return labels


def _taints(w: World) -> list[Object]:
    if not w.often("taints", 55):
        return []
    by_identity = {(t["key"], t["effect"]): dict(t) for t in some(w.c, words.TAINTS, 2)}
    return list(by_identity.values())


def _images(w: World) -> list[Object]:
    """Images a node holds. Nodes disagree about sizes, and one image may go by several names."""
    images = []
    for name in subset(w.c, words.IMAGES, 4):
        tagged = name if ":" in name.rsplit("/", 1)[-1] else name + ":latest"
        names = [tagged] if not chance(w.c, 20) else [tagged, "mirror.example/" + tagged]
        images.append(
            {"names": names, "sizeBytes": w.c.pick((100 * MI, 20 * MI, 500 * MI, 1500 * MI, 3 * GI))}
        )
    return images
