"""What bulk runs brought, piece by piece: a stopped run goes on where it was, and the report adds all up.

A journal is a file of JSON lines, one per piece (consecutive numbers of one tier). A piece that was played
again has several lines; the last one says what holds now.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tests.parity.coverage import Coverage

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Piece:
    """Consecutive scenarios that were played together."""

    tier: str
    seed: int
    count: int
    #: Numbers of the scenarios in which the answers differ.
    differing: list[int]
    #: Date, and commit of what was compared.
    date: str
    commit: str
    coverage: dict[str, Any]
    #: How many of the scenarios were played in every way (engines.py).
    ways: int = 0

    def counted(self) -> Coverage:
        """The counts as they were."""
        return Coverage(**{k: Counter(v) if isinstance(v, dict) else v for k, v in self.coverage.items()})


def piece(tier: str, seed: int, count: int, differing: list[int], coverage: Coverage) -> Piece:
    """Make a piece that was played just now."""
    today = datetime.now(UTC).date().isoformat()
    counts = msgspec.to_builtins(coverage)
    return Piece(tier, seed, count, differing, today, _commit(), counts)


def append(journal: Path, entry: Piece) -> None:
    """Add a piece to a journal."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("ab") as file:
        file.write(msgspec.json.encode(entry) + b"\n")


def read(journal: Path) -> list[Piece]:
    """Every piece as it was played last, by tier and number; none where there is no journal."""
    lines = journal.read_bytes().splitlines() if journal.exists() else []
    latest: dict[tuple[str, int, int], Piece] = {}
    for line in lines:
        entry = msgspec.json.decode(line, type=Piece)
        latest[entry.tier, entry.seed, entry.count] = entry
    return [latest[key] for key in sorted(latest)]


def still_to_play(journal: Path, tier: str, pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pieces (first number, count) that were not played yet, or in which answers differed."""
    done = {
        (entry.seed, entry.count) for entry in read(journal) if entry.tier == tier and not entry.differing
    }
    return [wanted for wanted in pieces if wanted not in done]


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
