"""The oracle as a fixture: built once, one process for the whole test session."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parity.process import Oracle

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SOURCE = HERE / "oracle"
BINARY = ROOT / "build" / "parity" / "oracle"


def _build() -> Path:
    if shutil.which("go") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Go is missing: the oracle cannot be built, and CI does not skip parity")
        pytest.skip("Go is missing: the oracle cannot be built")
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    fresh = BINARY.with_suffix(f".{os.getpid()}")  # test workers build side by side; renaming is atomic
    built = subprocess.run(
        ["go", "build", "-o", str(fresh), "."],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        pytest.fail(f"go build of the oracle failed:\n{built.stderr}")
    return fresh.replace(BINARY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that need the oracle time for its first build."""
    for item in items:
        if HERE not in item.path.parents:
            continue
        if "oracle" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(1800))  # the first build compiles most of Kubernetes


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    with Oracle(_build()) as process:
        yield process
