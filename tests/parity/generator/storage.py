"""Storage of the cluster: classes, drivers, what nodes can attach, what can still be provisioned."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import chance, some, subset
from tests.parity.generator.quantities import GI
from tests.parity.generator.world import Object, World

WAIT = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
GCE_DRIVER = "pd.csi.storage.gke.io"
EBS_DRIVER = "ebs.csi.aws.com"

# name, provisioner, binding mode
CLASSES = (
    ("fast", "csi.example.com", WAIT),
    ("local", NO_PROVISIONER, WAIT),
    ("capped", "disk.vendor.io", WAIT),
    ("now", "csi.example.com", "Immediate"),
    ("legacy", "kubernetes.io/gce-pd", WAIT),
)


def draw_storage(w: World) -> None:
    """Draw what exists before any claim does."""
    if w.has("volumes"):
        _classes(w)
        _volumes(w)
        _capacities(w)
    if w.has("volumes") or w.has("limits"):
        _drivers(w)
    if w.has("limits"):
        for name in w.node_names():
            if not chance(w.c, 15):
                w.add("csiNodes", draw_csi_node(w, name))


def _classes(w: World) -> None:
    for name, provisioner, mode in CLASSES:
        w.add("storageClasses", draw_class(w, name, provisioner, mode))


def draw_class(w: World, name: str, provisioner: str, mode: str) -> Object:
    """A class; where its volumes can be made."""
    storage_class: Object = {
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        "reclaimPolicy": "Delete",
    }
    if provisioner != NO_PROVISIONER and chance(w.c, 30):
        values = some(w.c, words.ZONES, 2)
        storage_class["allowedTopologies"] = [
            {"matchLabelExpressions": [{"key": words.ZONE, "values": values}]}
        ]
    return storage_class


def _volumes(w: World) -> None:
    """Volumes nobody has claimed, each of another size: upstream breaks ties by the order of a map."""
    for _ in range(w.c.integer(0, 8 + len(w.node_names()))):
        w.add("persistentVolumes", draw_free_volume(w))


def draw_free_volume(w: World) -> Object:
    """A volume nobody has claimed."""
    volume = draw_volume(w, w.c.pick((*("local",) * 7, "fast", "capped")))
    if volume["spec"]["storageClassName"] == "local":
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [_reach(w)]}}
        volume["metadata"]["labels"].pop(words.ZONE, None)
    volume["spec"]["accessModes"] = w.c.pick((["ReadWriteOnce", "ReadWriteMany"], ["ReadWriteOncePod"]))
    volume["status"] = {"phase": w.c.pick((*("Available",) * 8, "Released", "Pending"))}
    return volume


def draw_volume(w: World, storage_class: str) -> Object:
    """A volume: its source, modes, where it can be reached from, and zone labels of both generations."""
    c, number = w.c, w.number()
    spec: Object = {
        "storageClassName": storage_class,
        "capacity": {"storage": str(c.pick((GI, 2 * GI, 4 * GI, 10 * GI)) + number)},
        "accessModes": c.pick((["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteMany"])),
        "volumeMode": "Filesystem" if not chance(c, 8) else "Block",
        "persistentVolumeReclaimPolicy": "Retain",
        **_source(w, number),
    }
    if chance(c, 5):
        spec["volumeAttributesClassName"] = "gold"
    if chance(c, 45):
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [_reach(w)]}}
    metadata: Object = {"name": f"pv-{number}", "labels": {}}
    if chance(c, 45):
        zones = some(c, words.ZONES, 2)
        key = words.ZONE if not chance(c, 25) else words.BETA_ZONE
        metadata["labels"][key] = "__".join(zones)
    if chance(c, 15):
        metadata["labels"][words.REGION] = c.pick(("r1", "r2"))
    if chance(c, 20):
        metadata["labels"]["tier"] = c.pick(words.TIERS)
    return {"metadata": metadata, "spec": spec}


def _reach(w: World) -> Object:
    names = w.node_names()
    if names and chance(w.c, 40):
        expression = {"key": words.HOSTNAME, "operator": "In", "values": some(w.c, names, 3)}
    else:
        expression = {"key": words.ZONE, "operator": "In", "values": some(w.c, words.ZONES, 2)}
    return {"matchExpressions": [expression]}


def _source(w: World, number: int) -> Object:
    kind = w.c.integer(0, 9)
    if kind < 6:
        return {"csi": {"driver": w.c.pick(words.CSI_DRIVERS), "volumeHandle": f"handle-{number}"}}
    if kind == 6:
        return {"gcePersistentDisk": {"pdName": f"disk-{number}"}}
    if kind == 7:
        return {"awsElasticBlockStore": {"volumeID": f"vol-{number:08x}"}}
    return {"hostPath": {"path": "/data"}}


def _capacities(w: World) -> None:
    """What can still be provisioned: mostly an object per zone, some for other classes, some that overlap."""
    for zone in (*words.ZONES, *subset(w.c, words.ZONES, 2)):
        if not chance(w.c, 10):
            w.add("csiStorageCapacities", draw_capacity(w, zone))


def draw_capacity(w: World, zone: str) -> Object:
    """What can be provisioned in a zone, or anywhere."""
    number = w.number()
    capacity: Object = {
        "metadata": {"name": f"capacity-{number}", "namespace": "kube-system"},
        "storageClassName": w.c.pick(("capped", "capped", "capped", "fast")),
        "capacity": str(w.c.pick((2, 10, 5, 4, 3, 8, 20, 1)) * GI + number),
    }
    if not chance(w.c, 8):
        capacity["nodeTopology"] = {"matchLabels": {words.ZONE: zone}}
    if chance(w.c, 30):
        capacity["maximumVolumeSize"] = str(w.c.pick((GI, 2 * GI)))
    return capacity


def _drivers(w: World) -> None:
    """At most one driver must be installed where it is used: of several, the text names any."""
    strict = w.c.pick((*words.CSI_DRIVERS, "", ""))
    for name in words.CSI_DRIVERS:
        spec: Object = {"storageCapacity": name == "disk.vendor.io" and not chance(w.c, 12)}
        if name == strict:
            spec["preventPodSchedulingIfMissing"] = True
        w.add("csiDrivers", {"metadata": {"name": name}, "spec": spec})


def draw_csi_node(w: World, name: str) -> Object:
    """What drivers there are on a node, and how many volumes it can attach."""
    drivers = []
    for driver in (*words.CSI_DRIVERS, GCE_DRIVER, EBS_DRIVER):
        if chance(w.c, 20):
            continue
        entry: Object = {"name": driver, "nodeID": name, "topologyKeys": [words.ZONE]}
        if not chance(w.c, 15):
            entry["allocatable"] = {"count": w.c.pick((1, 2, 3, 0, 20))}
        drivers.append(entry)
    metadata: Object = {"name": name}
    if not chance(w.c, 30):
        migrated = subset(w.c, ("kubernetes.io/gce-pd", "kubernetes.io/aws-ebs"), 2)
        metadata["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(sorted(migrated))}
    return {"metadata": metadata, "spec": {"drivers": drivers}}


def draw_attachments(w: World) -> None:
    """Attachments of volumes: some of pods that run there, some left over, some of volumes that are gone."""
    names = [pv["metadata"]["name"] for pv in w.all("persistentVolumes") if "csi" in pv["spec"]]
    if not w.has("limits") or not names:
        return
    for node in w.node_names():
        for volume in subset(w.c, [*names, "pv-gone"], 2):
            attachment = {
                "metadata": {"name": f"attachment-{w.number()}"},
                "spec": {
                    "attacher": w.c.pick(words.CSI_DRIVERS),
                    "nodeName": node,
                    "source": {"persistentVolumeName": volume},
                },
                "status": {"attached": not chance(w.c, 20)},
            }
            w.add("volumeAttachments", attachment)
