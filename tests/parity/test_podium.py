"""Podium beside kube-scheduler: recorded answers everywhere, fresh ones where Go is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.parity.answer import podium_answer
from tests.parity.compare import compare
from tests.parity.generator.scenarios import seeded
from tests.parity.process import Oracle
from tests.parity.record import read_golden

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.json"))

# Numbers that neither the recordings nor the bulk runs of docs/parity.md use.
FRESH = range(500_001, 500_151)


@pytest.mark.parametrize("tier", ["A", "B"])
def test_answers_are_those_that_were_recorded(tier: str) -> None:
    differing = {}
    for scenario, recorded in read_golden(tier):
        if found := compare(recorded, podium_answer(scenario)):
            differing[scenario["id"]] = [str(mismatch) for mismatch in found[:5]]
    assert differing == {}


@pytest.mark.parametrize("tier", ["A", "B"])
def test_answers_are_those_of_the_oracle(oracle: Oracle, tier: str) -> None:
    differing = {}
    for number in FRESH:
        scenario = seeded(tier, number)
        if found := compare(oracle.answer(scenario), podium_answer(scenario)):
            differing[scenario["id"]] = [str(mismatch) for mismatch in found[:5]]
    assert differing == {}


def test_there_are_regressions() -> None:
    assert REGRESSIONS


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_was_wrong_once_is_right(path: Path) -> None:
    """Every mismatch that a run found, shrunk (``run.py``), with kube-scheduler's answer."""
    pair = msgspec.json.decode(path.read_bytes())
    assert compare(pair["answer"], podium_answer(pair["scenario"])) == []
