"""``podium simulate``: inputs, the fields of its answer, tables, files."""

import polars as pl
import pytest

from tests.cli.manifests import deployment, node, pod, text, write
from tests.command import ask, podium

FIELDS = [
    "placements", "pending", "attempts", "evicted", "gangs", "tenants", "ignored", "stats",
    "rejected", "warnings",
]  # fmt: skip


@pytest.fixture
def small(tmp_path):
    """Two nodes of four cores; a pod that fits, one too large, one gated, one of another scheduler."""
    return write(
        tmp_path / "small.yaml",
        node("n1"),
        node("n2"),
        pod("old", nodeName="n1"),
        pod("fits", cpu="3500m"),
        pod("large", cpu="40"),
        pod("gated", schedulingGates=[{"name": "example.com/later"}]),
        pod("foreign", schedulerName="other"),
    )


def test_the_answer_has_exactly_the_fields_of_the_contract(small):
    answer = ask("simulate", "-f", small)
    assert list(answer) == FIELDS
    assert answer["placements"] == [{"pod": "default/fits", "node": "n2", "at": 0.0}]
    (pending,) = answer["pending"]
    assert pending == {
        "pod": "default/large",
        "message": "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: "
        "2 Preemption is not helpful for scheduling.",
        "nominated": None,
        "victims": [],
    }
    assert answer["ignored"] == [
        {"pod": "default/gated", "why": "gated"},
        {"pod": "default/foreign", "why": "foreign"},
    ]
    assert (answer["gangs"], answer["tenants"], answer["evicted"]) == ([], [], [])
    assert (answer["rejected"], answer["warnings"]) == ([], [])
    stats = answer["stats"]
    assert list(stats) == [
        "nodes", "pods", "scheduled", "seconds", "pods_per_second", "attempts", "utilisation",
    ]  # fmt: skip
    assert (stats["nodes"], stats["pods"], stats["scheduled"], stats["attempts"]) == (2, 2, 1, 2)
    assert stats["utilisation"]["cpu"] == pytest.approx(4.5 / 8)
    assert stats["seconds"] > 0


def test_attempts_first_all_none(small):
    first = ask("simulate", "-f", small)["attempts"]
    assert [(attempt["pod"], attempt["turn"], attempt["result"]) for attempt in first] == [
        ("default/fits", 1, "scheduled"),
        ("default/large", 2, "unschedulable"),
    ]
    assert first[0] == {
        "pod": "default/fits",
        "turn": 1,
        "at": 0.0,
        "result": "scheduled",
        "node": "n2",
        "feasible": ["n2"],
        "message": "",
        "nominated": None,
        "victims": [],
    }
    assert (first[1]["node"], first[1]["feasible"]) == (None, [])
    assert ask("simulate", "-f", small, "--attempts", "none")["attempts"] == []
    assert len(ask("simulate", "-f", small, "--attempts=all")["attempts"]) >= 2


def preempting() -> str:
    low = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "low"},
        "value": 1,
    }
    high = {**low, "metadata": {"name": "high"}, "value": 10}
    victim = pod("victim", cpu="3", nodeName="n1", priorityClassName="low", terminationGracePeriodSeconds=7)
    return text(low, high, node("n1"), victim, pod("urgent", cpu="3", priorityClassName="high"))


def test_victims_leave_after_their_grace_period_on_the_virtual_clock():
    answer = ask("simulate", "-f", "-", stdin=preempting())
    (placement,) = answer["placements"]
    assert (placement["pod"], placement["node"]) == ("default/urgent", "n1")
    assert placement["at"] >= 7
    assert answer["evicted"] == [{"pod": "default/victim", "by": "default/urgent", "reason": "preempted"}]
    (attempt,) = answer["attempts"]
    assert (attempt["nominated"], attempt["victims"]) == ("n1", ["default/victim"])


def test_until_zero_stops_before_any_victim_has_left():
    answer = ask("simulate", "-f", "-", "--until", "0s", stdin=preempting())
    assert answer["placements"] == []
    (pending,) = answer["pending"]
    assert (pending["nominated"], pending["victims"]) == ("n1", ["default/victim"])
    assert [eviction["pod"] for eviction in answer["evicted"]] == ["default/victim"]


