"""``podium explain``."""

import pytest

from tests.cli.manifests import node, pod, text, write
from tests.command import ask, podium

FIELDS = ["pod", "state", "feasible", "message", "nodes", "scores", "nominated", "victims"]


@pytest.fixture
def cluster(tmp_path):
    return write(
        tmp_path / "cluster.yaml",
        node("n1"),
        node("n2", unschedulable=True),
        node("n3", cpu="8"),
        pod("running", nodeName="n1"),
        pod("web", cpu="2"),
        pod("large", cpu="40"),
        pod("gated", schedulingGates=[{"name": "example.com/later"}]),
        pod("foreign", schedulerName="other"),
        pod("web", namespace="shop"),
    )


def judged(answer):
    return {entry["pod"]: entry for entry in answer["pods"]}


def test_every_pending_pod_is_judged_with_the_fields_of_the_contract(cluster):
    answer = ask("explain", "-f", cluster)
    assert list(answer) == ["pods", "rejected", "warnings"]
    pods = judged(answer)
    assert list(pods) == ["default/web", "default/large", "default/gated", "default/foreign", "shop/web"]
    assert all(list(entry) == FIELDS for entry in pods.values())
    web = pods["default/web"]
    assert (web["state"], web["feasible"], web["message"]) == ("feasible", ["n1", "n3"], "")
    assert web["nodes"] == {
        "n2": {
            "plugin": "NodeUnschedulable",
            "reasons": ["node(s) were unschedulable"],
            "code": "UnschedulableAndUnresolvable",
        }
    }
    for node_name, score in web["scores"].items():
        assert node_name in web["feasible"]
        assert score["total"] == sum(part["weighted"] for part in score["plugins"].values())
        assert all(list(part) == ["raw", "normalized", "weighted"] for part in score["plugins"].values())
    assert list(web["scores"]) == ["n3", "n1"]


def test_states_that_are_not_judged_say_why(cluster):
    pods = judged(ask("explain", "-f", cluster))
    assert (pods["default/gated"]["state"], pods["default/gated"]["feasible"]) == ("gated", [])
    assert "example.com/later" in pods["default/gated"]["message"]
    assert (pods["default/foreign"]["state"], pods["default/foreign"]["feasible"]) == ("foreign", [])
    assert "other" in pods["default/foreign"]["message"]
    large = pods["default/large"]
    assert (large["state"], large["feasible"], large["scores"]) == ("unschedulable", [], {})
    assert large["message"].startswith(
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu."
    )
    assert {why["plugin"] for why in large["nodes"].values()} == {"NodeUnschedulable", "NodeResourcesFit"}


def test_pods_are_judged_alone_nothing_is_placed(tmp_path):
    path = write(tmp_path / "a.yaml", node("n1"), pod("a", cpu="3"), pod("b", cpu="3"))
    pods = judged(ask("explain", "-f", path))
    assert all(entry["feasible"] == ["n1"] for entry in pods.values())


def test_a_nomination_of_another_pod_counts(tmp_path):
    nominated = {**pod("first", cpu="3"), "status": {"nominatedNodeName": "n1"}}
    path = write(tmp_path / "a.yaml", node("n1"), nominated, pod("second", cpu="3"))
    pods = judged(ask("explain", "-f", path))
    assert pods["default/second"]["feasible"] == []
    assert pods["default/first"]["feasible"] == ["n1"]


def test_top_bounds_the_scores_and_no_scores_leaves_them_out(tmp_path):
    path = write(tmp_path / "a.yaml", *(node(f"n{number:02}") for number in range(15)), pod("p"))
    (default,) = ask("explain", "-f", path)["pods"]
    (two,) = ask("explain", "-f", path, "--top", "2")["pods"]
    (none,) = ask("explain", "-f", path, "--no-scores")["pods"]
    assert [len(entry["scores"]) for entry in (default, two, none)] == [10, 2, 0]
    assert all(len(entry["feasible"]) == 15 for entry in (default, two, none))


def test_pods_are_named_in_full_or_alone(cluster):
    assert list(judged(ask("explain", "shop/web", "large", "-f", cluster))) == ["default/large", "shop/web"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("web", "which one of default/web, shop/web?"),
        ("nobody", "no such pod among the inputs"),
        ("default/running", "it is on node n1"),
        ("bad", "rejected: "),
    ],
)
def test_a_name_that_means_no_pending_pod_is_one_line(cluster, tmp_path, name, text):
    bad = write(tmp_path / "bad.yaml", pod("bad", cpu="-1"))
    answer = podium("explain", name, "-f", cluster, "-f", bad)
    assert answer.status == 2
    assert text in answer.err
    assert answer.err.count("\n") == 1


def test_victims_are_named():
    low = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "low"},
        "value": 1,
    }
    victim = pod("victim", cpu="3", nodeName="n1")
    urgent = pod("urgent", cpu="3", priorityClassName="low")
    (entry,) = ask("explain", "-f", "-", stdin=text(low, node("n1"), victim, urgent))["pods"]
    assert (entry["state"], entry["nominated"], entry["victims"]) == (
        "unschedulable",
        "n1",
        ["default/victim"],
    )


def test_a_few_pods_are_shown_in_detail_many_in_a_line_each(cluster, tmp_path):
    detailed = podium("explain", "shop/web", "-f", cluster).out
    for part in ("shop/web", "feasible", "2 of 3 nodes", "Best nodes", "n3", "NodeUnschedulable"):
        assert part in detailed
    many = write(tmp_path / "many.yaml", *(pod(f"p{number}") for number in range(9)))
    brief = podium("explain", "-f", cluster, "-f", many)
    assert "Best nodes" not in brief.out
    assert "default/p8" in brief.out
    assert "NAMESPACE/NAME" in brief.err
