import msgspec
import pytest
from podium import api
from podium.api import quirks
from podium.api.defaults import set_defaults


def warnings(kind, body):
    item = msgspec.convert(body, kind)
    set_defaults(item)
    return list(quirks.of(item))


def pod(*requests, **spec):
    containers = [{"name": f"c{i}", "resources": {"requests": values}} for i, values in enumerate(requests)]
    return warnings(api.Pod, {"spec": {"containers": containers, **spec}})


@pytest.mark.parametrize(
    ("requests", "resource", "counted"),
    [
        ([{"cpu": "1E"}], "cpu", "counts 0m"),
        ([{"memory": "5Ei"}, {"memory": "5Ei"}], "memory", "counts 0,"),
        ([{"example.com/x": "10E"}], "example.com/x", "counts 0,"),
    ],
)
def test_warns_of_sums_that_overflow(requests, resource, counted):
    (message,) = pod(*requests)
    assert resource in message
    assert counted in message


def test_warns_of_a_pod_level_request_that_overflows():
    (message,) = pod({}, resources={"requests": {"cpu": "1E"}})
    assert "cpu" in message


@pytest.mark.parametrize("value", ["8Ei", "1P", "9223372036854775807"])
def test_large_but_countable_is_no_warning(value):
    assert pod({"memory": value}) == []


def test_warns_of_an_allocatable_that_overflows():
    (message,) = warnings(api.Node, {"status": {"capacity": {"cpu": "1E", "memory": "1Gi"}}})
    assert message.startswith("status.allocatable[cpu]")


def test_warns_of_an_empty_spread_selector_only():
    constraints = [{"topologyKey": "z"}, {"topologyKey": "z", "labelSelector": {}}]
    (message,) = pod({}, topologySpreadConstraints=constraints)
    assert message.startswith("spec.topologySpreadConstraints[1].labelSelector")
