"""Compare Podium with kube-scheduler: ``python -m tests.parity.run MODULE:FUNCTION --count N``.

The function takes a scenario and returns Podium's answer (README.md). Every mismatch is printed, its scenario
is shrunk and written to ``build/parity/mismatches``. Exit status 1 if there is any.

With ``--every 10`` each tenth sequence is played in every way there is (engines.py), not only one by
one.

With ``--journal`` what was played is noted piece by piece; the same command goes on after the last piece, and
plays again what differed. Mismatches are noted then, not shrunk: ``--seed NUMBER --count 1`` does that.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import click
import msgspec

from tests.parity import journal
from tests.parity.compare import Mismatch
from tests.parity.coverage import Coverage, targets
from tests.parity.generator.scenarios import seeded
from tests.parity.judge import RAISED, WAYS, Answerer, Judge, every_way, one_way
from tests.parity.process import Oracle, OracleError, Scenario
from tests.parity.shrink import shrink

BUILD = Path(__file__).resolve().parents[2] / "build" / "parity"
CHUNK = 50


@dataclass
class Outcome:
    """What a run of scenarios brought."""

    coverage: Coverage = field(default_factory=Coverage)
    mismatches: list[tuple[Scenario, list[Mismatch]]] = field(default_factory=list)
    ways: int = 0  # scenarios that were played in every way


def play(oracle: Oracle, answerer: Answerer, scenarios: Iterator[Scenario], every: int = 0) -> Outcome:
    """Compare both answers to each scenario; of sequences, play every so many in every way."""
    outcome = Outcome()
    for number, scenario in enumerate(scenarios):
        expected = oracle.answer(scenario)
        outcome.coverage.add(expected)
        thorough = bool(every) and scenario["tier"] == "B" and number % every == 0
        outcome.ways += thorough
        judge = every_way(answerer, number) if thorough else one_way(answerer)
        found = judge(expected, scenario)
        if found:
            outcome.mismatches.append((scenario, found))
    return outcome


def load_answerer(target: str) -> Answerer:
    """Import ``module:function``."""
    module, _, function = target.partition(":")
    answerer: Answerer = getattr(importlib.import_module(module), function)
    return answerer


def _play_chunk(target: str, binary: Path, tier: str, every: int, piece: tuple[int, int]) -> Outcome:
    first, count = piece
    scenarios = (seeded(tier, number) for number in range(first, first + count))
    with Oracle(binary) as oracle:
        return play(oracle, load_answerer(target), scenarios, every)


def shrunk(oracle: Oracle, judge: Judge, scenario: Scenario, found: list[Mismatch] | None = None) -> Scenario:
    """Reduce a scenario to what the two answers differ about: in the way of ``found`` if that is given."""
    wanted = {mismatch.kind for mismatch in found or []}

    def differs(smaller: Scenario) -> bool:
        try:
            expected = oracle.answer(smaller)
        except OracleError:
            return False
        kinds = {mismatch.kind for mismatch in judge(expected, smaller)}
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
@click.option("--every", type=int, default=0, help="Play every so many sequences in every way.")
@click.option("--jobs", type=int, default=2)
@click.option("--journal", "noted", type=click.Path(path_type=Path), help="Note counts here, for the report.")
@click.option("--oracle", "binary", type=click.Path(path_type=Path, exists=True), default=BUILD / "oracle")
def main(
    answerer: str,
    tier: str,
    seed: int,
    count: int,
    every: int,
    jobs: int,
    noted: Path | None,
    binary: Path,
) -> None:
    """Compare Podium with kube-scheduler."""
    pieces = [(at, min(CHUNK, seed + count - at)) for at in range(seed, seed + count, CHUNK)]
    if noted is not None:
        pieces = journal.still_to_play(noted, tier, pieces)
    coverage, differing = Coverage(), 0
    # Spawned, not forked: a fork would hold the pipes of this process's oracle open, and it would never end.
    workers = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    with Oracle(binary) as oracle, workers as pool:
        outcomes = pool.map(partial(_play_chunk, answerer, binary, tier, every), pieces)
        for (first, size), outcome in zip(pieces, outcomes, strict=True):
            coverage.merge(outcome.coverage)
            differing += len(outcome.mismatches)
            if noted is not None:
                numbers = [int(scenario["id"].rpartition("-")[2]) for scenario, _ in outcome.mismatches]
                piece = journal.piece(tier, first, size, numbers, outcome.coverage)
                journal.append(noted, replace(piece, ways=outcome.ways))
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
    judge = every_way(answerer, 0) if found[0].path == WAYS else one_way(answerer)
    small = shrunk(oracle, judge, scenario, found)
    path = write_regression(oracle, small, BUILD / "mismatches")
    click.echo(f"  shrunk to {path}")


if __name__ == "__main__":
    main()
