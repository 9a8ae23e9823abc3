"""Whole runs on real and generated inputs, judged by the checker that shares no code with Podium."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from podium.simulator.sample import sample
from podium.simulator.traces import load

from tests.checker import check
from tests.checker.random_cluster import random_cluster
from tests.cli.manifests import node, text
from tests.command import ask

DATA = Path(__file__).parents[3] / "shared" / "data"
NODES, PODS = DATA / "openb" / "openb_node_list_all_node.csv", DATA / "openb" / "openb_pod_list_default.csv"
GPU = "alibabacloud.com/gpu-milli"

needs_openb = pytest.mark.skipif(not PODS.exists(), reason="../shared/data/openb is not here")
needs_simkube = pytest.mark.skipif(
    not (DATA / "simkube").is_dir(), reason="../shared/data/simkube is not here"
)


@needs_openb
@pytest.mark.timeout(900)  # the checker is plain Python over 8,152 placements
def test_the_openb_trace_is_placed_on_at_least_85_percent_of_the_gpus() -> None:
    trace = f"openb:{NODES},{PODS}"
    answer = ask("simulate", "--arrivals", "queue", "--trace", trace)
    assert len(answer["placements"]) + len(answer["pending"]) == 8152
    assert all(pending["message"] for pending in answer["pending"])
    assert (answer["rejected"], answer["ignored"], answer["evicted"]) == ([], [], [])

    objects = [entry.manifest for entry in load(trace).queue()]
    asked = {f"default/{o['metadata']['name']}": _gpu(o) for o in objects if o["kind"] == "Pod"}
    whole = sum(int(o["status"]["allocatable"].get(GPU, 0)) for o in objects if o["kind"] == "Node")
    assert whole == 6_212_000
    allocated = sum(asked[placement["pod"]] for placement in answer["placements"])
    assert allocated / whole >= 0.85
    assert answer["stats"]["utilisation"][GPU] == pytest.approx(allocated / whole)
    assert check(objects, answer) == []


def _gpu(pod: dict[str, Any]) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["requests"].get(GPU, 0))


@pytest.mark.timeout(900)
def test_the_checker_finds_nothing_in_the_bundled_sample(tmp_path: Path) -> None:
    answer = ask("simulate")
    assert answer["rejected"] == []
    found = check(sample(), answer)
    assert found == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_the_checker_finds_nothing_in_200_random_clusters(first: int, tmp_path: Path) -> None:
    placed = Counter[str]()
    for seed in range(first, first + 20):
        objects = random_cluster(seed)
        path = tmp_path / f"{seed}.yaml"
        path.write_text(yaml.safe_dump_all(objects))
        answer = ask("simulate", "-f", path)
        assert check(objects, answer) == [], f"seed {seed}"
        placed["pods"] += len(answer["placements"])
        placed["pending"] += len(answer["pending"])
    assert placed["pods"] > 100
    assert placed["pending"] > 0


@needs_simkube
@pytest.mark.parametrize(
    ("name", "arguments", "pods"),
    [
        ("bare-pods", [], {"testing": 4}),
        ("cronjob", [], {}),
        ("cronjob", ["--cronjobs"], {"default": 1}),
        ("dsb-scaling", [], {"dsb": 42}),  # the last versions of 27 Deployments
    ],
)
def test_the_sktrace_files_expand_and_schedule_on_ten_nodes(
    tmp_path: Path, name: str, arguments: list[str], pods: dict[str, int]
) -> None:
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text(text(*(node(f"node-{number}", cpu="32") for number in range(10))))
    answer = ask("simulate", "-f", nodes, "--trace", f"sktrace:{DATA / 'simkube' / name}.sktrace", *arguments)
    assert answer["pending"] == []
    found = Counter(placement["pod"].partition("/")[0] for placement in answer["placements"])
    assert found == pods
