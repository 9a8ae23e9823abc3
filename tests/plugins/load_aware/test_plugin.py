"""LoadAware on plain objects: thresholds, what has moved since the sample, age, queries, waking."""

import numpy as np
import pytest
from msgspec import ValidationError, convert
from podium.api import NodeMetrics
from podium.errors import PodiumError
from podium.framework import CycleState
from podium.plugins.load_aware.args import METRIC, LoadAwareArgs, Prometheus
from podium.plugins.load_aware.feed import tell
from podium.plugins.load_aware.plugin import LoadAware
from podium.plugins.load_aware.sample import Sample, of_metrics, of_vector
from podium.testing import FakeHandle, check_plugin, make_node, make_pod

STATE = CycleState()
GIB = 1 << 30


def nodes(*names):
    return [make_node(name).capacity(cpu="10", memory="10Gi", pods="110").build() for name in names]


def pod(name="web", cpu="1", **where):
    made = make_pod(name).request(cpu=cpu, memory="1Gi")
    return (made.node(where["node"]) if where else made).build()


def used(cpu, memory=0.0, **rest):
    """Return a sample: parts of a node."""
    return Sample({"cpu": cpu * 10_000, "memory": memory * 10 * GIB}, **rest)


@pytest.fixture
def handle():
    return FakeHandle(nodes=nodes("a", "b", "c"))


def plugin(handle, **args):
    return LoadAware(LoadAwareArgs(**args), handle)


def allowed(made, handle, wanted):
    view = handle.snapshot()
    return view.names[made.filter(STATE, wanted, view).mask].tolist()


def test_it_keeps_the_contract():
    assert set(check_plugin(LoadAware).points) == {"filter", "score"}


def test_nodes_above_a_threshold_are_out_and_the_reason_says_of_what(handle):
    made = plugin(handle)
    made.learn({"a": used(0.9), "b": used(0.1, 0.97), "c": used(0.1)})
    view = handle.snapshot()
    found = made.filter(STATE, pod(), view)
    assert found.mask.tolist() == [False, False, True]
    reasons = [found.reasons[at] for at in found.reason[:2]]
    assert reasons == ["node(s) cpu usage exceed threshold", "node(s) memory usage exceed threshold"]


def test_a_pod_counts_with_a_part_of_its_request(handle):
    made = plugin(handle, usage_thresholds={"cpu": 65})
    made.learn({"a": used(0.57), "b": used(0.56), "c": used(0.1)})
    assert allowed(made, handle, pod(cpu="1")) == ["b", "c"]


def test_a_pod_above_the_threshold_alone_may_go_where_it_is_below(handle):
    made = plugin(handle)
    made.learn({"a": used(0.7), "b": used(0.6), "c": used(0.0)})
    assert allowed(made, handle, pod(cpu="9")) == ["b", "c"]


def test_what_has_come_and_gone_since_the_sample_counts(handle):
    leaving = pod("old", "4", node="a")
    handle.pods = [leaving]
    made = plugin(handle, usage_thresholds={"cpu": 65})
    made.learn({"a": used(0.7), "b": used(0.6), "c": used(0.6)})
    assert allowed(made, handle, pod(cpu="100m")) == ["b", "c"]
    handle.pods = [pod("new", "2", node="b")]
    assert allowed(made, handle, pod(cpu="100m")) == ["a", "c"]


def test_a_sample_of_the_past_lacks_the_pods_placed_since_it_began(handle):
    made = plugin(handle, usage_thresholds={"cpu": 65})
    handle.time = 100.0
    made.learn({"a": used(0.1), "b": used(0.1)})
    handle.pods, handle.time = [pod("new", "7", node="a")], 130.0
    made.learn({"a": used(0.1, age=10.0, window=15.0), "b": used(0.1)})
    assert allowed(made, handle, pod(cpu="1")) == ["b", "c"]
    handle.time = 190.0
    made.learn({"a": used(0.1, age=10.0, window=15.0)})
    assert allowed(made, handle, pod(cpu="1")) == ["a", "b", "c"]


def test_without_a_fresh_sample_a_node_passes_and_scores_nothing(handle):
    made = plugin(handle, node_metric_expiration_seconds=60)
    made.learn({"a": used(0.9), "b": used(0.5, 0.5)})
    handle.time = 61.0
    made.learn({"b": used(0.5, 0.5)})
    assert allowed(made, handle, pod()) == ["a", "b", "c"]
    scores = made.score(STATE, pod(), handle.snapshot())
    assert scores.tolist() == [0, (41.5 + 43.0) // 2, 0]


def test_the_emptiest_node_scores_best_by_weight(handle):
    made = plugin(handle, resource_weights={"cpu": 3, "memory": 1})
    made.learn({"a": used(0.2, 0.6), "b": used(0.6, 0.2), "c": used(0.4, 0.4)})
    scores = made.score(STATE, pod(cpu="0"), handle.snapshot())
    assert scores.argmax() == 0
    assert scores.dtype == np.int64


def test_a_query_is_taken_to_follow_cpu(handle):
    made = LoadAware(LoadAwareArgs(source="Prometheus", prometheus=Prometheus("load")), handle)

    class Server:
        def metrics(self):
            raise AssertionError("the metrics API is not asked")

        def query(self, asked):
            vector = [
                {"metric": {"instance": name}, "value": [0, value]}
                for name, value in (("a", "0.6"), ("b", "0.5"), ("c", "NaN"))
            ]
            assert asked.query == "load"
            return of_vector({"resultType": "vector", "result": vector})

    tell([made], Server())
    assert allowed(made, handle, pod(cpu="1")) == ["b", "c"]
    assert made.score(STATE, pod(cpu="1"), handle.snapshot()).tolist() == [31, 41, 0]


def test_pods_that_were_refused_are_woken_when_a_node_cools_down(handle):
    made = plugin(handle)
    made.learn({"a": used(0.9), "b": used(0.9), "c": used(0.9)})
    waiting = pod()
    assert allowed(made, handle, waiting) == []
    made.learn({"a": used(0.9), "b": used(0.9), "c": used(0.9)})
    assert handle.activated == []
    made.learn({"a": used(0.3)})
    assert handle.activated == [waiting]


def test_pods_of_a_daemonset_are_left_alone(handle):
    assert not plugin(handle).applies_to(make_pod("d").owner("DaemonSet", "d").build())


def test_metrics_are_read_with_their_age():
    item = convert(
        {
            "kind": "NodeMetrics",
            "metadata": {"name": "a"},
            "timestamp": "2026-03-02T08:00:00Z",
            "window": "20s",
            "usage": {"cpu": "1500m", "memory": "2Ki"},
        },
        NodeMetrics,
    )
    found = of_metrics([item], 1772438410.0)["a"]
    assert found == Sample({"cpu": 1500.0, "memory": 2048.0}, age=10.0, window=20.0)
    assert of_metrics([item], None)["a"].is_steady


def test_an_answer_that_is_no_vector_is_refused():
    with pytest.raises(PodiumError, match="scalar"):
        of_vector({"resultType": "scalar", "result": [0, "1"]})


@pytest.mark.parametrize(
    "args",
    [
        {"source": "Prometheus"},
        {"prometheus": {"query": "x"}},
        {"usageThresholds": {METRIC: 10}},
        {"usageThresholds": {"cpu": 101}},
        {"unknown": 1},
    ],
)
def test_arguments_that_make_no_sense_are_refused(args):
    with pytest.raises(ValidationError):
        convert(args, LoadAwareArgs)
