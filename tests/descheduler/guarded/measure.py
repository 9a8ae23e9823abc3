"""Compares guarded mode with compat mode over many cycles of the closed loop.

    python -m tests.descheduler.guarded.measure --count 300 [--first SEED] [--cycles N] [--grain coarse]

Imbalance is the standard deviation of the nodes' utilisation, summed over the resources of the policy.
"""

import argparse
import itertools
import logging
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from unittest import mock

from podium.api.manifest import Options as Loading
from podium.api.manifest import load_objects
from podium.descheduler.ports import Eviction, EvictionRefusedError
from podium.descheduler.table import IN_TREE
from podium.framework.config import default_config
from podium.simulator import rebalance as module
from podium.simulator.evictions import SimulatedEvictions
from podium.simulator.rebalance import Options, Rebalancing, rebalance

from tests.descheduler.guarded.clusters import GRAINS, Case, case
from tests.descheduler.scene import NOW, load

Mode = Literal["compat", "guarded"]

EPS = 1e-9
CYCLES = 8

#: By how much smoothing of measured load may move an imbalance while nothing else moves.
DRIFT = 1e-3


@dataclass(frozen=True)
class Course:
    """One mode's way through the cycles.

    Attributes:
        points: evictions so far and imbalance, before the first cycle and after each.
        single: the same for each resource on its own.
        again: pods that were evicted although they had taken an evicted one's place.
        pending: pods without a node at the end.

    """

    points: list[tuple[int, float]]
    single: list[dict[str, float]]
    again: int
    pending: int

    @property
    def evicted(self) -> int:
        return self.points[-1][0]

    @property
    def end(self) -> float:
        return self.points[-1][1]

    @property
    def gain(self) -> float:
        return self.points[0][1] - self.end

    @property
    def worst_step(self) -> float:
        """By how much the worst cycle raised the imbalance."""
        return max(after - before for (_, before), (_, after) in itertools.pairwise(self.points))

    @property
    def worst_resource(self) -> float:
        """By how much the worst resource ended above its start."""
        first, last = self.single[0], self.single[-1]
        return max(last[name] - first[name] for name in first)


@dataclass(frozen=True)
class Comparison:
    """Both modes; ``ends`` is the imbalance of compat and guarded after the same number of evictions."""

    seed: int
    compat: Course
    guarded: Course
    ends: tuple[float, float]

    @property
    def common(self) -> int:
        return min(self.compat.evicted, self.guarded.evicted)

    @property
    def ahead(self) -> float:
        """By how much guarded is better after the same number of evictions."""
        return self.ends[0] - self.ends[1]


class _Capped(SimulatedEvictions):
    """Refuses everything after a number of evictions."""

    left = 0

    def evict(self, eviction: Eviction) -> None:
        if type(self).left <= 0:
            raise EvictionRefusedError("enough")
        super().evict(eviction)
        type(self).left -= 1


def compare(item: Case, cycles: int = CYCLES) -> Comparison:
    """Run both modes, and the one that evicted more again up to the number of the other."""
    compat, guarded = course(item, "compat", cycles), course(item, "guarded", cycles)
    most = min(compat.evicted, guarded.evicted)
    ends = (
        compat.end if compat.evicted == most else _capped(item, "compat", cycles, most).end,
        guarded.end if guarded.evicted == most else _capped(item, "guarded", cycles, most).end,
    )
    return Comparison(item.seed, compat, guarded, ends)


def _capped(item: Case, mode: Mode, cycles: int, most: int) -> Course:
    _Capped.left = most
    with mock.patch.object(module, "SimulatedEvictions", _Capped):
        return course(item, mode, cycles)


def course(item: Case, mode: Mode, cycles: int = CYCLES) -> Course:
    """Run one mode, and a cycle without evictions for how things are before."""
    manifest = load_objects(item.objects, "case", Loading(validate="off"))
    assert not manifest.rejected, manifest.rejected
    idle = {**item.policy, "maxNoOfPodsToEvictTotal": 0}
    start = rebalance(manifest, load(idle), IN_TREE, default_config(), Options(now=NOW))
    options = Options(now=NOW, cycles=cycles, mode=mode)
    return _course(item, start, rebalance(manifest, load(item.policy), IN_TREE, default_config(), options))


