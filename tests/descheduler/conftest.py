"""The real descheduler as a fixture: built once, one process for the whole test session."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.descheduler.differential.build import build
from tests.descheduler.differential.oracle import Oracle

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that need the oracle time for its first build, which compiles much of Kubernetes."""
    for item in items:
        if HERE in item.path.parents and "oracle" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(1800))


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    if shutil.which("go") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Go is missing: the oracle cannot be built, and CI does not skip parity")
        pytest.skip("Go is missing: the oracle cannot be built")
    try:
        binary = build()
    except subprocess.CalledProcessError as error:
        pytest.fail(f"go build of the oracle failed:\n{error.stderr}")
    with Oracle(binary) as process:
        yield process
