"""explain, simulate and dump on a live cluster: nothing is written."""

from __future__ import annotations

from pathlib import Path

from tests.command import ask, podium
from tests.live.objects import Api


def _version(api: Api) -> list[tuple[str, str]]:
    objects = [*api.items("/api/v1/pods"), *api.items("/api/v1/nodes")]
    return [(item["metadata"]["name"], item["metadata"]["resourceVersion"]) for item in objects]


def test_reads_a_live_cluster_and_writes_nothing(api: Api, tmp_path: Path):
    api.nodes(3)
    api.pods(4)
    api.pods(1, "huge", requests={"cpu": "99"})
    before = _version(api)
    config = api.plane.kubeconfig()

    explained = ask("explain", "--kubeconfig", config, "default/huge-0000")
    assert explained["pods"][0]["state"] == "unschedulable"
    assert "3 Insufficient cpu" in explained["pods"][0]["message"]

    live = ask("simulate", "--kubeconfig", config)
    assert {each["pod"] for each in live["placements"]} == {f"default/p-{i:04}" for i in range(4)}
    assert live["rejected"] == []

    folder = tmp_path / "dumped"
    assert podium("dump", "--kubeconfig", config, "-o", folder).status == 0
    assert {"nodes.json", "pods.json", "namespaces.json"} <= {path.name for path in folder.iterdir()}
    assert "managedFields" not in (folder / "pods.json").read_text()
    dumped = ask("simulate", "-f", folder)
    assert dumped["placements"] == live["placements"]
    assert podium("dump", "--kubeconfig", config, "-o", folder).status == 2
    assert _version(api) == before


def test_what_may_not_be_read_is_named(api: Api, tmp_path: Path):
    config = api.plane.kubeconfig("nobody-token", name="nobody")
    answer = podium("dump", "--kubeconfig", config, "-o", tmp_path / "none")
    assert answer.status == 2
    assert 'User "nobody" cannot list resource' in answer.err
    assert "nobody-token" not in answer.err
