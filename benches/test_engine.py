"""The core alone: scheduling cycles past the queue, and preemption."""

import pytest

from benches.conftest import Filled, build, fill

SCENARIOS = ["basic", "hetero", "deployment", "mixed", "spread", "prefspread", "affinity"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_schedule_batch(benchmark, scenario, grade):
    workload = build(scenario, grade)

    def run(filled: Filled) -> None:
        rows = filled.engine.schedule_batch(filled.pods, filled.attempts)
        assert (rows >= 0).all()

    benchmark.extra_info["pods"] = len(workload.pods)
    benchmark.pedantic(run, setup=lambda: ((fill(workload),), {}), rounds=3)


def test_preempt(benchmark, grade):
    """Dry runs and choice for one pod after the other; nobody is evicted, so all find the same cluster."""
    nodes, _ = grade
    workload = build("preemption", (nodes, 100))

    def run(filled: Filled) -> None:
        for pod in filled.pods.tolist():
            assert filled.engine.schedule(pod).row is None
            found = filled.engine.preempt(pod)
            assert found is not None
            assert len(found.victims) == 3

    benchmark.extra_info["pods"] = len(workload.pods)
    benchmark.pedantic(run, setup=lambda: ((fill(workload),), {}), rounds=3)
