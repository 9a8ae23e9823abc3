"""The bank of gang and fair-share cases, by its own runner."""

import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[3] / "shared" / "cases-groups" / "runner.py"


@pytest.mark.skipif(not RUNNER.exists(), reason="../shared/cases-groups is not here")
def test_all_cases_pass() -> None:
    podium = Path(sys.executable).with_name("podium")
    run = subprocess.run(
        [sys.executable, str(RUNNER), str(podium)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    assert " 0 fail, 0 questions" in run.stdout
