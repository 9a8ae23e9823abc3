"""A pod's volumes: claims in every state, ephemeral claims, and volumes named in the pod itself."""

from __future__ import annotations

from collections.abc import Callable

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import chance
from tests.parity.generator.quantities import GI, MI
from tests.parity.generator.storage import draw_volume
from tests.parity.generator.world import Object, World

BOUND = "pv.kubernetes.io/bind-completed"
SELECTED = "volume.kubernetes.io/selected-node"


def attach_volumes(w: World, pod: Object) -> None:
    """Give the pod volumes, and the cluster the claims and volumes behind them."""
    volumes: list[Object] = pod["spec"].get("volumes", [])
    if w.often("volumes", 75 if "pending" in pod["metadata"]["name"] else 50):
        for _ in range(w.c.pick((1, 1, 1, 2))):
            volumes.append(_claim_volume(w, pod, f"v{len(volumes)}"))
    if w.often("inline", 60):
        for _ in range(w.c.pick((1, 1, 2))):
            volumes.append({"name": f"v{len(volumes)}", **_inline(w)})
    if w.often("images", 12):
        image = {"reference": w.c.pick(words.IMAGES), "pullPolicy": "IfNotPresent"}
        volumes.append({"name": f"v{len(volumes)}", "image": image})
    if volumes:
        pod["spec"]["volumes"] = volumes


