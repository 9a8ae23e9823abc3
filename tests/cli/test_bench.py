"""``podium bench``: every scenario runs, and the figures have the fields of the contract."""

import pytest
from podium.cli.bench import _LATER
from podium.simulator.workloads import SCENARIOS

from tests.command import ask, podium

FIELDS = [
    "scenario", "nodes", "pods", "scheduled", "failed", "seconds", "pods_per_second", "latency_us",
    "peak_rss_mib", "rejected", "warnings",
]  # fmt: skip


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if name not in _LATER])
def test_every_scenario_binds_all_its_pods(scenario):
    answer = ask("bench", "--scenario", scenario, "--nodes", "60", "--pods", "50")
    assert list(answer) == FIELDS
    assert (answer["scenario"], answer["nodes"], answer["pods"]) == (scenario, 60, 50)
    assert (answer["scheduled"], answer["failed"]) == (50, 0)
    assert answer["seconds"] > 0
    assert answer["pods_per_second"] == pytest.approx(50 / answer["seconds"])
    assert 0 < answer["latency_us"]["p50"] <= answer["latency_us"]["p99"]
    assert answer["peak_rss_mib"] > 10


def test_pods_that_do_not_fit_are_failed_and_no_throughput():
    answer = ask("bench", "--nodes", "1", "--pods", "150")
    assert (answer["scheduled"], answer["failed"]) == (110, 40)
    assert answer["pods_per_second"] == pytest.approx(110 / answer["seconds"])


def test_the_table_has_the_figures():
    answer = podium("bench", "--nodes", "5", "--pods", "20")
    assert answer.status == 0
    for part in ("basic: 20 pods on 5 nodes", "pods/s", "20", "MiB"):
        assert part in answer.out
