"""Record the oracle's answers for machines without Go: ``python -m tests.parity.record``.

``golden/tier-a.jsonl.gz`` and ``golden/tier-b.jsonl.gz`` hold ``{"scenario": …, "answer": …}`` per line. The
same scenarios and the same oracle give the same bytes.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from tests.parity.generator.scenarios import seeded
from tests.parity.process import Answer, Oracle, Scenario

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "golden"
BINARY = HERE.parents[1] / "build" / "parity" / "oracle"

# Numbers of the recorded scenarios; the largest are left out to keep the files small.
RECORDED = {"A": range(100_001, 100_301), "B": range(100_001, 100_101)}
LARGEST = 150_000  # bytes of one scenario


def recorded_scenarios(tier: str) -> Iterator[Scenario]:
    """The scenarios that are recorded for a tier."""
    for number in RECORDED[tier]:
        scenario = seeded(tier, number)
        if len(msgspec.json.encode(scenario)) <= LARGEST:
            yield scenario


def in_order(answer: Any) -> Any:
    """An answer whose reasons are sorted: upstream gives them in the order of a map."""
    if isinstance(answer, dict):
        return {key: sorted(item) if key == "reasons" else in_order(item) for key, item in answer.items()}
    return [in_order(item) for item in answer] if isinstance(answer, list) else answer


def golden_path(tier: str) -> Path:
    """Where a tier's recordings are."""
    return FOLDER / f"tier-{tier.lower()}.jsonl.gz"


def read_golden(tier: str) -> Iterator[tuple[Scenario, Answer]]:
    """Read the recorded pairs of a tier."""
    with gzip.open(golden_path(tier)) as lines:
        for line in lines:
            pair = msgspec.json.decode(line)
            yield pair["scenario"], pair["answer"]


def record(oracle: Oracle, tier: str) -> bytes:
    """Make the content of a tier's recordings."""
    scenarios = list(recorded_scenarios(tier))
    answers = oracle.answers(scenarios)
    pairs = zip(scenarios, answers, strict=True)
    lines = [msgspec.json.encode({"scenario": s, "answer": in_order(a)}) + b"\n" for s, a in pairs]
    return gzip.compress(b"".join(lines), compresslevel=9, mtime=0)


@click.command()
@click.option("--oracle", "binary", type=click.Path(path_type=Path, exists=True), default=BINARY)
def main(binary: Path) -> None:
    """Record both tiers anew."""
    FOLDER.mkdir(exist_ok=True)
    with Oracle(binary) as oracle:
        for tier in RECORDED:
            golden_path(tier).write_bytes(record(oracle, tier))


if __name__ == "__main__":
    main()
