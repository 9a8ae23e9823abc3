"""The control plane as a fixture: one per test session and worker, cleaned between tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.build import GoMissing, program
from tests.live.control_plane import ControlPlane
from tests.live.objects import Api

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the first build time."""
    for item in items:
        if HERE not in item.path.parents:
            continue
        if {"plane", "own_plane"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.timeout(1800))


def _build() -> None:
    try:
        for name in ("etcd", "kube-apiserver"):
            program(name)
    except GoMissing as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{error}, and CI does not skip the live tests")
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def _shared_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    _build()
    plane = ControlPlane(tmp_path_factory.mktemp("plane"))
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()


@pytest.fixture
def plane(_shared_plane: ControlPlane) -> Iterator[ControlPlane]:
    """A running control plane without nodes, pods and storage."""
    yield _shared_plane
    with Api(_shared_plane) as api:
        api.wipe()


@pytest.fixture
def own_plane(tmp_path: Path) -> Iterator[ControlPlane]:
    """A control plane that the test may break."""
    _build()
    plane = ControlPlane(tmp_path / "plane")
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()


@pytest.fixture
def api(plane: ControlPlane) -> Iterator[Api]:
    """The administrator's client of ``plane``."""
    with Api(plane) as client:
        yield client


@pytest.fixture
def own_api(own_plane: ControlPlane) -> Iterator[Api]:
    """The administrator's client of ``own_plane``."""
    with Api(own_plane) as client:
        yield client
