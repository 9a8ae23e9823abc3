"""``podium explain`` for pods that plugins written in Python concern."""

import itertools

import pytest

from tests.cli.manifests import node, pod, write
from tests.command import ask, podium

_NUMBERS = itertools.count()

_HEAD = """\
import numpy as np
from podium.framework import FilterResult, Plugin, PreFilterResult, Status, Code

class Own(Plugin):
    name = "Own"
"""


@pytest.fixture
def explain(tmp_path, monkeypatch):
    """Explain pods with a plugin ``Own`` whose body is given."""
    monkeypatch.syspath_prepend(tmp_path)

    def run(body, *objects, weight=2, command=ask, extra=()):
        module = f"explained_{next(_NUMBERS)}"
        lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
        (tmp_path / f"{module}.py").write_text(_HEAD + lines)
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {"plugins": {"multiPoint": {"enabled": [{"name": f"{module}:Own", "weight": weight}]}}}
            ],
        }
        path = write(tmp_path / "cluster.yaml", *objects)
        answer = command("explain", "-f", path, "--config", write(tmp_path / "config.yaml", config), *extra)
        return answer["pods"][0] if command is ask else answer

    return run


NODES = (node("n1"), node("n2", unschedulable=True), node("n3", cpu="8"), node("n4"))

NOT_N1 = """
def filter(self, state, pod, nodes):
    return FilterResult(nodes.names != "n1", ("n1 is spoken for",))
"""


def test_a_filter_says_which_nodes_it_rejected_and_why(explain):
    found = explain(NOT_N1, *NODES, pod("web"))
    assert (found["state"], found["feasible"], found["message"]) == ("feasible", ["n3", "n4"], "")
    assert found["nodes"] == {
        "n1": {"plugin": "Own", "reasons": ["n1 is spoken for"], "code": "Unschedulable"},
        "n2": {
            "plugin": "NodeUnschedulable",
            "reasons": ["node(s) were unschedulable"],
            "code": "UnschedulableAndUnresolvable",
        },
    }


def test_the_first_plugin_in_the_order_of_the_profile_is_named_for_a_node(explain):
    body = """
def filter(self, state, pod, nodes):
    nowhere, which = np.zeros(len(nodes), np.bool_), (nodes.names == "n3").astype(int)
    return FilterResult(nowhere, ("a", "b"), which, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
"""
    found = explain(body, *NODES, pod("web"))
    assert (found["state"], found["feasible"], found["scores"]) == ("unschedulable", [], {})
    named = {name: (why["plugin"], why["reasons"]) for name, why in found["nodes"].items()}
    # NodeUnschedulable is before the plugin in the profile's list.
    assert named == {
        "n1": ("Own", ["a"]),
        "n2": ("NodeUnschedulable", ["node(s) were unschedulable"]),
        "n3": ("Own", ["b"]),
        "n4": ("Own", ["a"]),
    }
    assert found["message"].startswith(
        "0/4 nodes are available: 1 b, 1 node(s) were unschedulable, 2 a. preemption:"
    )


def test_scores_have_the_plugin_raw_normalised_and_weighted(explain):
    body = """
def score(self, state, pod, nodes):
    return np.where(nodes.names == "n4", 7, 3).astype(np.int64)

def normalize_score(self, state, pod, nodes, scores):
    return scores * 10
"""
    found = explain(body, *NODES, pod("web"), weight=3)
    assert next(iter(found["scores"])) == "n4"
    parts = {name: score["plugins"]["Own"] for name, score in found["scores"].items()}
    assert parts == {
        "n4": {"raw": 7, "normalized": 70, "weighted": 210},
        "n1": {"raw": 3, "normalized": 30, "weighted": 90},
        "n3": {"raw": 3, "normalized": 30, "weighted": 90},
    }
    for score in found["scores"].values():
        assert score["total"] == sum(part["weighted"] for part in score["plugins"].values())
        assert {"NodeResourcesFit", "TaintToleration"} < set(score["plugins"])


def test_native_scores_are_those_of_the_nodes_that_are_left(explain):
    tainted = [{"key": "k", "value": "v", "effect": "PreferNoSchedule"}]
    found = explain(NOT_N1, node("n1"), node("n2", taints=tainted), node("n3", taints=tainted), pod("web"))
    # Both are tainted alike, so the normalisation has nothing to tell apart once n1 is out.
    taints = {name: score["plugins"]["TaintToleration"] for name, score in found["scores"].items()}
    assert set(taints) == {"n2", "n3"}
    assert taints["n2"] == taints["n3"] == {"raw": 1, "normalized": 0, "weighted": 0}


def test_top_and_no_scores(explain):
    body = """
def score(self, state, pod, nodes):
    return np.where(nodes.names == "n4", 100, 0).astype(np.int64)
"""
    assert list(explain(body, *NODES, pod("web"), extra=("--top", "1"))["scores"]) == ["n4"]
    assert explain(body, *NODES, pod("web"), extra=("--no-scores",))["scores"] == {}


def test_a_rejection_at_pre_filter_concerns_every_node(explain):
    body = """
def pre_filter(self, state, pod, nodes):
    return Status.unresolvable("the budget is spent")
"""
    found = explain(body, *NODES, pod("web"))
    assert (found["state"], found["feasible"]) == ("unschedulable", [])
    assert found["message"].startswith("0/4 nodes are available: the budget is spent.")
    assert list(found["nodes"]) == ["n1", "n2", "n3", "n4"]
    assert all(
        why == {"plugin": "Own", "reasons": ["the budget is spent"], "code": "UnschedulableAndUnresolvable"}
        for why in found["nodes"].values()
    )


