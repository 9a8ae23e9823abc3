"""``podium bench``: every scenario runs, and the figures have the fields of the contract."""

import pytest
from podium.simulator.workloads import SCENARIOS

from tests.command import ask, podium

FIELDS = [
    "scenario", "nodes", "pods", "scheduled", "failed", "seconds", "pods_per_second", "latency_us",
    "peak_rss_mib", "rejected", "warnings",
]  # fmt: skip


#: Gangs are whole.
PODS = {"gang3": 51, "gang1000": 1_000, "gang5000": 5_000}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_binds_all_its_pods(scenario):
    pods = PODS.get(scenario, 50)
    answer = ask("bench", "--scenario", scenario, "--nodes", "60", "--pods", str(pods))
    assert list(answer) == FIELDS
    assert (answer["scenario"], answer["nodes"], answer["pods"]) == (scenario, 60, pods)
    assert (answer["scheduled"], answer["failed"]) == (pods, 0)
    assert answer["seconds"] > 0
    assert answer["pods_per_second"] == pytest.approx(pods / answer["seconds"])
    assert 0 < answer["latency_us"]["p50"] <= answer["latency_us"]["p99"]
    assert answer["peak_rss_mib"] > 10


def test_pods_that_would_be_part_of_a_gang_are_not_made():
    answer = ask("bench", "--scenario", "gang3", "--nodes", "5", "--pods", "20")
    assert (answer["pods"], answer["scheduled"]) == (18, 18)


def test_pods_that_do_not_fit_are_failed_and_no_throughput():
    answer = ask("bench", "--nodes", "1", "--pods", "150")
    assert (answer["scheduled"], answer["failed"]) == (110, 40)
    assert answer["pods_per_second"] == pytest.approx(110 / answer["seconds"])


def test_the_table_has_the_figures():
    answer = podium("bench", "--nodes", "5", "--pods", "20")
    assert answer.status == 0
    for part in ("basic: 20 pods on 5 nodes", "pods/s", "20", "MiB"):
        assert part in answer.out
