"""Show that the parity suite can fail: ``python -m tests.parity.mutations`` (``make mutations``).

Needs an extension with the cargo feature ``mutations``, where every plugin can be told to make one mistake,
and every rule by which the engine drops what it remembers can be broken. Recorded answers are compared with
Podium's until one differs, or, for a rule, sequences on the engine that remembers with those on one that does
not. Prints a line for each, and writes them to ``build/parity/mutations.json`` for the report. Exit status 1
if a mistake goes unseen for too long.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

import click
import msgspec
from podium import _core

from tests.parity.answer import Sequence, podium_answer
from tests.parity.compare import compare
from tests.parity.engines import as_upstream, disagreements, said
from tests.parity.generator.scenarios import seeded
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


#: Rule by which what is remembered of a class goes or is brought up to date → how it is broken.
RULES = {
    "change: Placed": "pods that come to a node are not noted",
    "change: Removed": "pods that leave a node are not noted",
    "change: Node": "changes of nodes are not noted",
    "change: Storage": "changes of volumes, claims, classes and of what drivers say of nodes are not noted",
    "change: World": "changes of Services, owners and namespaces are not noted",
    "nominations": "nominations do not end what is remembered of failures",
    "failures: snapshot": "what is remembered of a failure outlives changes of nodes and pods",
    "failures: priority": "what is remembered of a failure holds for pods of another priority",
    "failures: rows": "what nominated pods make of a node outlives changes of the node",
    "failures: standing": "what a node said to a pod that found no place outlives changes of the node",
    "key epoch": "classes are not made anew when a new selector can tell pods apart",
    "follow: InterPodAffinity filter": "its filter does not count pods that come and go",
    "follow: InterPodAffinity score": "its score does not count pods that come and go",
    "follow: PodTopologySpread filter": "its filter does not count pods that come and go",
    "follow: PodTopologySpread score": "its score does not count pods that come and go",
    "feasible: PodTopologySpread": "its score does not notice that other nodes are feasible",
    "wakes: InterPodAffinity": "it stays skipped when a pod comes that concerns it",
    "wakes with node: InterPodAffinity": "it stays skipped when a node gets the key of a term",
}

#: The same for what upstream's cache remembers, which only choosing as upstream shows.
UPSTREAM_RULES = {
    "frozen images": "image counts are fresh on nodes that have not changed",
    "node order": "a node that is back before the next cycle goes to the end of its zone",
}


def interleaved() -> Iterator[tuple[Scenario, Answer]]:
    """Recorded pairs, three of tier A for each of tier B."""
    judged, sequences = read_golden("A"), read_golden("B")
    for sequence in sequences:
        yield from (pair for _, pair in zip(range(3), judged, strict=False))
        yield sequence


def drawn() -> Iterator[Scenario]:
    """Sequences: the recorded ones, then others."""
    yield from (scenario for scenario, _ in read_golden("B"))
    yield from (seeded("B", number) for number in count(650_001))


def scenarios_until_seen(name: str, differs: Iterator[Callable[[], bool]]) -> int | None:
    """How many scenarios it takes until a mistake shows; None if it does not."""
    for number, ask in enumerate(islice(differs, WITHIN), 1):
        _core.set_mutation(name)
        try:
            if ask():
                return number
        except Exception:  # noqa: BLE001  an error shows it too
            return number
        except BaseException as panic:  # a panic of the core is no Exception
            if isinstance(panic, (KeyboardInterrupt, SystemExit)):
                raise
            return number
        finally:
            _core.set_mutation("")
    return None


def by_recordings() -> Iterator[Callable[[], bool]]:
    """Ask whether Podium's answers differ from kube-scheduler's."""
    for scenario, recorded in interleaved():
        yield lambda s=scenario, r=recorded: bool(compare(r, podium_answer(s)))  # type: ignore[misc]


def by_memory() -> Iterator[Callable[[], bool]]:
    """Ask whether it makes a difference that results are remembered."""
    for seed, scenario in enumerate(drawn()):
        yield lambda s=scenario, n=seed: bool(disagreements(s, n, ["one by one"]))  # type: ignore[misc]


def by_cache() -> Iterator[Callable[[], bool]]:
    """Ask whether sequences with what upstream's cache makes of changed nodes go on as recorded."""
    for scenario, recorded in read_golden("B"):
        expected = said(recorded["steps"])
        yield lambda s=scenario, e=expected: said(as_upstream(Sequence, s)) != e  # type: ignore[misc]


@click.command()
def main() -> None:
    """Make every mistake, and say after how many scenarios it is seen."""
    if not hasattr(_core, "set_mutation"):
        raise click.UsageError("this extension has no mutations: build it with --features mutations")
    tables = ((MISTAKES, by_recordings), (RULES, by_memory), (UPSTREAM_RULES, by_cache))
    found = {}
    for mistakes, differences in tables:
        for name, mistake in mistakes.items():
            found[name] = scenarios_until_seen(name, differences())
            seen = f"seen after {found[name]}" if found[name] else "NOT SEEN"
            click.echo(f"{name}: {mistake}: {seen}")
    FOUND.parent.mkdir(parents=True, exist_ok=True)
    FOUND.write_bytes(msgspec.json.encode(found))
    sys.exit(0 if all(found.values()) else 1)


if __name__ == "__main__":
    main()
