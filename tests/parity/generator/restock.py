"""Storage that changes while a sequence runs: volumes, claims, and what drivers say of nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import chance
from tests.parity.generator.claims import BOUND, SELECTED
from tests.parity.generator.storage import (
    CLASSES,
    draw_capacity,
    draw_class,
    draw_csi_node,
    draw_free_volume,
    draw_volume,
)
from tests.parity.generator.world import Object, World


class Stock:
    """The objects of storage as they are at some step."""

    def __init__(self, w: World) -> None:
        self.w = w
        self.steps: list[Object] = []
        kinds = ("persistentVolumes", "persistentVolumeClaims", "csiNodes", "csiStorageCapacities")
        self.objects = {kind: {_key(o): o for o in w.all(kind)} for kind in kinds}

    def pick(self, kind: str) -> Object | None:
        """A copy of one of a kind."""
        objects = self.objects[kind]
        return copy.deepcopy(objects[self.w.c.pick(list(objects))]) if objects else None

    def set(self, kind: str, obj: Object) -> None:
        """Add or replace an object."""
        self.objects.setdefault(kind, {})[_key(obj)] = obj
        self.steps.append({"op": "set", "kind": kind, "object": obj})

    def delete(self, kind: str, obj: Object) -> None:
        """Remove an object."""
        self.objects[kind].pop(_key(obj), None)
        self.steps.append({"op": "delete", "kind": kind, "key": _key(obj)})


def restock(w: World, steps: list[Object]) -> list[Object]:
    """Strew changes of storage among the steps of a sequence that is about storage."""
    events = (VOLUME_EVENTS if w.has("volumes") else ()) + (LIMIT_EVENTS if w.has("limits") else ())
    if not events:
        return steps
    stock = Stock(w)
    for step in steps:
        if step["op"] == "schedule" and chance(w.c, 12):
            w.c.pick(events)(stock)
        stock.steps.append(step)
    return stock.steps


def _key(obj: Object) -> str:
    meta = obj["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else str(meta["name"])


def _new_volume(s: Stock) -> None:
    s.set("persistentVolumes", draw_free_volume(s.w))


def _changed_volume(s: Stock) -> None:
    """Its phase, or another place or source under the same name and of the same size."""
    volume = s.pick("persistentVolumes")
    if volume is None:
        return
    if "claimRef" not in volume["spec"] and chance(s.w.c, 50):
        volume["status"]["phase"] = s.w.c.pick(("Available", "Released", "Pending"))
    else:
        fresh = draw_volume(s.w, volume["spec"]["storageClassName"])
        fresh["spec"] |= {
            key: volume["spec"][key] for key in ("capacity", "claimRef") if key in volume["spec"]
        }
        fresh["metadata"]["name"] = volume["metadata"]["name"]
        volume = fresh | {"status": volume["status"]}
    s.set("persistentVolumes", volume)


def _lost_volume(s: Stock) -> None:
    volume = s.pick("persistentVolumes")
    if volume is not None:
        s.delete("persistentVolumes", volume)


def _bound_claim(s: Stock) -> None:
    """A controller has bound a claim to a volume that was made for it."""
    claim = s.pick("persistentVolumeClaims")
    if claim is None or BOUND in claim["metadata"]["annotations"]:
        return
    volume = draw_volume(s.w, claim["spec"]["storageClassName"])
    identity = {key: claim["metadata"][key] for key in ("name", "namespace", "uid")}
    volume["spec"]["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **identity}
    s.set("persistentVolumes", volume | {"status": {"phase": "Bound"}})
    claim["spec"]["volumeName"] = volume["metadata"]["name"]
    claim["metadata"]["annotations"][BOUND] = "yes"
    s.set("persistentVolumeClaims", claim | {"status": {"phase": "Bound"}})


def _selected_claim(s: Stock) -> None:
    """Somebody has selected a node for a claim, or taken the selection back."""
    claim = s.pick("persistentVolumeClaims")
    if claim is None or BOUND in claim["metadata"]["annotations"]:
        return
    if claim["metadata"]["annotations"].pop(SELECTED, None) is None:
        claim["metadata"]["annotations"][SELECTED] = s.w.c.pick(s.w.node_names())
    s.set("persistentVolumeClaims", claim)


def _lost_claim(s: Stock) -> None:
    claim = s.pick("persistentVolumeClaims")
    if claim is not None:
        s.delete("persistentVolumeClaims", claim)


def _class(s: Stock) -> None:
    """The class was deleted, and mostly made anew."""
    name, provisioner, mode = s.w.c.pick(CLASSES)
    storage_class = draw_class(s.w, name, provisioner, mode)
    s.set("storageClasses", storage_class)
    if chance(s.w.c, 25):
        s.delete("storageClasses", storage_class)


def _capacity(s: Stock) -> None:
    known = s.pick("csiStorageCapacities")
    fresh = draw_capacity(s.w, s.w.c.pick(words.ZONES))
    if known is not None and chance(s.w.c, 30):
        s.delete("csiStorageCapacities", known)
    elif known is not None and chance(s.w.c, 60):
        s.set("csiStorageCapacities", known | {"capacity": fresh["capacity"]})
    else:
        s.set("csiStorageCapacities", fresh)


def _csi_node(s: Stock) -> None:
    known = s.pick("csiNodes")
    if known is not None and chance(s.w.c, 15):
        s.delete("csiNodes", known)
    else:
        s.set("csiNodes", draw_csi_node(s.w, s.w.c.pick(s.w.node_names())))


Event = Callable[[Stock], None]
VOLUME_EVENTS: tuple[Event, ...] = (
    _new_volume,
    _changed_volume,
    _changed_volume,
    _lost_volume,
    _bound_claim,
    _bound_claim,
    _selected_claim,
    _lost_claim,
    _class,
    _capacity,
    _capacity,
)
LIMIT_EVENTS: tuple[Event, ...] = (_csi_node,) * 5