def _course(item: Case, start: Rebalancing, result: Rebalancing) -> Course:
    levels = [
        {report.node: report.utilisation for report in turn.nodes} for turn in (*start.turns, *result.turns)
    ]
    counts = itertools.accumulate((len(turn.cycle.evicted) for turn in result.turns), initial=0)
    points = [
        (count, sum(_deviation(level, name) for name in item.resources))
        for count, level in zip(counts, levels, strict=True)
    ]
    single = [{name: _deviation(level, name) for name in item.resources} for level in levels]
    names = Counter(gone.pod.metadata.name for turn in result.turns for gone in turn.cycle.evicted)
    first = {obj["metadata"]["name"] for obj in item.objects if obj["kind"] == "Pod"}
    stateful = {
        obj["metadata"]["name"]
        for obj in item.objects
        if obj["kind"] == "Pod" and obj["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"
    }
    again = sum(name not in first or (name in stateful and count > 1) for name, count in names.items())
    return Course(points, single, again, len(result.pending))


def _deviation(nodes: Mapping[str, Mapping[str, float]], resource: str) -> float:
    return statistics.pstdev(parts.get(resource, 0.0) for parts in nodes.values())


def report(found: Sequence[Comparison]) -> list[str]:
    """Return what the comparisons show, in lines."""
    equal = [one for one in found if one.common]
    better = [one for one in found if one.compat.gain > EPS]
    behind = [one.seed for one in equal if one.ahead < -EPS]
    ratios = [one.guarded.gain / one.compat.gain for one in better]
    evictions = [one.guarded.evicted / max(one.compat.evicted, 1) for one in better]
    total = [sum(getattr(one, mode).evicted for one in found) for mode in ("compat", "guarded")]
    return [
        f"{len(found)} clusters; evictions: compat {total[0]}, guarded {total[1]}",
        *(_safety(mode, [getattr(one, mode) for one in found]) for mode in ("compat", "guarded")),
        f"after as many evictions ({len(equal)} clusters): guarded not worse in "
        f"{100 - 100 * len(behind) / max(len(equal), 1):.1f} %, better by "
        f"{statistics.mean(one.ahead for one in equal):.4f} on average; worse: {behind}",
        f"where compat improves ({len(better)}): guarded gets median {statistics.median(ratios):.2f}, mean "
        f"{statistics.mean(ratios):.2f} of it, with median {statistics.median(evictions):.2f} of the "
        f"evictions; less than 0.8 of it in {sum(ratio < 0.8 for ratio in ratios)}",
    ]


def _safety(mode: str, courses: Sequence[Course]) -> str:
    worse = sum(course.gain < -EPS for course in courses)
    single = sum(course.worst_resource > DRIFT for course in courses)
    step = sum(course.worst_step > DRIFT for course in courses)
    again = sum(course.again > 0 for course in courses)
    pending = sum(course.pending > 0 for course in courses)
    return (
        f"{mode}: clusters worse than before {worse} (in one resource {single}, in one cycle {step}), "
        f"with pods evicted again {again}, with pods left pending {pending}"
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cycles", type=int, default=CYCLES)
    parser.add_argument("--grain", choices=sorted(GRAINS), default="fine")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    began = time.process_time()
    found = []
    for seed in range(options.first, options.first + options.count):
        found.append(one := compare(case(seed, grain=options.grain), options.cycles))
        if options.verbose:
            line = f"{seed}: {one.compat.points[0][1]:.3f}"
            for mode in (one.compat, one.guarded):
                line += f" → {mode.end:.3f} by {mode.evicted}"
            sys.stdout.write(f"{line}; after {one.common}: {one.ends[0]:.3f} and {one.ends[1]:.3f}\n")
    sys.stdout.write("\n".join(report(found)) + "\n")
    sys.stdout.write(f"{time.process_time() - began:.0f} s of processor time\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
