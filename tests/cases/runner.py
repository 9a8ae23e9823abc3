"""The bank of real-world cases, asked through ``podium explain`` and ``podium simulate``.

The bank's README has the schema of its answers. Every field that says something about the answer is compared;
``why``, ``authority``, ``assumes`` and notes are for people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.command import ask

BANK = Path(__file__).parents[2].parent / "shared" / "cases"

STRICT = """\
apiVersion: podium.dev/v1alpha1
kind: PodiumConfiguration
strict: true
"""


@dataclass(frozen=True)
class Case:
    folder: Path
    expected: Mapping[str, Any]

    @property
    def files(self) -> list[str]:
        return ["-f", str(self.folder / "cluster.yaml"), "-f", str(self.folder / "pending.yaml")]

    @property
    def sequential(self) -> bool:
        return self.expected["mode"] == "sequential"

    @property
    def contested(self) -> list[Mapping[str, Any]]:
        return [pod for pod in self.expected["pods"] if pod.get("contested")]


def cases() -> list[Case]:
    """Every case of the bank; empty where the bank is absent."""
    found = sorted(BANK.glob("*/expected.yaml"))
    return [Case(path.parent, yaml.safe_load(path.read_text())) for path in found]


def differences(case: Case, config: Path | None = None) -> list[str]:
    """What the answers have other than the case; with ``config`` (strict) the documented answers count."""
    extra = [] if config is None else ["--config", config]
    if case.sequential:
        return list(_sequence(case, ask("simulate", *case.files, *extra, "--attempts", "first")))
    answer = ask("explain", *case.files, *extra)
    judged = {pod["pod"]: pod for pod in answer["pods"]}
    rejected = {note["object"].removeprefix("Pod "): note["message"] for note in answer["rejected"]}
    warned = {note["object"].removeprefix("Pod ") for note in answer["warnings"]}
    found: list[str] = []
    for wanted in case.expected["pods"]:
        name = wanted["pod"]
        if "rejected" in wanted or "rejected_by_default" in wanted:
            found += _rejection(name, wanted, rejected, judged)
        else:
            documented = config is not None
            found += _judgement(name, _agreed(wanted, documented=documented), judged.get(name))
            contested = bool(wanted.get("contested")) and not documented
            if contested != (name in warned):
                found.append(f"{name}: warned {name in warned}, contested {contested}")
        found += _unjudged(case, wanted)
        found += _gated(case, wanted)
    return found


def _agreed(wanted: Mapping[str, Any], *, documented: bool) -> Mapping[str, Any]:
    """The answer that is right: upstream's where the two part, unless the documented one was asked for."""
    upstream = next((value for key, value in wanted.items() if key.startswith("upstream_v")), None)
    if documented or upstream is None:
        return wanted
    return {"pod": wanted["pod"], **upstream}


def _rejection(
    name: str, wanted: Mapping[str, Any], rejected: Mapping[str, str], judged: Mapping[str, Any]
) -> Iterator[str]:
    text = wanted.get("rejected") or wanted["rejected_by_default"]
    if name not in rejected:
        yield f"{name}: not rejected, expected {text!r}"
    elif text is not True and text not in rejected[name]:
        yield f"{name}: rejected with {rejected[name]!r}, expected {text!r}"
    if name in judged:
        yield f"{name}: judged although it is to be rejected"


def _judgement(name: str, wanted: Mapping[str, Any], judged: Mapping[str, Any] | None) -> Iterator[str]:
    if judged is None:
        yield f"{name}: not judged"
        return
    texts = [judged["message"], *(reason for why in judged["nodes"].values() for reason in why["reasons"])]
    if wanted.get("scheduled") is False:
        if judged["state"] not in {"gated", "foreign"} or judged["feasible"]:
            yield f"{name}: {judged['state']} on {judged['feasible']}, expected not to be attempted"
        return
    if "feasible" in wanted and sorted(judged["feasible"]) != sorted(wanted["feasible"]):
        yield f"{name}: feasible {sorted(judged['feasible'])}, expected {wanted['feasible']}: {texts[0]}"
    if "node" in wanted and wanted["node"] != judged["nominated"] and judged["feasible"] != [wanted["node"]]:
        yield f"{name}: would go to {judged['nominated'] or judged['feasible']}, expected {wanted['node']}"
    if "reason" in wanted and not any(wanted["reason"] in text for text in texts):
        yield f"{name}: no {wanted['reason']!r} in {texts}"
    for node, reason in (wanted.get("node_reasons") or {}).items():
        why = judged["nodes"].get(node)
        if why is None or not any(reason in text for text in why["reasons"]):
            yield f"{name}: {node}: {why}, expected {reason!r}"
    for field, default in (("nominated", None), ("victims", [])):
        if judged[field] != (wanted.get(field) or default):
            yield f"{name}: {field} {judged[field]}, expected {wanted.get(field)}"


def _unjudged(case: Case, wanted: Mapping[str, Any]) -> Iterator[str]:
    """A pod that is refused, loaded all the same: ``feasible`` beside ``rejected_by_default``."""
    if "rejected_by_default" not in wanted or "feasible" not in wanted:
        return
    answer = ask("explain", *case.files, "--validate=off")
    judged = {pod["pod"]: pod for pod in answer["pods"]}
    bare = {key: value for key, value in wanted.items() if key in {"pod", "feasible", "node"}}
    yield from _judgement(wanted["pod"], bare, judged.get(wanted["pod"]))


def _gated(case: Case, wanted: Mapping[str, Any]) -> Iterator[str]:
    for gate, answers in (wanted.get("with_gate") or {}).items():
        answer = ask("explain", *case.files, f"--feature-gates={gate}=true")
        judged = {pod["pod"]: pod for pod in answer["pods"]}
        rejected = {note["object"].removeprefix("Pod "): note["message"] for note in answer["rejected"]}
        if "rejected" in answers:
            yield from _rejection(wanted["pod"], answers, rejected, judged)
        else:
            yield from _judgement(wanted["pod"], {"pod": wanted["pod"], **answers}, judged.get(wanted["pod"]))


def _sequence(case: Case, answer: Mapping[str, Any]) -> Iterator[str]:
    first = {attempt["pod"]: attempt for attempt in answer["attempts"] if attempt["pod"]}
    bound = {placement["pod"]: placement["node"] for placement in answer["placements"]}
    evicted = {(eviction["pod"], eviction["by"]) for eviction in answer["evicted"]}
    for wanted in case.expected["pods"]:
        name, attempt = wanted["pod"], first.get(wanted["pod"])
        if attempt is None:
            yield f"{name}: never attempted"
            continue
        if sorted(attempt["feasible"]) != sorted(wanted["feasible"]):
            yield f"{name}: feasible {attempt['feasible']}, expected {wanted['feasible']}"
        if attempt["turn"] != wanted["order"]:
            yield f"{name}: turn {attempt['turn']}, expected {wanted['order']}"
        if "node" in wanted and bound.get(name) != wanted["node"]:
            yield f"{name}: on {bound.get(name)}, expected {wanted['node']}"
        if wanted.get("reason", "") not in attempt["message"]:
            yield f"{name}: {attempt['message']!r}, expected {wanted['reason']!r}"
        if attempt["nominated"] != wanted.get("nominated"):
            yield f"{name}: nominated to {attempt['nominated']}, expected {wanted.get('nominated')}"
        if attempt["victims"] != (wanted.get("victims") or []):
            yield f"{name}: victims {attempt['victims']}, expected {wanted.get('victims')}"
        for victim in wanted.get("victims") or []:
            if (victim, name) not in evicted:
                yield f"{name}: {victim} is not among the evicted"
