"""What is read of a pod is in its likeness, and what is not read is not."""

import msgspec
import pytest
from podium.api import Container, ContainerStatus, Pod, PodSpec, PodStatus, Volume
from podium.api.likeness import has_own_claims, likeness
from podium.api.objects.base import ObjectMeta, Opaque
from podium.api.objects.pod import VolumeMount

#: By struct, fields with a value that is not the default, as JSON.
REQUESTS = {"requests": {"cpu": "1"}}
READ = {
    ObjectMeta: {
        "namespace": "other",
        "labels": {"a": "b"},
        "ownerReferences": [{"kind": "Job", "name": "j", "uid": "j", "controller": True}],
        "deletionTimestamp": "2026-03-02T08:00:00Z",
    },
    PodSpec: {
        "containers": [{"name": "other"}],
        "initContainers": [{"name": "i"}],
        "ephemeralContainers": [{"name": "e"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        "nodeSelector": {},
        "affinity": {"nodeAffinity": {}},
        "tolerations": [{"operator": "Exists"}],
        "topologySpreadConstraints": [{"maxSkew": 1}],
        "schedulerName": "other",
        "schedulingGates": [{"name": "g"}],
        "schedulingGroup": {"podGroupName": "g"},
        "priority": 0,
        "preemptionPolicy": "Never",
        "overhead": {"cpu": "1"},
        "resources": REQUESTS,
        "resourceClaims": [{"name": "r"}],
        "terminationGracePeriodSeconds": 0,
        "hostNetwork": True,
        "hostUsers": False,
    },
    Container: {
        "name": "other",
        "image": "i",
        "ports": [{"hostPort": 1}],
        "resources": REQUESTS,
        "restartPolicy": "Always",
        "restartPolicyRules": [{"action": "RestartAllContainers"}],
        "volumeMounts": [{"bindMountOptions": ["ro"]}],
    },
    Volume: {
        "persistentVolumeClaim": {"claimName": "c"},
        "ephemeral": {},
        "gcePersistentDisk": {"pdName": "d"},
        "awsElasticBlockStore": {"volumeID": "d"},
        "azureDisk": {"diskURI": "d"},
        "azureFile": {"shareName": "d"},
        "cinder": {"volumeID": "d"},
        "vsphereVolume": {"volumePath": "d"},
        "portworxVolume": {"volumeID": "d"},
        "iscsi": {"iqn": "d"},
        "rbd": {"image": "d"},
        "image": {"reference": "r"},
        "emptyDir": {},
        "hostPath": {"path": "/x"},
    },
    PodStatus: {
        "phase": "Failed",
        "qosClass": "Burstable",
        "nominatedNodeName": "n",
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"}}],
        "initContainerStatuses": [{"name": "c", "resources": REQUESTS}],
        "allocatedResources": {"cpu": "1"},
        "resources": REQUESTS,
    },
}
UNREAD_SOURCES = (
    *("csi", "nfs", "fc", "glusterfs", "cephfs", "flocker", "flexVolume", "quobyte", "photonPersistentDisk"),
    *("scaleIO", "storageos", "secret", "configMap", "downwardAPI", "projected", "gitRepo"),
)
OWN = {
    ObjectMeta: {
        "name": "other",
        "generateName": "p-",
        "uid": "other",
        "resourceVersion": "7",
        "generation": 7,
        "creationTimestamp": "2026-03-02T07:00:00Z",
        "deletionGracePeriodSeconds": 30,
        "annotations": {"a": "b"},
    },
    PodSpec: {
        "nodeName": "n",
        "priorityClassName": "c",
        "runtimeClassName": "c",
        "restartPolicy": "Never",
        "activeDeadlineSeconds": 7,
        "os": {"name": "linux"},
    },
    Container: {},
    Volume: {
        "name": "kube-api-access-x7b2k",
        **{source: {} for source in UNREAD_SOURCES},
    },
    PodStatus: {
        "reason": "r",
        "message": "m",
        "startTime": "2026-03-02T07:00:00Z",
        "ephemeralContainerStatuses": [{"name": "e", "restartCount": 7}],
    },
}
MANIFEST = {
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "a", "uid": "p"},
    "spec": {"containers": [{"name": "c"}], "volumes": [{"name": "v"}]},
    "status": {"phase": "Running"},
}
PARTS = {
    ObjectMeta: lambda pod: pod["metadata"],
    PodSpec: lambda pod: pod["spec"],
    Container: lambda pod: pod["spec"]["containers"][0],
    Volume: lambda pod: pod["spec"]["volumes"][0],
    PodStatus: lambda pod: pod["status"],
}


def decoded(manifest) -> Pod:
    return msgspec.convert(manifest, Pod)


def changed(part, field, value) -> Pod:
    manifest = msgspec.json.decode(msgspec.json.encode(MANIFEST))
    PARTS[part](manifest)[field] = value
    return decoded(manifest)


def cases(table):
    return [pytest.param(p, f, v, id=f"{p.__name__}-{f}") for p, x in table.items() for f, v in x.items()]


@pytest.mark.parametrize("part", PARTS)
def test_every_field_is_in_one_of_the_tables(part):
    assert sorted([*READ[part], *OWN[part]]) == sorted(part.__struct_encode_fields__)


@pytest.mark.parametrize(("part", "field", "value"), cases(READ))
def test_what_is_read_tells_pods_apart(part, field, value):
    assert likeness(changed(part, field, value)) != likeness(decoded(MANIFEST))


@pytest.mark.parametrize(("part", "field", "value"), cases(OWN))
def test_what_is_a_pods_own_does_not(part, field, value):
    assert likeness(changed(part, field, value)) == likeness(decoded(MANIFEST))


def test_containers_without_volumes_are_read_too():
    for field, value in READ[Container].items():
        manifest = {**MANIFEST, "spec": {"containers": [{"name": "c", field: value}]}}
        assert likeness(decoded(manifest)) != likeness(decoded({**MANIFEST, "spec": {"containers": [{}]}}))


def test_pods_as_the_kubelet_and_the_api_server_leave_them():
    def of(suffix: str, restarts: int) -> Pod:
        volume = Volume(name=f"kube-api-access-{suffix}", projected=msgspec.convert({}, Opaque))
        mounts = [VolumeMount(name=volume.name)]
        state = ContainerStatus(name="c", restart_count=restarts, allocated_resources={"cpu": "1"})
        spec = PodSpec(
            containers=[Container(name="c", volume_mounts=mounts)], volumes=[volume], node_name=suffix
        )
        return Pod(spec=spec, status=PodStatus(phase="Running", container_statuses=[state]))

    assert likeness(of("x7b2k", 0)) == likeness(of("9qm4z", 3))


def test_claims_that_are_generated_are_a_pods_own():
    assert has_own_claims(changed(Volume, "ephemeral", {}))
    assert not has_own_claims(changed(Volume, "persistentVolumeClaim", {"claimName": "c"}))
