"""Volumes that must not be shared: inline disks, and claims for one pod only."""

from collections.abc import Callable

from tests.checker.storage import Storage
from tests.checker.world import Node, Pod, World


def _both_read_only(a: dict, b: dict) -> bool:
    return bool(a.get("readOnly") and b.get("readOnly"))


def _gce(a: dict, b: dict) -> bool:
    return a.get("pdName") == b.get("pdName") and not _both_read_only(a, b)


def _ebs(a: dict, b: dict) -> bool:
    return a.get("volumeID") == b.get("volumeID")


def _iscsi(a: dict, b: dict) -> bool:
    return a.get("iqn") == b.get("iqn") and not _both_read_only(a, b)


def _rbd(a: dict, b: dict) -> bool:
    monitors = set(a.get("monitors") or []) & set(b.get("monitors") or [])
    same = (a.get("pool") or "rbd", a.get("image")) == (b.get("pool") or "rbd", b.get("image"))
    return bool(monitors) and same and not _both_read_only(a, b)


CONFLICT: dict[str, Callable[[dict, dict], bool]] = {
    "gcePersistentDisk": _gce,
    "awsElasticBlockStore": _ebs,
    "iscsi": _iscsi,
    "rbd": _rbd,
}


def disk_conflict(world: World, pod: Pod, node: Node) -> str | None:
    for mine in pod.volumes:
        for source in CONFLICT.keys() & mine.keys():
            for other in world.on[node.name].values():
                for theirs in other.volumes:
                    if source in theirs and CONFLICT[source](mine[source], theirs[source]):
                        return f"{other.key} uses the {source} of volume {mine['name']}"
    return None


def single_pod_claim(world: World, pod: Pod, _node: Node) -> str | None:
    storage = Storage.of(world)
    exclusive = {
        c
        for c in pod.claims(ephemeral=False)
        if "ReadWriteOncePod" in (storage.claims.get(c, {}).get("spec", {}).get("accessModes") or [])
    }
    if not exclusive:
        return None
    for other, _ in world.where.values():
        shared = exclusive.intersection(other.claims(ephemeral=False))
        if shared:
            return f"{other.key} uses the ReadWriteOncePod claim {'/'.join(min(shared))}"
    return None
