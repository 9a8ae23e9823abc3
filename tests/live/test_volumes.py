"""PreBind of volumes with the real controller of persistent volumes."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.live.build import program
from tests.live.objects import Api, Body, eventually, pod
from tests.live.process import podium_running

_CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


@pytest.fixture
def controller(api: Api) -> Iterator[None]:
    program("kube-controller-manager")
    start_controller(api)
    yield
    api.plane.kill("kube-controller-manager")


def start_controller(api: Api) -> None:
    api.plane.spawn(
        "kube-controller-manager",
        f"--kubeconfig={api.plane.kubeconfig()}",
        "--controllers=persistentvolume-binder-controller,disruption-controller",
        "--leader-elect=false",
        "--secure-port=0",
        "--pvclaimbinder-sync-period=1s",
    )


def _local_volume(name: str, node: str, size: str = "10Gi") -> Body:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": f"/disks/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        },
    }


def _claim(name: str, of: str = "local") -> Body:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": of,
            "resources": {"requests": {"storage": "5Gi"}},
        },
    }


def _class(name: str, provisioner: str) -> Body:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _user(name: str, claim: str) -> Body:
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}])


def _set_up(api: Api, pods: int) -> None:
    api.nodes(4)
    api.create("/apis/storage.k8s.io/v1/storageclasses", _class("local", "kubernetes.io/no-provisioner"))
    for i in range(4):
        for disk in range(2):
            api.create("/api/v1/persistentvolumes", _local_volume(f"disk-{i}-{disk}", f"node-{i:04}"))
    for i in range(pods):
        api.create(_CLAIMS, _claim(f"c{i}"))
        api.create("/api/v1/namespaces/default/pods", _user(f"user-{i}", f"c{i}"))


def _volumes_fit(api: Api) -> None:
    """Every pod is on the node of its claim's volume."""
    claims = {claim["metadata"]["name"]: claim for claim in api.items(_CLAIMS)}
    for item in api.items("/api/v1/pods"):
        name = item["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
        claim = claims[name]
        assert claim["status"]["phase"] == "Bound"
        assert claim["spec"]["volumeName"].split("-")[1] == item["spec"]["nodeName"].removeprefix("node-000")


@pytest.mark.usefixtures("controller")
def test_claims_are_bound_before_their_pods(api: Api):
    _set_up(api, 8)
    with podium_running(api) as running:
        eventually(lambda: len(api.placements()) == 8, 90, what=running.log[-2000:])
        _volumes_fit(api)
        assert running.stop() == 0, running.log


def test_killed_while_it_waits_for_the_controller(api: Api):
    """The volume is promised to the claim already; whoever comes next goes on from there."""
    start_controller(api)
    _set_up(api, 2)
    available = lambda: {v["status"].get("phase") for v in api.items("/api/v1/persistentvolumes")}  # noqa: E731
    eventually(lambda: available() == {"Available"}, 60)
    api.plane.kill("kube-controller-manager")
    with podium_running(api) as running:
        promised = "/api/v1/persistentvolumes"
        eventually(
            lambda: sum("claimRef" in item["spec"] for item in api.items(promised)) == 2,
            60,
            what=running.log[-2000:],
        )
        running.stop(signal.SIGKILL)
    assert api.placements() == {}
    start_controller(api)
    try:
        with podium_running(api) as running:
            eventually(lambda: len(api.placements()) == 2, 90, what=running.log[-2000:])
            _volumes_fit(api)
            assert running.stop() == 0, running.log
    finally:
        api.plane.kill("kube-controller-manager")
    assert sum("claimRef" in item["spec"] for item in api.items("/api/v1/persistentvolumes")) == 2


@pytest.mark.usefixtures("controller")
def test_a_provisioner_that_gives_up_sends_the_pod_back(api: Api):
    """The provisioner takes the selected node away: the pod is rolled back and tried again."""
    api.nodes(2)
    api.create("/apis/storage.k8s.io/v1/storageclasses", _class("made", "example.com/provisioner"))
    api.create(_CLAIMS, _claim("made", "made"))
    api.create("/api/v1/namespaces/default/pods", _user("user", "made"))
    at = f"{_CLAIMS}/made"
    selected = "volume.kubernetes.io/selected-node"

    def chosen() -> str | None:
        return api.request("GET", at)["metadata"].get("annotations", {}).get(selected)

    with podium_running(api) as running:
        node = eventually(chosen, 60, what=running.log[-2000:])
        nothing = {"metadata": {"annotations": {selected: None}}}
        api.request("PATCH", at, nothing, "application/merge-patch+json")
        failed = eventually(lambda: api.events("FailedScheduling"), 30)
        assert (
            'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed'
            in failed[0]["note"]
        )
        node = eventually(chosen, 60, what=running.log[-2000:])
        volume = _local_volume("made-0-0", node)
        claim = api.request("GET", at)
        ref = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "made"}
        volume["spec"] |= {"storageClassName": "made", "claimRef": {**ref, "uid": claim["metadata"]["uid"]}}
        api.create("/api/v1/persistentvolumes", volume)
        eventually(lambda: api.placements().get("user") == node, 60, what=running.log[-2000:])
        assert running.stop() == 0, running.log
