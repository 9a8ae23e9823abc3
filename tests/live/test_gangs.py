"""Gangs on a real API server: all or nothing, their groups' status, kinds that appear, Permit's time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.build import ROOT
from tests.live.crds import pod_groups
from tests.live.objects import Api, Body, eventually, node, pod
from tests.live.process import Running, podium_running
from tests.live.rights import as_podium, install, remove

GPU = "example.com/gpu"
PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"


@pytest.fixture
def limited(api: Api):
    """The server, on which the user ``podium`` has the rights of ``podium deploy``."""
    install(api)
    yield api
    remove(api)


def _group(name: str, minimum: int) -> Body:
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}},
    }


def _by_group(api: Api, gang: str, size: int) -> None:
    api.create(GROUPS, _group(gang, size))
    for i in range(size):
        member = pod(f"{gang}-{i}", requests={GPU: "1"}, schedulingGroup={"podGroupName": gang})
        api.create(PODS, member)


def _by_label(api: Api, gang: str, size: int) -> None:
    minimum = {"gang.example.com/min-available": str(size)}
    for i in range(size):
        own = {"gang.example.com/name": gang}
        api.create(PODS, pod(f"{gang}-{i}", requests={GPU: "1"}, labels=own, annotations=minimum))


def _condition(item: Body, name: str) -> dict[str, Any]:
    return {c["type"]: c for c in item.get("status", {}).get("conditions", [])}.get(name, {})


def _told(api: Api, gang: str, size: int) -> bool:
    """Whether every member says why it waits."""
    said = [_condition(api.pod(f"{gang}-{i}"), "PodScheduled").get("message", "") for i in range(size)]
    return all(f"gang default/{gang}: 0 of {size} members fit" in text for text in said)


def _one_then_the_other(api: Api, running: Running) -> tuple[str, str]:
    """Two gangs of four on four GPUs: one runs, and the other when that has gone; returns their names."""
    placed = eventually(lambda: len(api.placements()) >= 4 and api.placements(), 60, what=running.log[-3000:])
    first = min(placed).partition("-")[0]
    second = "b" if first == "a" else "a"
    eventually(lambda: _told(api, second, 4), 60, what=running.log[-3000:])
    assert set(api.placements()) == {f"{first}-{i}" for i in range(4)}
    eventually(lambda: any(f"gang default/{second}" in e["note"] for e in api.events("FailedScheduling")), 60)
    return first, second


def _then_the_other(api: Api, running: Running, first: str, second: str) -> None:
    for i in range(4):
        api.delete(f"{PODS}/{first}-{i}")
    there = {f"{second}-{i}" for i in range(4)}
    eventually(lambda: set(api.placements()) == there, 60, what=running.log[-3000:])


def test_two_gangs_of_four_on_four_gpus(limited: Api):
    """Declared by PodGroups of the API server's own, with no more rights than ``podium deploy`` gives."""
    api = limited
    for i in range(2):
        api.create("/api/v1/nodes", node(f"node-{i}", resources={GPU: "2"}))
    with podium_running(api, as_podium(api)) as running:
        eventually(lambda: "synced" in running.log, 60, what=running.log)
        for gang in ("a", "b"):
            _by_group(api, gang, 4)
        first, second = _one_then_the_other(api, running)

        def status(gang: str) -> dict[str, Any]:
            return _condition(api.request("GET", f"{GROUPS}/{gang}"), "PodGroupInitiallyScheduled")

        eventually(lambda: status(first).get("status") == "True", 60, what=running.log[-3000:])
        waits = eventually(lambda: status(second), 60)
        assert (waits["status"], waits["reason"]) == ("False", "Unschedulable")
        assert "Insufficient example.com/gpu" in waits["message"]
        _then_the_other(api, running, first, second)
        eventually(lambda: status(second)["status"] == "True", 60, what=running.log[-3000:])
        assert status(second)["reason"] == "Scheduled"
        assert running.stop() == 0, running.log
    assert "forbidden" not in running.log
    assert "refused" not in running.log


