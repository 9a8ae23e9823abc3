"""Print scenarios, one per line: ``python -m tests.parity.generator --tier A --seed 1 --count 100``."""

from __future__ import annotations

import sys

import click
import msgspec

from tests.parity.generator.scenarios import TIERS, seeded


@click.command()
@click.option("--tier", type=click.Choice(sorted(TIERS)), default="A")
@click.option("--seed", type=int, default=1, help="Number of the first scenario; each is drawn on its own.")
@click.option("--count", type=int, default=100)
def main(tier: str, seed: int, count: int) -> None:
    """Print scenarios."""
    for number in range(seed, seed + count):
        sys.stdout.buffer.write(msgspec.json.encode(seeded(tier, number)) + b"\n")


main()
