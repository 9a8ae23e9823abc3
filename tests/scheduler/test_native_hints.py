"""Queueing hints of the native plugins: what a change of a node or of storage means to parked pods."""

import random

import msgspec
import pytest
from podium.api import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.cluster.port import Applied, Removed
from podium.framework.config import default_config
from podium.scheduler.loop import Scheduler
from podium.scheduler.storage_hints import happened
from podium.testing import make_node, make_pod

ZONE = "topology.kubernetes.io/zone"


def node(name="n1", cpu="1", pods="9"):
    return make_node(name).capacity(cpu=cpu, pods=pods)


def scheduler_with(*items):
    made = Scheduler(default_config())
    made.step(map(Applied, items), 0)
    return made


def pool_after(first, pod, then, others=()):
    """Return where a pod is that finds no node among ``first``, once ``then`` has been applied."""
    made = scheduler_with(first.build(), *others, pod.build())
    handle = made.state.entry(pod.build().metadata.uid).handle
    assert made.engine.pool(handle) == "unschedulable"
    made.step([Applied(then.build())], 60 * 10**9, limit=0)
    return made.engine.pool(handle)


def plain(name="p"):
    return make_pod(name)


COLOURED = plain().node_selector({"colour": "red"})
CLOSE = plain().labels({"app": "a"}).pod_affinity(ZONE, {"app": "b"})
EVEN = plain().labels({"app": "a"}).spread(ZONE, {"app": "a"})

#: Pod, node as it was, node as it is, and whether the pod comes back.
CASES = {
    "fit: more cpu": (plain().request(cpu="2"), node(), node(cpu="3"), True),
    "fit: more, but too little": (plain().request(cpu="4"), node(), node(cpu="3"), False),
    "fit: more of something else": (
        plain().request(cpu="4"),
        node(),
        node().capacity(cpu="1", memory="9Gi"),
        False,
    ),
    "fit: new and large enough": (plain().request(cpu="2"), node(), node("n2", cpu="2"), True),
    "fit: new and too small": (plain().request(cpu="2"), node(), node("n2"), False),
    "affinity: matches now": (COLOURED, node(), node().labels({"colour": "red"}), True),
    "affinity: another label": (COLOURED, node(), node().labels({"colour": "blue"}), False),
    "affinity: new, matches": (COLOURED, node(), node("n2").labels({"colour": "red"}), True),
    "affinity: new, does not match": (COLOURED, node(), node("n2"), False),
    "taints: tolerable now": (plain(), node().taint("a"), node(), True),
    "taints: another one": (plain(), node().taint("a"), node().taint("b"), False),
    "taints: new with one": (plain(), node().taint("a"), node("n2").taint("a"), False),
    "taints: new without": (plain(), node().taint("a"), node("n2"), True),
    "cordon: lifted": (plain(), node().unschedulable(), node(), True),
    "cordon: new and cordoned": (plain(), node().unschedulable(), node("n2").unschedulable(), False),
    "affinity between pods: domain": (CLOSE, node(), node().labels({ZONE: "z"}), True),
    "affinity between pods: new": (CLOSE, node(), node("n2").labels({ZONE: "z"}), True),
    "affinity between pods: new without": (CLOSE, node(), node("n2"), False),
    "spread: label": (EVEN, node(), node().labels({ZONE: "z"}), True),
    "spread: new without label": (EVEN, node(), node("n2"), False),
    "spread: new with label": (EVEN, node(), node("n2").labels({ZONE: "z"}), True),
}


@pytest.mark.parametrize("case", CASES)
def test_nodes(case):
    pod, before, after, comes_back = CASES[case]
    assert (pool_after(before, pod, after) != "unschedulable") is comes_back


def running(name="r", cpu="1", **labels):
    return make_pod(name).request(cpu=cpu).labels(labels).node("n1")


HOST_PORT = plain().host_port(80)
APART = plain().labels({"app": "a"}).pod_anti_affinity(ZONE, {"app": "b"})
IN_ZONE = node().labels({ZONE: "z"})

#: Waiting pod, pods on the node, which of these goes, which comes, and whether the pod comes back.
POD_CASES = {
    "fit: a pod leaves": (plain().request(cpu="1"), (running(),), "r", None, True),
    "fit: one comes": (plain().request(cpu="1"), (running(),), None, running("s", "0"), False),
    "ports: the one that has it leaves": (HOST_PORT, (running().host_port(80),), "r", None, True),
    "ports: another one leaves": (
        HOST_PORT,
        (running().host_port(80), running("s", "0").host_port(81)),
        "s",
        None,
        False,
    ),
    "affinity: a matching pod comes": (CLOSE, (), None, running("r", "0", app="b"), True),
    "affinity: another one comes": (CLOSE, (), None, running("r", "0", app="c"), False),
    "anti-affinity: the matching pod leaves": (APART, (running(app="b"),), "r", None, True),
    "anti-affinity: another one leaves": (
        APART,
        (running(app="b"), running("s", "0", app="c")),
        "s",
        None,
        False,
    ),
}