def test_two_gangs_by_label_that_were_there_before(api: Api):
    api.create("/api/v1/nodes", node("node-0", resources={GPU: "4"}))
    for gang in ("a", "b"):
        _by_label(api, gang, 4)
    with podium_running(api) as running:
        first, second = _one_then_the_other(api, running)
        _then_the_other(api, running, first, second)
        assert running.stop() == 0, running.log


def test_a_group_that_exists_is_known_from_the_start(api: Api):
    """Nothing is decided before the groups have been read: no member is called groupless."""
    api.create("/api/v1/nodes", node("node-0", resources={GPU: "4"}))
    _by_group(api, "a", 4)
    with podium_running(api) as running:
        eventually(lambda: len(api.placements()) == 4, 60, what=running.log[-3000:])
        assert running.stop() == 0, running.log
    assert api.events("GangRefused") == []


_SCHEDULED = {"type": "Scheduled", "status": "True", "reason": "tasks in gang are ready to be scheduled"}


@pytest.mark.parametrize(
    ("group", "version", "labels", "annotations", "expected"),
    [
        (
            "scheduling.x-k8s.io",
            "v1alpha1",
            {"scheduling.x-k8s.io/pod-group": "g"},
            {},
            {"phase": "Running", "running": 3, "failed": 0},
        ),
        (
            "scheduling.volcano.sh",
            "v1beta1",
            {},
            {"scheduling.k8s.io/group-name": "g"},
            {"phase": "Running", "running": 3, "failed": 0},
        ),
    ],
)
def test_a_kind_of_gang_that_appears_later(
    limited: Api,
    group: str,
    version: str,
    labels: dict[str, str],
    annotations: dict[str, str],
    expected: dict[str, Any],
):
    api = limited
    api.nodes(2)
    with podium_running(api, as_podium(api)) as running:
        eventually(lambda: "synced" in running.log, 60, what=running.log)
        api.pods(3, "g", labels=labels, annotations=annotations)
        api.pods(1, "free")
        eventually(lambda: set(api.placements()) == {"free-0000"}, 60, what=running.log[-3000:])

        def said() -> dict[str, Any]:
            return _condition(api.pod("g-0002"), "PodScheduled")

        # They come one after the other, so they are told a little later; not as unschedulable.
        eventually(said, 60, what=running.log[-3000:])
        assert said()["reason"] == "SchedulingGated"
        assert said()["message"] == f"gang default/g: PodGroup default/g of {group} does not exist"
        with pod_groups(api, group, version) as path:
            eventually(lambda: f"following PodGroup of {group}/{version}" in running.log, 60)
            foreign = {"type": "Seen", "status": "True", "reason": "ByAnother"}
            body = {
                "apiVersion": f"{group}/{version}",
                "kind": "PodGroup",
                "metadata": {"name": "g"},
                "spec": {"minMember": 3},
            }
            api.create(path, body)
            seen = {"status": {"conditions": [foreign]}}
            api.request("PATCH", f"{path}/g/status", seen, "application/merge-patch+json")
            eventually(lambda: len(api.placements()) == 4, 90, what=running.log[-3000:])

            def status() -> dict[str, Any]:
                return api.request("GET", f"{path}/g").get("status", {})

            eventually(lambda: expected.items() <= status().items(), 60, what=running.log[-3000:])
            assert foreign in status()["conditions"], "what others wrote stays"
            if group == "scheduling.volcano.sh":
                assert _condition({"status": status()}, "Scheduled").items() >= _SCHEDULED.items()
            assert running.stop() == 0, running.log
    assert "forbidden" not in running.log


@pytest.fixture
def holding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The flag for a configuration in which ``Hold`` holds pods so many seconds, gangs theirs for four."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    path = tmp_path / "holding.yaml"
    path.write_text(_HOLDING.replace("SECONDS", str(request.param)))
    return f"--config={path}"


