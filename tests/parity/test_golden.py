from __future__ import annotations

import pytest

from tests.parity.compare import compare
from tests.parity.openb import DATA, HASH, digest, openb_scenario, placement_list
from tests.parity.process import Oracle
from tests.parity.record import FOLDER, in_order, read_golden

LEAST = {"A": 200, "B": 60}


@pytest.mark.parametrize("tier", ["A", "B"])
def test_recordings_are_many_and_small(tier: str) -> None:
    pairs = list(read_golden(tier))
    assert len(pairs) >= LEAST[tier]
    assert {answer["version"] for _, answer in pairs} == {"v1.37.2"}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 3 << 20


@pytest.mark.parametrize("tier", ["A", "B"])
def test_recordings_are_what_the_oracle_says(oracle: Oracle, tier: str) -> None:
    pairs = list(read_golden(tier))
    fresh = oracle.answers(scenario for scenario, _ in pairs)
    for (_, recorded), answer in zip(pairs, fresh, strict=True):
        assert compare(recorded, answer) == []
        assert in_order(answer) == recorded


@pytest.mark.deep
@pytest.mark.skipif(not DATA.exists(), reason="../shared/data/openb is absent")
def test_the_openb_placements_are_what_the_oracle_says(oracle: Oracle) -> None:
    placements = placement_list(oracle.answer(openb_scenario()))
    assert digest(placements) == HASH.read_text().strip()
