"""Builds the oracle once."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "tests" / "descheduler" / "oracle"
BINARY = ROOT / "build" / "descheduler" / "oracle"


def build() -> Path:
    """Return the binary, built where it is older than its sources; raises CalledProcessError."""
    sources = [path.stat().st_mtime for path in SOURCE.iterdir()]
    if BINARY.exists() and BINARY.stat().st_mtime > max(sources):
        return BINARY
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    fresh = BINARY.with_suffix(f".{os.getpid()}")  # test workers build side by side; renaming is atomic
    subprocess.run(
        ["go", "build", "-o", str(fresh), "."], cwd=SOURCE, check=True, capture_output=True, text=True
    )
    return fresh.replace(BINARY)
