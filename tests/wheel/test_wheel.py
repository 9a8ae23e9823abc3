"""The wheel in an empty environment, used from another folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(1800)  # a cold build of the core takes minutes


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing: no wheel can be built")
    maturin = Path(sys.executable).parent / "maturin"
    if not maturin.exists():
        pytest.skip("maturin is missing: no wheel can be built")
    out = tmp_path_factory.mktemp("dist")
    built = run(maturin, "build", "--release", "--locked", "--out", out, cwd=ROOT)
    assert built.returncode == 0, built.stderr
    (found,) = out.iterdir()
    return found


@pytest.fixture(scope="module")
def podium(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, installed from the wheel alone; dependencies come from the package index."""
    folder = tmp_path_factory.mktemp("empty")
    made = run(sys.executable, "-m", "venv", folder / "venv")
    assert made.returncode == 0, made.stderr
    python = folder / "venv" / "bin" / "python"
    installed = run(python, "-m", "pip", "install", "--quiet", "--retries", "1", wheel)
    if installed.returncode != 0 and re.search(
        r"No matching distribution|ConnectionError|Retrying", installed.stderr
    ):
        pytest.skip("the package index cannot be reached: the wheel's dependencies are missing")
    assert installed.returncode == 0, installed.stderr
    return folder / "venv" / "bin" / "podium"


def call(podium: Path, folder: Path, *arguments: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = run(podium, *arguments, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_wheel_serves_every_python_from_3_11_on(wheel: Path) -> None:
    assert re.fullmatch(r"podium-[\d.]+-cp311-abi3-\w+\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    assert "podium/_core.abi3.so" in names
    assert {"podium/py.typed", "podium/_core.pyi"} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "rust/", "build/"))]


def test_the_sample_runs_from_another_folder(podium: Path, tmp_path: Path) -> None:
    answer = msgspec.json.decode(call(podium, tmp_path, "simulate", "-o", "json"))
    assert answer["stats"]["nodes"] > 300
    assert answer["stats"]["scheduled"] > 3000


def test_bench_runs_from_another_folder(podium: Path, tmp_path: Path) -> None:
    answer = msgspec.json.decode(
        call(podium, tmp_path, "bench", "--nodes", "50", "--pods", "200", "-o", "json")
    )
    assert answer["scheduled"] == 200
    assert answer["failed"] == 0


def test_the_library_is_there(podium: Path, tmp_path: Path) -> None:
    program = (
        "import numpy, podium; e = podium.Engine(numpy.array([[4]]), resources=['cpu']);"
        "print(e.place(numpy.array([[3], [3]])).nodes.tolist())"
    )
    done = run(podium.parent / "python", "-c", program, cwd=tmp_path)
    assert done.stdout == "[0, -1]\n", done.stderr