def test_workloads_become_pods_and_a_seed_names_one_run(tmp_path):
    nodes = [node(f"n{number}", cpu="64") for number in range(20)]
    path = write(tmp_path / "all.yaml", *nodes, deployment("web", 60))
    runs = [ask("simulate", "-f", path, "--seed", seed)["placements"] for seed in (1, 1, 2)]
    assert len(runs[0]) == 60
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_cron_jobs_are_asked_for(tmp_path):
    job = {"template": {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": job}},
    }
    path = write(tmp_path / "all.yaml", node("n1"), cron)
    assert ask("simulate", "-f", path)["placements"] == []
    assert ask("simulate", "-f", path, "--cronjobs=false")["placements"] == []
    assert len(ask("simulate", "-f", path, "--cronjobs")["placements"]) == 1


def test_a_profile_of_the_configuration_answers_for_its_pods(tmp_path, small):
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: other}]\n"
    )
    answer = ask("simulate", "-f", small, "--config", config)
    assert [placement["pod"] for placement in answer["placements"]] == ["default/foreign"]
    assert {entry["pod"] for entry in answer["ignored"]} >= {"default/fits", "default/large"}


def test_warnings_of_the_configuration_are_in_the_answer(tmp_path, small):
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "percentageOfNodesToScore: 50\n"
    )
    (warning,) = ask("simulate", "-f", small, "--config", config)["warnings"]
    assert warning["source"] == str(config)
    assert "percentageOfNodesToScore" in warning["message"]


def test_the_older_pod_goes_first_whatever_the_order_of_the_input(tmp_path):
    young, old = pod("young", cpu="3"), pod("old", cpu="3")
    young["metadata"]["creationTimestamp"] = "2026-01-02T00:00:00Z"
    old["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    answer = ask("simulate", "-f", write(tmp_path / "a.yaml", node("n1"), young, old))
    assert [placement["pod"] for placement in answer["placements"]] == ["default/old"]


def test_pods_of_a_group_are_pending_and_say_why(tmp_path):
    member = pod("member")
    member["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "ring"}
    answer = ask("simulate", "-f", write(tmp_path / "a.yaml", node("n1"), member))
    assert answer["placements"] == []
    assert [(p["pod"], p["message"]) for p in answer["pending"]] == [
        ("default/member", "gang default/ring: PodGroup default/ring of scheduling.x-k8s.io does not exist")
    ]


def test_pods_with_resource_claims_are_pending_and_say_why(tmp_path):
    claimed = pod("claimed", resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}])
    answer = ask("simulate", "-f", write(tmp_path / "a.yaml", node("n1"), claimed))
    assert answer["placements"] == []
    (pending,) = answer["pending"]
    assert "not supported yet" in pending["message"]


def test_no_nodes_at_all(tmp_path):
    answer = ask("simulate", "-f", write(tmp_path / "a.yaml", pod("p")))
    assert [pending["message"] for pending in answer["pending"]] == ["no nodes available to schedule pods"]


def test_the_table_shows_where_why_and_how_full(small):
    answer = podium("simulate", "-f", small)
    assert answer.status == 0
    for part in ("1 of 2 pods", "default/fits", "Insufficient cpu", "cpu", "56.", "Not tried"):
        assert part in answer.out
    assert answer.err == ""


def test_rejected_objects_are_named_beside_the_table(tmp_path):
    answer = podium("simulate", "-f", write(tmp_path / "a.yaml", node("n1"), pod("bad", cpu="-1")))
    assert answer.status == 0
    assert answer.err.startswith(f"rejected: Pod default/bad ({tmp_path / 'a.yaml'}:2): ")


def test_out_writes_four_parquet_files(small, tmp_path):
    folder = tmp_path / "new" / "results"
    assert podium("simulate", "-f", small, "--out", folder).status == 0
    frames = {path.stem: pl.read_parquet(path) for path in folder.iterdir()}
    assert sorted(frames) == ["nodes", "placements", "pods", "timeline"]
    assert frames["placements"].rows() == [("default/fits", "n2", 0.0)]
    states = dict(frames["pods"].select("pod", "state").iter_rows())
    assert states == {
        "default/old": "bound",
        "default/fits": "scheduled",
        "default/large": "pending",
        "default/gated": "gated",
        "default/foreign": "foreign",
    }
    assert frames["pods"].filter(pl.col("pod") == "default/fits")["cpu"].to_list() == [3.5]
    assert frames["nodes"].select("node", "cpu").rows() == [("n1", 4.0), ("n2", 4.0)]
    assert frames["timeline"].rows() == [(0.0, 1, 1)]


def test_without_input_the_sample_runs_and_is_said_to_be_one():
    answer = podium("simulate", "-o", "json")
    assert answer.status == 0
    assert "sample" in answer.err
    assert answer.json["stats"]["nodes"] == 317
    assert answer.json["stats"]["scheduled"] > 2500
