"""Show that the parity suite can fail: ``python -m tests.parity.mutations`` (``make mutations``).

Needs an extension with the cargo feature ``mutations``, where every plugin can be told to make one mistake.
Recorded answers are compared with Podium's until one differs. Prints a line per plugin, and writes them to
``build/parity/mutations.json`` for the report. Exit status 1 if a mistake goes unseen for too long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
from podium import _core

from tests.parity.answer import podium_answer
from tests.parity.compare import compare
from tests.parity.process import Answer, Scenario
from tests.parity.record import read_golden

FOUND = Path(__file__).resolve().parents[2] / "build" / "parity" / "mutations.json"
WITHIN = 300

#: Plugin → its deliberate mistake (rust/core/src, ``mutation::active``).
MISTAKES = {
    "NodeName": "its filter rejects nothing",
    "NodeUnschedulable": "cordoned nodes are accepted",
    "TaintToleration": "the effect NoExecute is ignored",
    "NodeAffinity": "every preferred term weighs 1",
    "NodePorts": "ports of different protocols conflict",
    "NodeResourcesFit": "a request counts one unit more",
    "VolumeRestrictions": "ReadWriteOncePod is ignored",
    "NodeVolumeLimits": "the limit is one volume lower",
    "VolumeBinding": "the score is 0",
    "VolumeZone": "the older zone label does not stand in for the newer one",
    "PodTopologySpread": "maxSkew is one lower",
    "InterPodAffinity": "anti-affinity of pods on nodes is ignored",
    "NodeResourcesBalancedAllocation": "the pod's request counts twice",
    "ImageLocality": "the upper threshold does not grow with the images",
    "NodeDeclaredFeatures": "no feature is required",
    "DefaultPreemption": "violations of disruption budgets do not count",
}


def interleaved() -> Iterator[tuple[Scenario, Answer]]:
    """Recorded pairs, three of tier A for each of tier B."""
    judged, sequences = read_golden("A"), read_golden("B")
    for sequence in sequences:
        yield from (pair for _, pair in zip(range(3), judged, strict=False))
        yield sequence


def scenarios_until_seen(plugin: str, pairs: list[tuple[Scenario, Answer]]) -> int | None:
    """How many scenarios it takes until a plugin's mistake shows; None if it does not."""
    _core.set_mutation(plugin)
    try:
        for number, (scenario, recorded) in enumerate(pairs, 1):
            if compare(recorded, podium_answer(scenario)):
                return number
        return None
    finally:
        _core.set_mutation("")


@click.command()
def main() -> None:
    """Make every mistake, and say after how many scenarios it is seen."""
    if not hasattr(_core, "set_mutation"):
        raise click.UsageError("this extension has no mutations: build it with --features mutations")
    pairs = list(interleaved())[:WITHIN]
    found = {plugin: scenarios_until_seen(plugin, pairs) for plugin in MISTAKES}
    for plugin, number in found.items():
        click.echo(f"{plugin}: {MISTAKES[plugin]}: " + (f"seen after {number}" if number else "NOT SEEN"))
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    FOUND.write_bytes(msgspec.json.encode(found))
    sys.exit(0 if all(found.values()) else 1)


if __name__ == "__main__":
    main()
