"""Compare Podium with kube-scheduler: ``python -m tests.parity.run MODULE:FUNCTION --count N``.

The function takes a scenario and returns Podium's answer (README.md). Every mismatch is printed, its scenario
is shrunk and written to ``build/parity/mismatches``. Exit status 1 if there is any.

With ``--journal`` what was played is noted piece by piece; the same command goes on after the last piece, and
plays again what differed. Mismatches are noted then, not shrunk: ``--seed NUMBER --count 1`` does that.
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

from tests.parity import journal
from tests.parity.compare import Mismatch, compare
from tests.parity.coverage import Coverage, targets
from tests.parity.generator.scenarios import seeded
from tests.parity.process import Answer, Oracle, OracleError, Scenario
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
        found = _differences(expected, answerer, scenario)
        if found:
            outcome.mismatches.append((scenario, found))
    return outcome


def _differences(expected: Answer, answerer: Answerer, scenario: Scenario) -> list[Mismatch]:
    try:
        return compare(expected, answerer(scenario))
    except Exception as error:  # noqa: BLE001  whatever Podium raises is a mismatch, and the run goes on
        return [Mismatch(RAISED, "an answer", repr(error))]


def load_answerer(target: str) -> Answerer:
    """Import ``module:function``."""
    module, _, function = target.partition(":")
    answerer: Answerer = getattr(importlib.import_module(module), function)
    return answerer


def _play_chunk(target: str, binary: Path, tier: str, piece: tuple[int, int]) -> Outcome:
    first, count = piece
    with Oracle(binary) as oracle:
        return play(oracle, load_answerer(target), (seeded(tier, n) for n in range(first, first + count)))


def shrunk(
    oracle: Oracle, answerer: Answerer, scenario: Scenario, found: list[Mismatch] | None = None
) -> Scenario:
    """Reduce a scenario to what the two answers differ about: in the way of ``found`` if that is given."""
    wanted = {mismatch.kind for mismatch in found or []}

    def differs(smaller: Scenario) -> bool:
        try:
            expected = oracle.answer(smaller)
        except OracleError:
            return False
        kinds = {mismatch.kind for mismatch in _differences(expected, answerer, smaller)}
        return bool(kinds & wanted if wanted else kinds - {RAISED})

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
@click.option("--journal", "noted", type=click.Path(path_type=Path), help="Note counts here, for the report.")
@click.option("--oracle", "binary", type=click.Path(path_type=Path, exists=True), default=BUILD / "oracle")
def main(
    answerer: str, tier: str, seed: int, count: int, jobs: int, noted: Path | None, binary: Path
) -> None:
    """Compare Podium with kube-scheduler."""
    pieces = [(at, min(CHUNK, seed + count - at)) for at in range(seed, seed + count, CHUNK)]
    if noted is not None:
        pieces = journal.still_to_play(noted, tier, pieces)
    coverage, differing = Coverage(), 0
    # Spawned, not forked: a fork would hold the pipes of this process's oracle open, and it would never end.
    workers = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    with Oracle(binary) as oracle, workers as pool:
        outcomes = pool.map(partial(_play_chunk, answerer, binary, tier), pieces)
        for (first, size), outcome in zip(pieces, outcomes, strict=True):
            coverage.merge(outcome.coverage)
            differing += len(outcome.mismatches)
            if noted is not None:
                numbers = [int(scenario["id"].rpartition("-")[2]) for scenario, _ in outcome.mismatches]
                journal.append(noted, journal.piece(tier, first, size, numbers, outcome.coverage))
            for scenario, found in outcome.mismatches:
                click.echo(f"{scenario['id']}: {len(found)} mismatches")
                for mismatch in found[:5]:
                    click.echo(f"  {mismatch}")
                if noted is None:
                    _shrink(oracle, load_answerer(answerer), scenario, found)
    for name, share in coverage.shares().items():
        click.echo(f"{share:8.3%} {name} (at least {targets()[name]:.0%})")
    played = sum(size for _, size in pieces)
    click.echo(f"{played} scenarios of tier {tier}, {differing} with mismatches")
    sys.exit(1 if differing else 0)


def _shrink(oracle: Oracle, answerer: Answerer, scenario: Scenario, found: list[Mismatch]) -> None:
    small = shrunk(oracle, answerer, scenario, found)
    path = write_regression(oracle, small, BUILD / "mismatches")
    click.echo(f"  shrunk to {path}")


if __name__ == "__main__":
    main()
