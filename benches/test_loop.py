"""The whole loop of ``podium bench``: API objects in, bindings out."""

import pytest
from podium.framework.config import default_config
from podium.simulator.bench import Bench

from benches.conftest import build

SCENARIOS = ["basic", "hetero", "deployment", "churn", "unschedulable", "preemption"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_loop(benchmark, scenario):
    size = (1_000, 1_000) if scenario == "preemption" else (1_000, 5_000)
    workload = build(scenario, size)

    def run() -> None:
        assert Bench(workload, default_config()).run().failed == 0

    benchmark.extra_info["pods"] = len(workload.pods)
    benchmark.pedantic(run, rounds=3)