@pytest.mark.parametrize("case", POD_CASES)
def test_pods_on_nodes(case):
    pod, on_node, goes, comes, comes_back = POD_CASES[case]
    pods = {each.build().metadata.name: each.build() for each in on_node}
    made = scheduler_with(IN_ZONE.build(), *pods.values(), pod.build())
    handle = made.state.entry(pod.build().metadata.uid).handle
    assert made.engine.pool(handle) == "unschedulable"
    event = Applied(comes.build()) if goes is None else Removed(pods[goes])
    made.step([event], 60 * 10**9, limit=0)
    assert (made.engine.pool(handle) != "unschedulable") is comes_back


def claim(name, namespace="default"):
    return msgspec.convert({"metadata": {"name": name, "namespace": namespace}}, PersistentVolumeClaim)


@pytest.mark.parametrize(
    ("name", "namespace", "comes_back"),
    [("data", "default", True), ("data", "other", False), ("else", "default", False)],
)
def test_only_its_own_claims_bring_a_pod_back(name, namespace, comes_back):
    made = scheduler_with(node().build(), pod := plain().claim("data").build())
    handle = made.state.entry(pod.metadata.uid).handle
    assert made.engine.pool(handle) == "unschedulable"
    made.step([Applied(claim(name, namespace))], 60 * 10**9, limit=0)
    assert (made.engine.pool(handle) != "unschedulable") is comes_back


def csi(count=None, migrated=""):
    drivers = [{"name": "d", "nodeID": "x", "allocatable": None if count is None else {"count": count}}]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated}
    body = {"metadata": {"name": "n1", "annotations": annotations}, "spec": {"drivers": drivers}}
    return msgspec.convert(body, CSINode)


def volume(zone):
    return msgspec.convert({"metadata": {"name": "v", "labels": {ZONE: zone}}}, PersistentVolume)


def storage_class(mode):
    return msgspec.convert({"metadata": {"name": "c"}, "volumeBindingMode": mode}, StorageClass)


@pytest.mark.parametrize(
    ("before", "after", "deaf"),
    [
        (csi(3), csi(4), ("VolumeBinding",)),
        (csi(4), csi(3), ("VolumeBinding", "NodeVolumeLimits")),
        (csi(4), csi(None), ("VolumeBinding",)),
        (csi(4), csi(4, "x"), ("NodeVolumeLimits",)),
        (None, csi(4), ()),
        (volume("a"), volume("b"), ()),
        (volume("a"), volume("a"), ("VolumeZone",)),
        (None, storage_class("Immediate"), ("VolumeZone",)),
        (None, storage_class("WaitForFirstConsumer"), ()),
        (storage_class("Immediate"), storage_class("Immediate"), ("VolumeBinding",)),
    ],
)
def test_storage(before, after, deaf):
    assert happened(before, after).deaf == deaf


def some_node(rng, name):
    made = node(name, cpu=rng.choice("123"), pods=rng.choice("12"))
    labels = {key: rng.choice("ab") for key in (ZONE, "colour") if rng.random() < 0.6}
    made = made.labels(labels)
    if rng.random() < 0.4:
        made = made.taint(rng.choice("xy"))
    return (made.unschedulable() if rng.random() < 0.2 else made).build()


def some_pod(rng, name):
    made = plain(name).labels({"app": rng.choice("ab")}).request(cpu=rng.choice(["500m", "1", "2", "3"]))
    if rng.random() < 0.3:
        made = made.node_selector({"colour": rng.choice("ab")})
    if rng.random() < 0.3:
        made = made.toleration(rng.choice("xy"))
    if rng.random() < 0.3:
        made = made.spread(ZONE, {"app": "a"})
    if rng.random() < 0.2:
        made = made.pod_affinity(ZONE, {"app": rng.choice("ab")})
    if rng.random() < 0.2:
        made = made.pod_anti_affinity(ZONE, {"app": rng.choice("ab")})
    return made.build()


@pytest.mark.parametrize("seed", range(30))
def test_no_hint_leaves_a_pod_parked_that_a_node_would_take(seed):
    rng = random.Random(seed)
    pods = [some_pod(rng, f"p{at}") for at in range(14)]
    made = scheduler_with(*(some_node(rng, f"n{at}") for at in range(3)), *pods)
    for _ in range(25):
        made.step([Applied(some_node(rng, f"n{rng.randrange(5)}"))], 0, limit=0)
        for pod in pods:
            handle = made.state.entry(pod.metadata.uid).handle
            if made.engine.pool(handle) == "unschedulable":
                assert made.engine.feasible(handle) == []
