"""Objects as the documentation means them: only what v1.37.2 reads otherwise is changed."""

from podium.api import Node, Pod, PodSpec, manifest
from podium.api.documented import documented
from podium.api.quantities import MILLI, exact
from podium.api.requests import pod_requests


def load(kind, **fields):
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, **fields}
    loaded = manifest.load_objects([body], "test", manifest.Options(validate="off"))
    # Its namespace is there too, which nobody gave.
    return next(entry.item for entry in loaded if not entry.derived)


def pod(*requests, init=(), **spec) -> Pod:
    containers = [
        {"name": f"c{i}", "image": "i", "resources": {"requests": r}} for i, r in enumerate(requests)
    ]
    starters = [{"name": f"i{i}", "image": "i", "resources": {"requests": r}} for i, r in enumerate(init)]
    return load("Pod", spec={"containers": containers, "initContainers": starters, **spec})


def spread(selector) -> dict:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {**constraint, **({} if selector is None else {"labelSelector": selector})}


def test_ordinary_objects_stay_the_same_objects():
    plain = pod(
        {"cpu": "4", "memory": "1Ti"}, topologySpreadConstraints=[spread({"matchLabels": {"a": "b"}})]
    )
    node = load("Node", status={"allocatable": {"cpu": "64", "memory": "8Ei"}})
    assert documented(plain) is plain
    assert documented(node) is node


def test_sums_beyond_64_bits_become_more_than_any_node_has_and_fit_64_bits():
    for huge in (
        pod({"cpu": "1E"}),
        pod({"cpu": "1P"}, {"cpu": "9P"}),
        pod({"cpu": "1"}, init=[{"cpu": "1E"}]),
        pod({"cpu": "1"}, resources={"requests": {"cpu": "1E"}}),
    ):
        total = pod_requests(documented(huge).spec)["cpu"]
        assert total.fits(MILLI)
        assert total > exact("1P")
    total = pod_requests(documented(pod({"memory": "5Ei"}, {"memory": "5Ei", "cpu": "1"})).spec)
    assert total["memory"].fits(0)
    assert total["memory"] > exact("1Ei")
    assert total["cpu"] == exact("1")


def test_nodes_have_at_most_what_64_bits_hold():
    node: Node = documented(load("Node", status={"allocatable": {"cpu": "1E", "memory": "64Gi"}}))
    assert exact(node.status.allocatable["cpu"]).fits(MILLI)
    assert node.status.allocatable["memory"] == "64Gi"


def test_an_empty_selector_of_a_spread_constraint_selects_by_an_expression_and_an_absent_one_still_nothing():
    spec: PodSpec = documented(
        pod({}, topologySpreadConstraints=[spread({}), {**spread(None), "topologyKey": "host"}])
    ).spec
    everything, nothing = (constraint.label_selector for constraint in spec.topology_spread_constraints)
    assert [e.operator for e in everything.match_expressions] == ["DoesNotExist"]
    assert nothing is None
