"""Dependencies point one way, in Python and in Rust."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts over the package of a folder."""
    shutil.copy(ROOT / ".importlinter", folder)
    program = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package's sources, without what is compiled."""
    pytest.importorskip("importlinter")
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    return Path(shutil.copytree(ROOT / "python" / "podium", tmp_path / "podium", ignore=ignored))


def test_every_contract_is_kept(package: Path) -> None:
    done = lint_imports(package.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("errors.py", "import podium.api"),
        ("api/gates.py", "import podium.framework"),
        ("framework/points.py", "import podium.scheduler.loop"),
        ("scheduler/loop.py", "import podium.cluster.simulated"),
        ("scheduler/explain.py", "import podium.simulator.run"),
        ("simulator/run.py", "import podium.cli"),
        ("api/kinds.py", "import rich"),
        ("engine.py", "import podium.simulator.run"),
    ],
)
def test_a_dependency_in_the_wrong_direction_is_found(package: Path, module: str, line: str) -> None:
    path = package / module
    path.write_text(f"{path.read_text()}\n{line}\n")
    done = lint_imports(package.parent)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


def needed_by(crate: str) -> set[str]:
    """Names of all crates that a crate of the workspace needs, from the lock file."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    needs = {
        package["name"]: [name.split(" ")[0] for name in package.get("dependencies", [])]
        for package in lock["package"]
    }
    found: set[str] = set()
    todo = [crate]
    while todo:
        for name in needs[todo.pop()]:
            if name not in found:
                found.add(name)
                todo.append(name)
    return found


def test_the_core_needs_no_python() -> None:
    binding, core = needed_by("podium-python"), needed_by("podium-core")
    assert {"pyo3", "numpy", "podium-core"} <= binding
    assert not {"pyo3", "pyo3-ffi", "numpy", "podium-python"} & core


def test_the_core_denies_unsafe_code() -> None:
    assert "deny(unsafe_code)" in (ROOT / "rust" / "core" / "src" / "lib.rs").read_text()
