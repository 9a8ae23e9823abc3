from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.parity.compare import compare

# What Podium may leave out, or what identifies the answer instead of being part of it.
UNCOMPARED = {"id", "version", "tier", "best", "candidates"}

PREEMPTING: dict[str, Any] = {
    "pod": "default/high",
    "result": "unschedulable",
    "evaluated": ["NodeName", "NodeResourcesFit"],
    "preFilter": {"NodePorts": {"code": "Skip"}, "NodeAffinity": {"code": "Success", "nodes": ["n1", "n2"]}},
    "preFilterResult": {"code": "Success", "nodes": ["n1", "n2"]},
    "filter": {
        "n1": {"NodeResourcesFit": {"code": "Unschedulable", "reasons": ["Insufficient a", "Insufficient b"]}}
    },
    "status": {"n1": {"plugin": "NodeResourcesFit", "code": "Unschedulable", "reasons": ["Insufficient a"]}},
    "feasible": [],
    "message": "0/2 nodes are available: … placement for pod on node n1, preempting 1 victims",
    "nominating": "set",
    "nominated": "n1",
    "victims": ["default/a"],
    "candidates": {
        "n1": {"victims": ["default/a"], "pdbViolations": 0},
        "n2": {"victims": ["default/b"], "pdbViolations": 0},
        "n3": {"victims": ["default/c"], "pdbViolations": 1},
    },
    "best": ["n1", "n2"],
}
FEASIBLE: dict[str, Any] = {
    "pod": "default/p",
    "result": "feasible",
    "evaluated": ["NodeName"],
    "feasible": ["n1", "n2"],
    "scores": {
        "n1": {"total": 300, "plugins": {"TaintToleration": [0, 100, 300]}},
        "n2": {"total": 150, "plugins": {"TaintToleration": [1, 50, 150]}},
    },
    "winner": "n1",
}
JUDGED = {"id": "a", "tier": "A", "snapshot": ["n1", "n2"], "pods": [PREEMPTING, FEASIBLE]}
PLAYED = {
    "id": "b",
    "tier": "B",
    "steps": [
        {"pod": "default/p", "result": "scheduled", "node": "n1", "evaluated": 2, "feasible": 2},
        None,
        {
            "pod": "default/q",
            "result": "unschedulable",
            "evaluated": 2,
            "feasible": 0,
            "message": "0/2 nodes are available: 2 Insufficient cpu.",
            "nominating": "set",
            "nominated": "n1",
            "victims": ["default/p"],
            "candidates": {"n1": {"victims": ["default/p"], "pdbViolations": 0}},
            "best": ["n1"],
        },
    ],
}


def _changes(value: Any) -> Iterator[Any]:
    """Every way to change one leaf, to drop one entry, or to append one."""
    if isinstance(value, dict):
        for key in value.keys() - UNCOMPARED:
            yield {k: v for k, v in value.items() if k != key}
            for changed in _changes(value[key]):
                yield value | {key: changed}
    elif isinstance(value, list):
        if value:
            yield value[:-1]
        for number, item in enumerate(value):
            for changed in _changes(item):
                yield [*value[:number], changed, *value[number + 1 :]]
    elif isinstance(value, int):
        yield value + 1
    else:
        yield f"{value}, planted"


@pytest.mark.parametrize("answer", [JUDGED, PLAYED], ids=["A", "B"])
def test_every_planted_difference_is_found(answer: dict[str, Any]) -> None:
    planted = list(_changes(answer))
    assert len(planted) > 15
    for changed in planted:
        assert compare(answer, changed), changed
    assert compare(answer, copy.deepcopy(answer)) == []


def test_extra_nodes_and_plugins_are_found() -> None:
    actual = copy.deepcopy(JUDGED)
    actual["pods"][0]["filter"]["n2"] = {"NodePorts": {"code": "Unschedulable", "reasons": ["x"]}}
    actual["pods"][1]["scores"]["n1"]["plugins"]["ImageLocality"] = [0, 0, 0]
    paths = [mismatch.path for mismatch in compare(JUDGED, actual)]
    assert paths == [
        "pods[0] default/high.filter.n2.NodePorts",
        "pods[1] default/p.scores.n1.ImageLocality [raw, normalized, weighted]",
    ]


def test_the_order_of_reasons_is_open() -> None:
    actual = copy.deepcopy(JUDGED)
    actual["pods"][0]["filter"]["n1"]["NodeResourcesFit"]["reasons"].reverse()
    assert compare(JUDGED, actual) == []
    actual["pods"][0]["filter"]["n1"]["NodeResourcesFit"]["reasons"].append("Insufficient a")
    assert [m.path for m in compare(JUDGED, actual)] == [
        "pods[0] default/high.filter.n1.NodeResourcesFit.reasons"
    ]


@pytest.mark.parametrize(
    ("node", "victims", "same"),
    [
        ("n2", ["default/b"], True),  # equal on the five criteria
        ("n2", ["default/a"], False),  # another node's victims
        ("n3", ["default/c"], False),  # a candidate, but not among the best
    ],
)
def test_any_of_the_best_candidates_will_do(node: str, victims: list[str], *, same: bool) -> None:
    text = f"0/2 nodes are available: … placement for pod on node {node}, preempting 1 victims"
    changed = PREEMPTING | {"nominated": node, "victims": victims, "message": text}
    found = compare(JUDGED, JUDGED | {"pods": [changed, FEASIBLE]})
    assert (found == []) is same


def test_candidates_are_compared_where_both_have_them() -> None:
    changed = PREEMPTING | {"candidates": {"n1": {"victims": ["default/a"], "pdbViolations": 1}}}
    found = compare(JUDGED, JUDGED | {"pods": [changed, FEASIBLE]})
    assert [mismatch.path for mismatch in found] == ["pods[0] default/high.candidates"]


def test_of_an_aborted_cycle_only_the_abortion_counts() -> None:
    aborted = {"pod": "default/p", "result": "error", "error": "one text", "feasible": []}
    expected = JUDGED | {"pods": [aborted]}
    assert compare(expected, JUDGED | {"pods": [aborted | {"error": "another"}]}) == []
    assert compare(expected, JUDGED | {"pods": [FEASIBLE]})


def test_a_mismatch_reads_as_a_sentence() -> None:
    (found,) = compare(
        PLAYED, PLAYED | {"steps": [PLAYED["steps"][0] | {"node": "n2"}, *PLAYED["steps"][1:]]}
    )
    assert str(found) == "steps[0] default/p.node: kube-scheduler 'n1', Podium 'n2'"
