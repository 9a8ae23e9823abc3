"""How the cost of a pod grows with the number of nodes: ``python -m benches.growth FILE.json``.

The core alone, past the queue, in CPU time of one thread, so that other work on the machine hardly counts.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np

from benches.conftest import build, fill

SIZES = (1_000, 5_000, 15_000, 50_000, 100_000)

#: Scenario -> pods whose cycles are measured.
PODS = {"basic": 20_000, "spread": 5_000, "hetero": 400}


def measure(scenario: str, nodes: int, pods: int) -> float:
    """Return CPU seconds per pod of ``schedule_batch``, after a tenth of the pods has been placed."""
    filled = fill(build(scenario, (nodes, pods)))
    warm = pods // 10
    attempts = np.zeros(pods, dtype=np.uint64)
    filled.engine.schedule_batch(filled.pods[:warm], attempts[:warm])
    began = process_time()
    rows = filled.engine.schedule_batch(filled.pods[warm:], attempts[warm:])
    took = process_time() - began
    assert (rows >= 0).all()
    return took / len(rows)


def points(rounds: int = 2) -> Iterator[dict[str, str | int | float]]:
    """Measure every scenario at every size, each time the best of some rounds."""
    for scenario, pods in PODS.items():
        for nodes in SIZES:
            seconds = min(measure(scenario, nodes, pods) for _ in range(rounds))
            yield {"scenario": scenario, "nodes": nodes, "microseconds": round(seconds * 1e6, 3)}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(list(points()), indent=1) + "\n")
