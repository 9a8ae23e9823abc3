"""Changes between cycles: what one costs together with the next pod of each known class."""

import itertools

import msgspec
import numpy as np
import pytest

from benches.conftest import build, fill


@pytest.fixture
def warm(grade):
    """Return an engine whose classes are remembered, with half of its pods placed."""
    workload = build("mixed", grade)
    filled = fill(workload)
    half = len(filled.pods) // 2
    filled.engine.schedule_batch(filled.pods[:half], filled.attempts[:half])
    return workload, filled


def test_node_changes(benchmark, warm):
    workload, filled = warm
    nodes = itertools.cycle([msgspec.json.encode(node) for node in workload.nodes])
    pods = itertools.cycle(filled.pods.tolist()[-100:])

    def change() -> None:
        filled.engine.set_node(next(nodes))
        filled.engine.schedule(next(pods))

    benchmark(change)


def test_pod_leaves_and_returns(benchmark, warm):
    _, filled = warm
    placed = itertools.cycle(filled.pods.tolist()[: len(filled.pods) // 2])
    pods = itertools.cycle(filled.pods.tolist()[-100:])

    def change() -> None:
        pod = next(placed)
        row = int(filled.engine.rows_of(np.asarray([pod], dtype=np.uint32))[0])
        filled.engine.forget(pod)
        filled.engine.schedule(next(pods))
        filled.engine.assume(pod, row)

    benchmark(change)
