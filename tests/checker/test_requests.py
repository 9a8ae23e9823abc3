"""Quantities and the request arithmetic of the checker, by worked examples."""

from fractions import Fraction

import pytest

from tests.checker.quantity import parse, whole
from tests.checker.requests import held, incoming


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("100m", Fraction(1, 10)),
        ("1.5Gi", 3 * 2**29),
        ("1e3", 1000),
        ("1E", 10**18),
        ("2E3", 2000),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("-1k", -1000),
        ("1n", Fraction(1, 10**9)),
        ("0.1n", Fraction(1, 10**9)),
        ("16Ei", 2**63 - 1),
    ],
)
def test_quantity(text: str, amount: Fraction) -> None:
    assert parse(text) == amount


@pytest.mark.parametrize("text", ["", "K", "1K", "1 Gi", "1GB", "Ki", ".", "1e", "--1"])
def test_not_a_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse(text)


def test_whole_units_round_up_and_overflow_as_upstream() -> None:
    assert whole("cpu", parse("1n")) == 1
    assert whole("memory", parse("1500m")) == 2
    assert whole("cpu", parse("1E")) == 0
    assert whole("memory", parse("5Ei") * 2) == 0


def container(name: str, cpu: str, **fields: object) -> dict:
    return {"name": name, "resources": {"requests": {"cpu": cpu}}, **fields}


def test_sidecars_run_beside_later_init_containers_and_beside_the_main_ones() -> None:
    spec = {
        "containers": [container("main", "1")],
        "initContainers": [
            container("first", "3"),
            container("side", "500m", restartPolicy="Always"),
            container("second", "2"),
        ],
        "overhead": {"cpu": "100m"},
    }
    assert incoming({"spec": spec}) == {"cpu": 3100}
    spec["initContainers"][2] = container("second", "3")
    assert incoming({"spec": spec}) == {"cpu": 3600}


def test_pod_level_requests_replace_the_sum_and_overhead_comes_on_top() -> None:
    spec = {
        "containers": [container("main", "1")],
        "resources": {"requests": {"cpu": "2"}},
        "overhead": {"cpu": "1"},
    }
    assert incoming({"spec": spec}) == {"cpu": 3000}


def test_a_running_pod_holds_the_largest_of_its_three_views() -> None:
    spec = {"containers": [container("a", "1"), container("b", "1")]}
    status = {
        "containerStatuses": [
            {"name": "a", "allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "1"}}},
            {"name": "b", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "2"}}},
        ]
    }
    assert incoming({"spec": spec}) == {"cpu": 2000}
    assert held({"spec": spec, "status": status}) == {"cpu": 4000}
    spec["containers"][0] = container("a", "9")
    assert held({"spec": spec, "status": status}) == {"cpu": 10000}
    status["conditions"] = [{"type": "PodResizePending", "reason": "Infeasible"}]
    assert held({"spec": spec, "status": status}) == {"cpu": 4000}


def test_only_resources_that_a_scheduler_counts() -> None:
    requests = {"cpu": "1", "example.com/gpu": "1", "hugepages-2Mi": "2Mi", "odd": "1", "requests.x/y": "1"}
    spec = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
    assert incoming({"spec": spec}) == {"cpu": 1000, "example.com/gpu": 1, "hugepages-2Mi": 2**21}