_HOLDING = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: default-scheduler
  plugins: {permit: {enabled: [{name: "tests.live.holding:Hold"}]}}
  pluginConfig:
  - {name: Hold, args: {seconds: SECONDS}}
---
apiVersion: podium.dev/v1alpha1
kind: PodiumConfiguration
gangs: {permitTimeout: 4s}
"""


@pytest.mark.parametrize("holding", [2], indirect=True)
def test_time_is_over_in_permit(api: Api, holding: str):
    """A pod that is not allowed in time gives its place back, says so, and is tried again."""
    api.create("/api/v1/nodes", node("node-0", resources={GPU: "1"}))
    with podium_running(api, holding) as running:
        eventually(lambda: "synced" in running.log, 60, what=running.log)
        api.pods(1, "held", labels={"held": "once"}, requests={GPU: "1"})
        text = "rejected due to timeout after waiting 2s at plugin Hold"
        eventually(lambda: any(text in e["note"] for e in api.events("FailedScheduling")), 60)
        eventually(lambda: api.placements() == {"held-0000": "node-0"}, 60, what=running.log[-3000:])
        assert running.stop() == 0, running.log


def _last_member_is_held(api: Api) -> None:
    """Make a gang of three, of which a plugin holds the last one."""
    api.create(GROUPS, _group("g", 3))
    for i in range(3):
        labels = {"held": "always"} if i == 2 else {"app": "a"}
        body = pod(f"g-{i}", requests={GPU: "1"}, labels=labels, schedulingGroup={"podGroupName": "g"})
        api.create(PODS, body)


@pytest.mark.parametrize(
    ("holding", "by"),
    [(600, "Gang"), ("2, patient: true", "Hold")],
    indirect=["holding"],
    ids=["the gang's", "the plugin's"],
)
def test_time_is_over_in_permit_for_a_gang(limited: Api, holding: str, by: str):
    """Nobody is bound; all give their places back at once, say so, and are tried again together."""
    api = limited
    api.create("/api/v1/nodes", node("node-0", resources={GPU: "3"}))
    with podium_running(api, as_podium(api), holding) as running:
        eventually(lambda: "synced" in running.log, 60, what=running.log)
        _last_member_is_held(api)
        # It fits only when the gang has given back what it held: that waits until something can help it.
        api.create(PODS, pod("single", requests={GPU: "3"}))
        seen = eventually(lambda: api.placements(), 90, what=running.log[-3000:])
        assert set(seen) == {"single"}, "no member is bound while another is held"
        said = f"at plugin {by}"
        eventually(lambda: any(said in e["note"] for e in api.events("FailedScheduling")), 60)
        eventually(lambda: _told_of_gang(api), 60, what=running.log[-3000:])
        group = api.request("GET", f"{GROUPS}/g")
        assert _condition(group, "PodGroupInitiallyScheduled")["status"] == "False"
        assert set(api.placements()) == {"single"}
        free = {"metadata": {"labels": {"held": "no"}}}
        api.request("PATCH", f"{PODS}/g-2", free, "application/merge-patch+json")
        api.delete(f"{PODS}/single")
        eventually(lambda: set(api.placements()) == {"g-0", "g-1", "g-2"}, 90, what=running.log[-3000:])

        def status() -> dict[str, Any]:
            return _condition(api.request("GET", f"{GROUPS}/g"), "PodGroupInitiallyScheduled")

        eventually(lambda: status().get("status") == "True", 60, what=running.log[-3000:])
        assert running.stop() == 0, running.log
    assert "forbidden" not in running.log


def _told_of_gang(api: Api) -> bool:
    """Whether all members are said to be unschedulable."""
    conditions = [_condition(api.pod(f"g-{i}"), "PodScheduled") for i in range(3)]
    return all(c.get("status") == "False" and c.get("message") for c in conditions)
