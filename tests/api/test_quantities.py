import msgspec
import pytest
from podium import api
from podium.api.quantities import canonical, normalise
from podium.api.requests import pod_requests
from podium.errors import InputError


@pytest.mark.parametrize(
    ("value", "rounded", "plain"),
    [
        ("33300u", "34m", "33300u"),
        (0.1, "100m", "100m"),
        (1, "1", "1"),
        ("1e3", "1e3", "1e3"),
        (" 2Gi ", "2Gi", "2Gi"),
        ("0.5Gi", "512Mi", "512Mi"),
        ("1n", "1m", "1n"),
    ],
)
def test_writes_as_the_api_server_stores(value, rounded, plain):
    assert canonical(value, rounded=True) == rounded
    assert canonical(value, rounded=False) == plain


RESOURCES = {"resources": {"requests": {"cpu": "x"}}}
CLAIM = {"spec": {"resources": {"requests": {"storage": "x"}}}}
PLACES = [
    (api.Pod, {"spec": {"initContainers": [{}, {"resources": {"limits": {"cpu": "x"}}}]}}),
    (api.Pod, {"spec": {"overhead": {"cpu": "x"}}}),
    (api.Pod, {"spec": {"volumes": [{"emptyDir": {"sizeLimit": "x"}}]}}),
    (api.Pod, {"status": {"containerStatuses": [{"allocatedResources": {"cpu": "x"}}]}}),
    (api.Node, {"status": {"allocatable": {"cpu": "x"}}}),
    (api.PersistentVolume, {"spec": {"capacity": {"storage": "x"}}}),
    (api.CSIStorageCapacity, {"maximumVolumeSize": "x"}),
    (api.LimitRange, {"spec": {"limits": [{"maxLimitRequestRatio": {"cpu": "x"}}]}}),
    (
        api.Deployment,
        {"spec": {"template": {"spec": {"containers": [RESOURCES]}}}},
    ),
    (
        api.StatefulSet,
        {"spec": {"volumeClaimTemplates": [CLAIM]}},
    ),
    (api.Queue, {"spec": {"guarantee": {"resource": {"cpu": "x"}}}}),
    (api.PodMetrics, {"containers": [{"usage": {"cpu": "x"}}]}),
]
PATHS = [
    "spec.initContainers[1].resources.limits[cpu]",
    "spec.overhead[cpu]",
    "spec.volumes[0].emptyDir.sizeLimit",
    "status.containerStatuses[0].allocatedResources[cpu]",
    "status.allocatable[cpu]",
    "spec.capacity[storage]",
    "maximumVolumeSize",
    "spec.limits[0].maxLimitRequestRatio[cpu]",
    "spec.template.spec.containers[0].resources.requests[cpu]",
    "spec.volumeClaimTemplates[0].spec.resources.requests[storage]",
    "spec.guarantee.resource[cpu]",
    "containers[0].usage[cpu]",
]


@pytest.mark.parametrize(("place", "path"), list(zip(PLACES, PATHS, strict=True)))
def test_names_the_field_of_what_is_no_quantity(place, path):
    kind, body = place
    with pytest.raises(InputError) as caught:
        normalise(msgspec.convert(body, kind), rounded=True)
    assert str(caught.value).startswith(f"{path}: quantities must match the regular expression")


def test_measured_load_keeps_its_nanos():
    item = msgspec.convert({"usage": {"cpu": "123456789n"}}, api.NodeMetrics)
    normalise(item, rounded=False)
    assert item.usage == {"cpu": "123456789n"}


def spec(**fields):
    return msgspec.convert(fields, api.PodSpec)


def asks(cpu, **fields):
    return {"resources": {"requests": {"cpu": cpu}}, **fields}


def total(**fields):
    return {name: str(value) for name, value in pod_requests(spec(**fields)).items()}


def test_sums_containers_sidecars_and_start():
    sidecar = asks("2", restartPolicy="Always")
    assert total(containers=[asks("1"), asks("500m")]) == {"cpu": "1500m"}
    assert total(containers=[asks("1")], initContainers=[asks("5")]) == {"cpu": "5"}
    assert total(containers=[asks("1")], initContainers=[sidecar, asks("5")]) == {"cpu": "7"}
    assert total(containers=[asks("1")], initContainers=[asks("2"), sidecar]) == {"cpu": "3"}


def test_pod_level_requests_replace_and_overhead_is_added():
    whole = {"requests": {"cpu": "4", "example.com/x": "9"}}
    found = total(containers=[asks("1")], resources=whole, overhead={"cpu": "1", "memory": "1Mi"})
    assert found == {"cpu": "5", "memory": "1Mi"}
