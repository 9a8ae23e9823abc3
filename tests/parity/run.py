"""Compare Podium with kube-scheduler: ``python -m tests.parity.run MODULE:FUNCTION --count N``.

The function takes a scenario and returns Podium's answer (README.md). Every mismatch is printed, its scenario
is shrunk and written to ``build/parity/mismatches``. Exit status 1 if there is any.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import click
import msgspec

from tests.parity.compare import Mismatch, compare
from tests.parity.coverage import Coverage, targets
from tests.parity.generator.scenarios import seeded
from tests.parity.process import Answer, Oracle, OracleError, Scenario
from tests.parity.report import saved_run
from tests.parity.shrink import shrink

BUILD = Path(__file__).resolve().parents[2] / "build" / "parity"
CHUNK = 50
RAISED = "raised"  # the path of a mismatch that is an error of Podium's

Answerer = Callable[[Scenario], Answer]


@dataclass
class Outcome:
    """What a run of scenarios brought."""

    coverage: Coverage = field(default_factory=Coverage)
    mismatches: list[tuple[Scenario, list[Mismatch]]] = field(default_factory=list)


def play(oracle: Oracle, answerer: Answerer, scenarios: Iterator[Scenario]) -> Outcome:
    """Compare both answers to each scenario."""
    outcome = Outcome()
    for scenario in scenarios:
        expected = oracle.answer(scenario)
        outcome.coverage.add(expected)
        try:
            found = compare(expected, answerer(scenario))
        except Exception as error:  # noqa: BLE001  whatever Podium raises is a mismatch, and the run goes on
            found = [Mismatch(RAISED, "an answer", repr(error))]
        if found:
            outcome.mismatches.append((scenario, found))
    return outcome


def load_answerer(target: str) -> Answerer:
    """Import ``module:function``."""
    module, _, function = target.partition(":")
    answerer: Answerer = getattr(importlib.import_module(module), function)
    return answerer


def _play_chunk(target: str, binary: Path, tier: str, first: int, count: int) -> Outcome:
    with Oracle(binary) as oracle:
        return play(oracle, load_answerer(target), (seeded(tier, n) for n in range(first, first + count)))


def shrunk(oracle: Oracle, answerer: Answerer, scenario: Scenario, *, raises: bool = False) -> Scenario:
    """Reduce a scenario to what the two answers differ about, or to what Podium raises an error for."""

    def differs(smaller: Scenario) -> bool:
        try:
            expected = oracle.answer(smaller)
        except OracleError:
            return False
        try:
            return bool(compare(expected, answerer(smaller))) and not raises
        except Exception:  # noqa: BLE001  any error is one kind of failure, a difference is another
            return raises

    return shrink(scenario, differs, budget=2000)


def write_regression(oracle: Oracle, scenario: Scenario, folder: Path) -> Path:
    """Write a scenario and the oracle's answer: what a regression test needs."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{scenario['id']}.json"
    pair = {"scenario": scenario, "answer": oracle.answer(scenario)}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(pair)) + b"\n")
    return path


@click.command()
@click.argument("answerer", default="tests.parity.answer:podium_answer")
@click.option("--tier", type=click.Choice(["A", "B"]), default="A")
@click.option("--seed", type=int, default=1)
@click.option("--count", type=int, default=300)
@click.option("--jobs", type=int, default=2)
@click.option("--save", type=click.Path(path_type=Path), help="Write counts here, for the report.")
@click.option("--oracle", "binary", type=click.Path(path_type=Path, exists=True), default=BUILD / "oracle")
def main(answerer: str, tier: str, seed: int, count: int, jobs: int, save: Path | None, binary: Path) -> None:
    """Compare Podium with kube-scheduler."""
    chunk = partial(_play_chunk, answerer, binary, tier)
    starts = range(seed, seed + count, CHUNK)
    sizes = [min(CHUNK, seed + count - start) for start in starts]
    coverage, differing = Coverage(), 0
    # Spawned, not forked: a fork would hold the pipes of this process's oracle open, and it would never end.
    workers = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    with Oracle(binary) as oracle, workers as pool:
        done = 0
        for size, outcome in zip(sizes, pool.map(chunk, starts, sizes), strict=True):
            coverage.merge(outcome.coverage)
            done += size
            for scenario, found in outcome.mismatches:
                differing += 1
                _report(oracle, load_answerer(answerer), scenario, found)
            if save is not None:  # after each chunk: a run that is stopped counts as far as it came
                save.write_bytes(saved_run(tier, seed, done, differing, coverage))
    for name, share in coverage.shares().items():
        click.echo(f"{share:8.3%} {name} (at least {targets()[name]:.0%})")
    click.echo(f"{count} scenarios of tier {tier}, {differing} with mismatches")
    sys.exit(1 if differing else 0)


def _report(oracle: Oracle, answerer: Answerer, scenario: Scenario, found: list[Mismatch]) -> None:
    small = shrunk(oracle, answerer, scenario, raises=found[0].path == RAISED)
    path = write_regression(oracle, small, BUILD / "mismatches")
    click.echo(f"{scenario['id']}: {len(found)} mismatches, shrunk to {path}")
    for mismatch in found[:5]:
        click.echo(f"  {mismatch}")


if __name__ == "__main__":
    main()
