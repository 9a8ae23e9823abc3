"""Compares Podium with the real descheduler on many random scenarios.

    python -m tests.descheduler.differential.run --count 2000 [--first SEED] [--binary FILE]

A scenario in which upstream gives several answers counts as equal if ours is one of them. One that differs is
asked again, more often and more slowly, before it counts: upstream reads its caches while they change.
"""

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.descheduler.differential.build import build
from tests.descheduler.differential.compare import Verdict, compare
from tests.descheduler.differential.oracle import Oracle
from tests.descheduler.differential.ours import ours
from tests.descheduler.differential.scenario import Scenario, scenario

RUNS, SETTLE = 2, 1500
AGAIN_RUNS, AGAIN_SETTLE = 60, 5000


def verdicts(oracle: Oracle, first: int, count: int) -> Iterator[tuple[Scenario, Verdict]]:
    """Judge scenarios ``first`` and following."""
    scenarios = [scenario(seed) for seed in range(first, first + count)]
    answers = oracle.answers(item.request(RUNS, SETTLE) for item in scenarios)
    doubtful = []
    for item, answer in zip(scenarios, answers, strict=True):
        verdict = compare(item, answer, ours(item))
        if is_equal(item, verdict):
            yield item, verdict
        else:
            doubtful.append(item)
    for item in doubtful:
        fresh = scenario(item.seed)
        (answer,) = oracle.answers([fresh.request(AGAIN_RUNS, AGAIN_SETTLE)])
        yield fresh, compare(fresh, answer, ours(fresh))


def is_equal(item: Scenario, verdict: Verdict) -> bool:
    """Tell whether two answers agree: the very pods where priorities and upstream leave no choice."""
    return verdict.same or (verdict.alike and not (item.distinct and verdict.unanimous))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--binary", type=Path)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    equal = same = several = 0
    different = []
    evicted: Counter[str] = Counter()
    with Oracle(options.binary or build()) as oracle:
        for at in range(options.first, options.first + options.count, 200):
            size = min(200, options.first + options.count - at)
            for item, verdict in verdicts(oracle, at, size):
                equal += is_equal(item, verdict)
                same += verdict.same
                several += not verdict.unanimous
                evicted.update(verdict.plugins)
                if not is_equal(item, verdict):
                    different.append(item.seed)
                    sys.stdout.write(verdict.text + "\n")
            sys.stdout.write(f"{at + size - options.first} scenarios, {len(different)} different\n")
            sys.stdout.flush()
    counts = f"{same} to the pod; upstream gave several answers in {several}"
    sys.stdout.write(f"{equal} equal ({counts}), different: {different}\n")
    sys.stdout.write(f"scenarios in which a plugin evicted something: {dict(sorted(evicted.items()))}\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
