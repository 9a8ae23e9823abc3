"""Builds etcd, kube-apiserver, kube-scheduler, kube-controller-manager and loadgen once.

They are ordinary dependencies of the Go module in ``servers``. Binaries are kept under ``build/live/bin``;
``KUBEBUILDER_ASSETS`` names a folder that has them already (what it lacks is built).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).resolve().parent / "servers"
KEPT = ROOT / "build" / "live" / "bin"

PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "loadgen": "./loadgen",
}

_VERSION = "k8s.io/component-base/version"
# The flags are those of other Go modules here, so that they share one build cache.
_LINK = f"-s -w -X {_VERSION}.gitVersion=v1.37.2 -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=37"


class GoMissing(Exception):  # noqa: N818 (says what is the matter)
    """Nothing can be built."""


def program(name: str) -> Path:
    """Return the path of a program, built if it has to be.

    Raises:
        GoMissing: it must be built and there is no Go.

    """
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and (Path(assets) / name).exists():
        return Path(assets) / name
    kept = KEPT / name
    if _is_fresh(kept):
        return kept
    if shutil.which("go") is None:
        raise GoMissing(f"Go is missing: {name} cannot be built")
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test workers ask side by side
        if not _is_fresh(kept):
            _build(name, kept)
    return kept


def _is_fresh(kept: Path) -> bool:
    stamp = _stamp_of(kept)
    return kept.exists() and stamp.exists() and stamp.read_text() == _sources(kept.name)


def _stamp_of(kept: Path) -> Path:
    return kept.parent / f".{kept.name}.sources"


def _sources(name: str) -> str:
    """Return what a program is made of, as a hash."""
    own = sorted(SOURCE.glob("loadgen/*.go")) if name == "loadgen" else []
    made_of = b"".join(path.read_bytes() for path in (SOURCE / "go.mod", SOURCE / "go.sum", *own))
    return hashlib.sha256(made_of + _LINK.encode()).hexdigest()


def _build(name: str, kept: Path) -> None:
    sys.stderr.write(f"building {name}; the first time takes minutes\n")
    fresh = kept.with_suffix(f".{os.getpid()}")
    built = subprocess.run(
        ["go", "build", "-ldflags", _LINK, "-o", str(fresh), PACKAGES[name]],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        raise RuntimeError(f"go build of {name} failed:\n{built.stderr}")
    fresh.replace(kept)
    _stamp_of(kept).write_text(_sources(name))


if __name__ == "__main__":
    for each in PACKAGES:
        print(program(each))  # noqa: T201 (what the caller asked for)