def _claim_volume(w: World, pod: Object, name: str) -> Object:
    namespace = pod["metadata"]["namespace"]
    claims = [c for c in w.all("persistentVolumeClaims") if c["metadata"]["namespace"] == namespace]
    if claims and chance(w.c, 15):
        shared = w.c.pick(claims)["metadata"]["name"]
        return {"name": name, "persistentVolumeClaim": {"claimName": shared}}
    if chance(w.c, 12):
        return _ephemeral(w, pod, name)
    claim = _new_claim(w, namespace, f"claim-{w.number()}")
    settled = pod["metadata"]["name"].startswith(("bound", "foreign"))
    w.c.pick(SETTLED if settled else STATES)(w, claim)
    return {"name": name, "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}


def _new_claim(w: World, namespace: str, name: str) -> Object:
    c = w.c
    mode = c.pick(("ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany"))
    if chance(c, 20):
        mode = c.pick(("ReadWriteOncePod", "ReadWriteOncePod", "ReadOnlyMany"))
    claim: Object = {
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{name}", "annotations": {}},
        "spec": {
            "accessModes": [mode],
            "volumeMode": "Filesystem",
            "storageClassName": c.pick((*("capped",) * 5, "local", "local", "fast", "legacy")),
            "resources": {
                "requests": {"storage": str(c.pick((GI // 2, GI - 50, 100 * MI, 3 * GI)) + w.number())}
            },
        },
        "status": {"phase": "Pending"},
    }
    if chance(c, 5):
        claim["spec"]["volumeAttributesClassName"] = "gold"
    return claim


def _bound(w: World, claim: Object) -> None:
    """Bound to a volume of its own."""
    volume = draw_volume(w, claim["spec"]["storageClassName"])
    identity = {key: claim["metadata"][key] for key in ("name", "namespace", "uid")}
    volume["spec"]["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **identity}
    volume["status"] = {"phase": "Bound"}
    w.add("persistentVolumes", volume)
    _bind_to(claim, volume["metadata"]["name"])
    w.add("persistentVolumeClaims", claim)


def _bind_to(claim: Object, volume: str) -> None:
    claim["spec"]["volumeName"] = volume
    claim["metadata"]["annotations"][BOUND] = "yes"
    claim["status"]["phase"] = "Bound"


def _waiting(w: World, claim: Object) -> None:
    """Not bound: for a class that waits for the first consumer, decided while scheduling."""
    if chance(w.c, 8) and w.node_names():
        claim["metadata"]["annotations"][SELECTED] = w.c.pick(w.node_names())
    if chance(w.c, 8):
        claim["spec"]["selector"] = {"matchLabels": {"tier": w.c.pick(words.TIERS)}}
    w.add("persistentVolumeClaims", claim)


def _promised(w: World, claim: Object) -> None:
    """Not bound, but a volume names it already."""
    volume = draw_volume(w, claim["spec"]["storageClassName"])
    identity = {key: claim["metadata"][key] for key in ("name", "namespace", "uid")}
    volume["spec"]["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **identity}
    volume["status"] = {"phase": "Available"}
    w.add("persistentVolumes", volume)
    w.add("persistentVolumeClaims", claim)


def _unclassed(w: World, claim: Object) -> None:
    """Not bound, of no class or of one that does not exist."""
    claim["spec"]["storageClassName"] = w.c.pick(("", "absent"))
    w.add("persistentVolumeClaims", claim)


def _immediate(w: World, claim: Object) -> None:
    """Not bound although its class binds at once."""
    claim["spec"]["storageClassName"] = "now"
    w.add("persistentVolumeClaims", claim)


def _half_bound(w: World, claim: Object) -> None:
    """Names its volume, but the binding is not complete."""
    _bound(w, claim)
    del claim["metadata"]["annotations"][BOUND]


def _lost(w: World, claim: Object) -> None:
    claim["status"]["phase"] = "Lost"
    w.add("persistentVolumeClaims", claim)


def _deleting(w: World, claim: Object) -> None:
    _bound(w, claim)
    claim["metadata"]["deletionTimestamp"] = "2026-02-01T00:00:00Z"


def _orphaned(w: World, claim: Object) -> None:
    """Bound to a volume that does not exist."""
    _bind_to(claim, "pv-gone")
    w.add("persistentVolumeClaims", claim)


def _missing(w: World, claim: Object) -> None:
    """A claim that nobody has created."""


State = Callable[[World, Object], None]
SETTLED: tuple[State, ...] = (*(_bound,) * 9, _waiting, _orphaned)  # of pods that run
STATES: tuple[State, ...] = (
    *(_bound,) * 9,
    *(_waiting,) * 30,
    _promised,
    _promised,
    _unclassed,
    _immediate,
    _half_bound,
    _lost,
    _deleting,
    _orphaned,
    _missing,
)


def _ephemeral(w: World, pod: Object, name: str) -> Object:
    """A generic ephemeral volume: its claim is the pod's own, somebody else's, or not there yet."""
    meta = pod["metadata"]
    claim = _new_claim(w, meta["namespace"], f"{meta['name']}-{name}")
    owner = w.c.pick(
        ("pod", "pod", "pod", "other", "absent")
        if not meta["name"].startswith("bound")
        else ("pod", "absent")
    )
    template = {"spec": {k: v for k, v in claim["spec"].items() if k != "volumeName"}}
    if owner == "pod":
        claim["metadata"]["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
        ]
    if owner != "absent":
        w.c.pick((_bound, _waiting))(w, claim)
    return {"name": name, "ephemeral": {"volumeClaimTemplate": template}}


def _inline(w: World) -> Object:
    c = w.c
    read_only = {"readOnly": True} if chance(c, 40) else {}
    kind = c.integer(0, 3)
    if kind == 0:
        return {"gcePersistentDisk": {"pdName": c.pick(("disk-1", "disk-2")), **read_only}}
    if kind == 1:
        return {"awsElasticBlockStore": {"volumeID": c.pick(("vol-1", "vol-2")), **read_only}}
    if kind == 2:
        iqn = c.pick(("iqn.2026-01.example:a", "iqn.2026-01.example:b"))
        return {"iscsi": {"targetPortal": "10.0.0.9", "iqn": iqn, "lun": c.integer(0, 1), **read_only}}
    monitors = c.pick((["m1", "m2"], ["m2", "m3"], ["m4"]))
    return {"rbd": {"monitors": monitors, "pool": c.pick(("rbd", "fast")), "image": "img", **read_only}}
