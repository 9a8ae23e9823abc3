"""The bank of real-world cases: every answer of the command line, field by field."""

from pathlib import Path

import pytest

from tests.cases.runner import STRICT, Case, cases, differences

ALL = cases()
ABSENT = pytest.mark.skip(reason="../shared/cases is not here")


def parameters() -> list:
    found = [pytest.param(case, id=case.folder.name) for case in ALL]
    return found or [pytest.param(None, marks=ABSENT)]


@pytest.mark.parametrize("case", parameters())
def test_answers_are_those_of_the_case(case: Case) -> None:
    assert differences(case) == []


@pytest.mark.parametrize("case", parameters())
def test_strict_gives_the_documented_answers(case: Case, tmp_path: Path) -> None:
    config = tmp_path / "strict.yaml"
    config.write_text(STRICT)
    assert differences(case, config) == []


@pytest.mark.skipif(not ALL, reason="../shared/cases is not here")
def test_the_bank_is_whole() -> None:
    assert len(ALL) == 20
    assert sum(len(case.expected["pods"]) for case in ALL) == 137
    assert [pod["pod"] for case in ALL for pod in case.contested] == [
        "default/empty-selector",
        "default/cpu-1e",
        "default/memory-two-5ei",
    ]
