"""The oracle's own tests, so that they run wherever the others do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.parity.process import Oracle, OracleError

SOURCE = Path(__file__).resolve().parent / "oracle"


@pytest.mark.usefixtures("oracle")
@pytest.mark.parametrize(
    "command", [["gofmt", "-l", "."], ["go", "vet", "."], ["go", "test", "."]], ids=" ".join
)
def test_go_is_content(command: list[str]) -> None:
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert command[0] != "gofmt" or done.stdout == ""


def test_what_cannot_be_played_is_an_error(oracle: Oracle) -> None:
    with pytest.raises(OracleError, match="no such op"):
        oracle.answer({"id": "x", "tier": "B", "steps": [{"op": "dance"}]})
    assert oracle.answer({"id": "y", "tier": "A", "pending": []})["pods"] == []
