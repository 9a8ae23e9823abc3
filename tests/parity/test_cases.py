"""The bank of real-world cases, answered by the oracle. Where they disagree the case is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.parity.process import Answer, Oracle, Scenario

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/expected.yaml"))

if not FOLDERS:
    pytest.skip("../shared/cases is absent", allow_module_level=True)

# Pods of which the oracle says something else than the case, and why the case is wrong.
DISAGREEMENTS: dict[str, str] = {}


def _load(path: Path) -> Any:
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def _documents(path: Path) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = []
    for document in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader):
        if not document:
            continue
        kind = document.get("kind", "")
        if "items" not in document or not kind.endswith("List"):
            documents.append(document)
            continue
        typed = {"apiVersion": document["apiVersion"], "kind": kind.removesuffix("List")}
        typed = {} if kind == "List" else typed
        documents += [typed | item for item in document["items"]]
    return documents


def _scenario(oracle: Oracle, folder: Path) -> tuple[Scenario, dict[str, str]]:
    manifests = {
        "cluster": _documents(folder / "cluster.yaml"),
        "pending": _documents(folder / "pending.yaml"),
    }
    loaded = oracle.answer({"id": folder.name, "manifests": manifests})
    rejected = {entry["object"].partition(" ")[2]: entry["message"] for entry in loaded.get("rejected", [])}
    return loaded["scenario"], rejected


def _in_queue_order(scenario: Scenario, limit: int = 8) -> Scenario:
    """Tier B: everything once by priority, then victims leave and what is left is retried."""
    pods = sorted(scenario.pop("pending"), key=lambda pod: -pod["spec"].get("priority", 0))
    retries = [{"op": "retry", "key": f"{p['metadata']['namespace']}/{p['metadata']['name']}"} for p in pods]
    steps = [{"op": "schedule", "pod": pod} for pod in pods]
    for _ in range(limit):
        steps += [{"op": "settle"}, *retries]
    return scenario | {"tier": "B", "steps": steps}


def _judgements(answer: Answer) -> dict[str, dict[str, Any]]:
    """What became of each pod; in a sequence node of the last attempt, text and victims of the first."""
    if answer["tier"] == "A":
        return {pod["pod"]: pod for pod in answer["pods"]}
    found: dict[str, dict[str, Any]] = {}
    for step in filter(None, answer["steps"]):
        entry = found.setdefault(step["pod"], {"message": step.get("message", ""), "feasible": None})
        entry["node"] = step.get("node")
        if step.get("victims"):
            entry.setdefault("nominated", step["nominated"])
            entry.setdefault("victims", step["victims"])
    return found


def _differences(want: dict[str, Any], got: dict[str, Any] | None, rejected: dict[str, str]) -> list[str]:
    pod = want["pod"]
    refusal = want.get("rejected") or want.get("rejected_by_default")
    if refusal:
        if pod not in rejected:
            return ["the API server takes it"]
        missing = isinstance(refusal, str) and refusal not in rejected[pod]
        return [f"refused with {rejected[pod]!r}, not {refusal!r}"] if missing else []
    if got is None:
        return [f"refused: {rejected.get(pod, 'not in the answer')}"]
    if want.get("scheduled") is False:
        return [] if got["result"] in {"gated", "foreign", "deleting"} else [f"attempted: {got['result']}"]
    return [*_wrong_nodes(want, got), *_wrong_texts(want, got), *_wrong_preemption(want, got)]


def _as_upstream(want: dict[str, Any]) -> dict[str, Any]:
    """Where the documented answer is contested the case also has what the code does: the oracle's side."""
    upstream = next((want[key] for key in want if key.startswith("upstream_v")), None)
    if upstream is None:
        return want
    return {key: value for key, value in want.items() if key not in {"reason", "node"}} | upstream


def _wrong_nodes(want: dict[str, Any], got: dict[str, Any]) -> list[str]:
    wrong = []
    if got["feasible"] is not None and "feasible" in want and sorted(got["feasible"]) != want["feasible"]:
        wrong.append(f"feasible {sorted(got['feasible'])}, the case says {want['feasible']}")
    node = got.get("node") or got.get("winner") or got.get("nominated")
    if want.get("node") and node != want["node"]:
        wrong.append(f"node {node}, the case says {want['node']}")
    return wrong


def _wrong_texts(want: dict[str, Any], got: dict[str, Any]) -> list[str]:
    statuses = got.get("status") or {}
    text = got.get("message", "") + "".join(", ".join(s.get("reasons", [])) for s in statuses.values())
    wrong = []
    if want.get("reason") and want["reason"] not in text:
        wrong.append(f"{want['reason']!r} is not in {text!r}")
    for node, reason in (want.get("node_reasons") or {}).items():
        reasons = statuses.get(node, {}).get("reasons", [])
        if reason not in ", ".join(reasons):
            wrong.append(f"{node}: {reason!r} is not in {reasons}")
    return wrong


def _wrong_preemption(want: dict[str, Any], got: dict[str, Any]) -> list[str]:
    if "nominated" not in want and "victims" not in want:
        return []
    nominated, victims = got.get("nominated"), sorted(got.get("victims") or [])
    if (nominated, victims) == (want.get("nominated"), sorted(want.get("victims") or [])):
        return []
    return [f"nominated {nominated} with victims {victims}"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_oracle_and_the_case_agree(oracle: Oracle, folder: Path) -> None:
    expected = _load(folder / "expected.yaml")
    scenario, rejected = _scenario(oracle, folder)
    if expected["mode"] == "sequential":
        scenario = _in_queue_order(scenario)
    judged = _judgements(oracle.answer(scenario))
    wrong = []
    for want in expected["pods"]:
        differences = _differences(_as_upstream(want), judged.get(want["pod"]), rejected)
        known = f"{folder.name} {want['pod']}" in DISAGREEMENTS
        if known != bool(differences):
            wrong.append((want["pod"], differences or "agrees, against DISAGREEMENTS"))
    assert not wrong
