"""Fair shares through the command line: the textbook example, flags, tables, the shared cases."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.manifests import node, pod, write
from tests.command import ask, podium

CASES = Path(__file__).parents[2].parent / "shared" / "cases-groups"

DRF = ("--queue-order", "drf")


def farm(**amounts):
    body = node("farm")
    body["status"] = {"capacity": {**amounts, "pods": "1000"}, "allocatable": {**amounts, "pods": "1000"}}
    return body


def job(namespace, count, **requests):
    """As a Deployment would be, but with one object per pod."""
    made = []
    for number in range(count):
        body = pod(f"{namespace}-{number:03}", namespace=namespace)
        limits = {name: amount for name, amount in requests.items() if "/" in name}
        body["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": limits}
        made.append(body)
    return made


@pytest.fixture
def textbook(tmp_path):
    """100 CPU and 100 GPU; A's tasks are 2 CPU + 1 GPU, B's the other way; both have more than fits."""
    gpu = "nvidia.com/gpu"
    return write(
        tmp_path / "textbook.yaml",
        farm(cpu="100", memory="1Ti", **{gpu: "100"}),
        *job("a", 60, cpu="2", **{gpu: "1"}),
        *job("b", 60, cpu="1", **{gpu: "2"}),
    )


def test_the_textbook_example(textbook):
    answer = ask("simulate", "-f", textbook, *DRF)
    placed = [placement["pod"][0] for placement in answer["placements"]]
    assert (placed.count("a"), placed.count("b")) == (33, 33)
    assert answer["tenants"] == [
        {
            "name": "a", "parent": None, "weight": 1.0, "dominant_share": 0.66, "dominant_resource": "cpu",
            "used": {"cpu": "66", "nvidia.com/gpu": "33"},
        },
        {
            "name": "b", "parent": None, "weight": 1.0, "dominant_share": 0.66,
            "dominant_resource": "nvidia.com/gpu", "used": {"cpu": "33", "nvidia.com/gpu": "66"},
        },
    ]  # fmt: skip
    assert answer["stats"]["utilisation"]["cpu"] == pytest.approx(0.99)
    assert answer["stats"]["utilisation"]["nvidia.com/gpu"] == pytest.approx(0.99)


def test_the_table_has_the_tenants(textbook):
    shown = podium("simulate", "-f", textbook, *DRF).out
    assert "Tenants by dominant share" in shown
    assert "66.0%" in shown
    assert "Tenants" not in podium("simulate", "-f", textbook).out


def test_the_configuration_names_the_plugin_weights_and_parents(tmp_path):
    config = tmp_path / "config.yaml"
    kube = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"plugins": {"queueSort": {"enabled": [{"name": "DRF"}], "disabled": [{"name": "PrioritySort"}]}}}
        ],
    }
    own = {
        "apiVersion": "podium.dev/v1alpha1",
        "kind": "PodiumConfiguration",
        "tenants": {"weights": {"a": 2}, "parents": {"a": "org", "b": "org"}},
    }
    config.write_text(yaml.safe_dump_all([kube, own]))
    cluster = write(
        tmp_path / "cluster.yaml", farm(cpu="9", memory="1Ti"), *job("a", 9, cpu="1"), *job("b", 9, cpu="1")
    )
    tenants = {t["name"]: t for t in ask("simulate", "-f", cluster, "--config", config)["tenants"]}
    assert {name: t["used"] for name, t in tenants.items()} == {
        "a": {"cpu": "6"}, "b": {"cpu": "3"}, "org": {"cpu": "9"},
    }  # fmt: skip
    assert (tenants["a"]["parent"], tenants["a"]["weight"], tenants["org"]["parent"]) == ("org", 2.0, None)


def test_explain_has_the_tenant_of_a_waiting_pod(tmp_path):
    bound = [{**body, "spec": {**body["spec"], "nodeName": "farm"}} for body in job("a", 4, cpu="1")]
    cluster = write(tmp_path / "c.yaml", farm(cpu="4", memory="1Ti"), *bound, *job("b", 1, cpu="1"))
    (judged,) = ask("explain", "-f", cluster, *DRF)["pods"]
    assert judged["tenant"] == {
        "name": "b", "dominant_share": 0.0, "rank": 1, "blocked_by": "cpu: held by a 4",
    }  # fmt: skip
    assert "tenant" not in ask("explain", "-f", cluster)["pods"][0]
    assert "number 1 in line" in podium("explain", "-f", cluster, *DRF).out


def test_a_wrong_tenant_is_refused(textbook):
    answer = podium("simulate", "-f", textbook, *DRF, "--tenant", "team")
    assert answer.status == 2
    assert '--tenant: Unsupported value: "team"' in answer.err


@pytest.mark.parametrize("case", ["15-", "18-", "22-"])
def test_the_shared_cases(case):
    if not CASES.exists():
        pytest.skip("no ../shared/cases-groups")
    program = Path(sys.executable).with_name("podium")
    command = [sys.executable, str(CASES / "runner.py"), str(program), "--only", case]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
