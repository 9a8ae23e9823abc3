"""The checker's constraints against the case bank, whose answers come from the real scheduler."""

from pathlib import Path

import pytest
import yaml

from tests.checker import feasible

CASES = Path(__file__).parents[2].parent / "shared" / "cases"


def documents(path: Path) -> list[dict]:
    return [d for d in yaml.load_all(path.read_text(), yaml.CSafeLoader) if d]


def questions() -> list:
    if not CASES.is_dir():
        return [pytest.param(None, None, marks=pytest.mark.skip(reason="../shared/cases is not here"))]
    found = []
    for folder in sorted(CASES.iterdir()):
        if (folder / "expected.yaml").exists():
            expected = documents(folder / "expected.yaml")[0]
            judged = [p for p in expected["pods"] if "feasible" in p and expected["mode"] == "independent"]
            found += [pytest.param(folder, p, id=f"{folder.name}:{p['pod']}") for p in judged]
    return found


@pytest.mark.parametrize(("folder", "expected"), questions())
def test_feasible_nodes_are_those_of_the_case(folder: Path, expected: dict) -> None:
    objects = documents(folder / "cluster.yaml") + documents(folder / "pending.yaml")
    objects = _with_nominations(objects, expected["pod"])
    answer = feasible(objects, expected["pod"])
    fits = sorted(node for node, objections in answer.items() if not objections)
    accepted = [sorted(expected["feasible"])]
    accepted += [
        sorted(v["feasible"]) for k, v in expected.items() if k.startswith("upstream_v") and "feasible" in v
    ]
    assert fits in accepted, {node: [o.text for o in found] for node, found in answer.items() if found}


def _with_nominations(objects: list[dict], asked: str) -> list[dict]:
    """Other pending pods that are nominated hold their node against pods of no higher priority."""
    for o in objects:
        nominated = (o.get("status") or {}).get("nominatedNodeName") if o["kind"] == "Pod" else None
        if nominated and f"{o['metadata'].get('namespace', 'default')}/{o['metadata']['name']}" != asked:
            o["spec"]["nodeName"] = nominated
    return objects
