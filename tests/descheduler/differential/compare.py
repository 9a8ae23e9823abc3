"""Compares both answers, and says of a difference whether it is one that is explained."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.descheduler.differential.ours import Entry
from tests.descheduler.differential.scenario import Scenario

Answer = dict[str, Any]


def entries(outcome: Answer) -> list[Entry]:
    """Return the evictions of an outcome, each pod once: upstream may evict one again while it leaves."""
    seen: dict[str, Entry] = {}
    for item in outcome["evictions"] or ():
        seen.setdefault(item["pod"], (item["pod"], item["node"], item["plugin"], item["profile"]))
    return list(seen.values())


def shape(found: Iterable[Entry]) -> Counter[tuple[str, str, str]]:
    """Return how many pods of a namespace a plugin evicted from a node."""
    return Counter((pod.partition("/")[0], plugin, node) for pod, node, plugin, _ in found)


@dataclass(frozen=True)
class Verdict:
    """``same`` is the exact pods, ``alike`` as many per namespace, plugin and node."""

    alike: bool
    same: bool
    unanimous: bool
    text: str = field(default="", compare=False)
    plugins: frozenset[str] = frozenset()
    """Those that evicted something here."""


def compare(scenario: Scenario, theirs: Answer, mine: tuple[list[Entry], list[str]] | str) -> Verdict:
    """Compare an answer with all outcomes that were seen."""
    refused = theirs.get("refused", "")
    if isinstance(mine, str) or refused:
        equal = mine == refused
        return Verdict(equal, equal, unanimous=True, text=f"refusal: {mine!r} against {refused!r}")
    outcomes = theirs["outcomes"]
    found, errors = mine
    same = any(_equal(outcome, found, errors) for outcome in outcomes)
    alike = any(
        shape(entries(outcome)) == shape(found) and sorted(outcome["errors"]) == errors
        for outcome in outcomes
    )
    exact = {frozenset(entries(outcome)) for outcome in outcomes}
    plugins = frozenset(plugin for _, _, plugin, _ in found)
    return Verdict(alike, same, len(exact) == 1, _describe(scenario, outcomes, found, errors), plugins)


def _equal(outcome: Answer, found: Sequence[Entry], errors: list[str]) -> bool:
    return set(entries(outcome)) == set(found) and sorted(outcome["errors"]) == errors


def _describe(scenario: Scenario, outcomes: list[Answer], found: list[Entry], errors: list[str]) -> str:
    lines = [f"seed {scenario.seed}, {len(outcomes)} outcomes"]
    for outcome in outcomes[:2]:
        there = set(entries(outcome))
        lines.append(
            f"  only upstream: {sorted(there - set(found))}, only here: {sorted(set(found) - there)}"
        )
        if sorted(outcome["errors"]) != errors:
            lines.append(f"  errors: {outcome['errors']} against {errors}")
    return "\n".join(lines)