def test_nodes_that_pre_filter_left_out_name_the_plugin(explain):
    body = """
def pre_filter(self, state, pod, nodes):
    return PreFilterResult(frozenset({"n3", "n4"}))
"""
    found = explain(body, *NODES, pod("web"))
    assert found["feasible"] == ["n3", "n4"]
    assert set(found["nodes"]) == {"n1", "n2"}
    for why in found["nodes"].values():
        assert (why["plugin"], why["code"]) == ("Own", "UnschedulableAndUnresolvable")
        assert why["reasons"] == ["node(s) didn't satisfy plugin(s) [Own]"]


@pytest.mark.parametrize("point", ["reserve", "permit"])
def test_a_refusal_at_reserve_or_permit_is_that_of_the_best_node(explain, point):
    body = f"""
def score(self, state, pod, nodes):
    return (nodes.names == "n3") * np.int64(100)

def {point}(self, state, pod, node_name):
    return Status.unschedulable("no more licences")

def unreserve(self, state, pod, node_name):
    pass
"""
    found = explain(body, *NODES, pod("web"))
    assert (found["state"], found["feasible"]) == ("unschedulable", ["n1", "n3", "n4"])
    assert found["message"] == "0/1 nodes are available: 1 no more licences."
    assert found["nodes"]["n3"] == {
        "plugin": "Own",
        "reasons": ["no more licences"],
        "code": "Unschedulable",
    }
    assert next(iter(found["scores"])) == "n3"


def test_reserve_is_undone_so_the_next_pod_is_judged_alone(explain):
    body = """
def __init__(self, args, handle):
    super().__init__(args, handle)
    self.held = []

def reserve(self, state, pod, node_name):
    self.held.append(pod.metadata.name)
    return Status.unschedulable("twice") if len(self.held) > 1 else None

def unreserve(self, state, pod, node_name):
    if pod.metadata.name in self.held:
        self.held.remove(pod.metadata.name)
"""
    answer = explain(
        body, node("n1"), pod("a", cpu="3"), pod("b", cpu="3"), command=podium, extra=("-o", "json")
    )
    states = {entry["pod"]: (entry["state"], entry["feasible"]) for entry in answer.json["pods"]}
    assert states == {"default/a": ("feasible", ["n1"]), "default/b": ("feasible", ["n1"])}


def test_a_wait_in_permit_is_told(explain):
    body = """
def permit(self, state, pod, node_name):
    return Status.wait(60, "two are missing")
"""
    found = explain(body, node("n1"), pod("web"))
    assert found["state"] == "feasible"
    assert found["message"] == "would wait in Permit on n1: Own for 1m0s: two are missing"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "def filter(self, state, pod, nodes):\n    return np.zeros(len(nodes))",
            'running "Own" filter plugin: plugin "Own": filter returned float64 as mask, expected bool',
        ),
        (
            "def score(self, state, pod, nodes):\n    return np.full(len(nodes), 101)",
            'plugin "Own" returns an invalid score 101, it should in the range of [0, 100] after normalizing',
        ),
        (
            "def pre_filter(self, state, pod, nodes):\n    raise ValueError('out of tune')",
            'running PreFilter plugin "Own": ValueError: out of tune',
        ),
        (
            "def permit(self, state, pod, node_name):\n    raise ValueError('out of tune')",
            'running Permit plugin "Own": ValueError: out of tune',
        ),
    ],
)
def test_a_plugin_that_fails_is_an_error_that_names_it(explain, body, message):
    found = explain(body, *NODES, pod("web"))
    assert found["state"] == "error"
    assert message in found["message"]


def test_preemption_asks_the_filter_and_names_the_victims(explain):
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
    victims = [pod(f"on-{name}", cpu="4", nodeName=name) for name in ("n1", "n4")]
    urgent = pod("urgent", cpu="3", priorityClassName="high")
    found = explain(NOT_N1, {**high, "value": 9}, node("n1"), node("n4"), *victims, urgent)
    assert (found["state"], found["nominated"]) == ("unschedulable", "n4")
    assert found["victims"] == ["default/on-n4"]
    assert found["nodes"]["n4"]["plugin"] == "NodeResourcesFit"


def test_a_pod_that_does_not_concern_the_plugin_is_judged_without_it(explain):
    body = NOT_N1 + "\ndef applies_to(self, pod):\n    return 'own' in pod.metadata.labels\n"
    assert explain(body, *NODES, pod("web"))["feasible"] == ["n1", "n3", "n4"]


def test_a_pod_held_at_pre_enqueue_names_the_plugin(explain):
    body = """
def pre_enqueue(self, pod):
    return Status.unresolvable("not before noon")
"""
    found = explain(body, *NODES, pod("web"))
    assert (found["state"], found["message"]) == (
        "gated",
        'held by PreEnqueue plugin "Own": not before noon',
    )


def test_people_see_the_plugin_in_the_tables(explain):
    shown = explain(NOT_N1, *NODES, pod("web"), command=podium).out
    assert "Own" in shown
    assert "n1 is spoken for" in shown
