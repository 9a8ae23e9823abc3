"""Where two answers to one scenario differ: the oracle's, and Podium's in the same shape (README.md).

Everything is compared exactly but for what upstream itself leaves open: the order of a status's reasons, and
in tier A which of several equal preemption candidates is nominated. An aborted cycle need only be aborted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.parity.process import Answer

Entry = dict[str, Any]
ABSENT = "absent"


@dataclass(frozen=True)
class Mismatch:
    """One difference: the path to it, and both values."""

    path: str
    expected: Any
    actual: Any

    @property
    def kind(self) -> str:
        """The path without the names in it: what a smaller scenario must differ in to be an example of it."""
        parts = self.path.partition(" ")[2].partition(".")[2].split(".")
        if parts[0] in {"filter", "status", "scores"} and len(parts) > 2:
            parts = [parts[0], parts[-1]] if parts[0] == "status" else [parts[0], *parts[2:]]
        return ".".join(parts).partition(" [")[0] or self.path

    def __str__(self) -> str:
        return f"{self.path}: kube-scheduler {self.expected!r}, Podium {self.actual!r}"


def compare(expected: Answer, actual: Answer) -> list[Mismatch]:
    """List the differences between the oracle's answer and another."""
    if expected["tier"] == "A":
        found = _exact("snapshot", expected["snapshot"], actual.get("snapshot", ABSENT))
        return [*found, *_entries("pods", expected["pods"], actual.get("pods", []), _judgement)]
    return list(_entries("steps", expected["steps"], actual.get("steps", []), _step))


Comparison = Callable[[str, Entry, Entry], Iterator[Mismatch]]


def _entries(name: str, expected: list[Any], actual: list[Any], comparison: Comparison) -> Iterator[Mismatch]:
    if len(expected) != len(actual):
        yield Mismatch(f"{name}.length", len(expected), len(actual))
    for number, (want, got) in enumerate(zip(expected, actual, strict=False)):
        if want is None or got is None:
            yield from _exact(f"{name}[{number}]", want, got)
            continue
        path = f"{name}[{number}] {want['pod']}"
        yield from _exact(f"{path}.pod", want["pod"], got.get("pod"))
        yield from comparison(path, want, got)


def _judgement(path: str, expected: Entry, actual: Entry) -> Iterator[Mismatch]:
    yield from _exact(f"{path}.result", expected["result"], actual.get("result"))
    if expected["result"] == "error":
        return
    actual = _as_nominated(expected, actual)
    yield from _fields(path, expected, actual, ("feasible", "evaluated", "winner", "message"))
    for field in ("preFilter", "status"):
        yield from _statuses(f"{path}.{field}", expected.get(field, {}), actual.get(field, {}))
    yield from _status(
        f"{path}.preFilterResult", expected.get("preFilterResult"), actual.get("preFilterResult")
    )
    yield from _filters(f"{path}.filter", expected.get("filter", {}), actual.get("filter", {}))
    yield from _scores(f"{path}.scores", expected.get("scores", {}), actual.get("scores", {}))
    yield from _preemption(path, expected, actual)


def _step(path: str, expected: Entry, actual: Entry) -> Iterator[Mismatch]:
    yield from _exact(f"{path}.result", expected["result"], actual.get("result"))
    if expected["result"] == "error":
        return
    yield from _fields(path, expected, actual, ("node", "evaluated", "feasible", "message"))
    yield from _preemption(path, expected, actual)


def _fields(path: str, expected: Entry, actual: Entry, names: tuple[str, ...]) -> Iterator[Mismatch]:
    for name in names:
        yield from _exact(f"{path}.{name}", expected.get(name, ABSENT), actual.get(name, ABSENT))


def _exact(path: str, expected: Any, actual: Any) -> Iterator[Mismatch]:
    if expected != actual:
        yield Mismatch(path, expected, actual)


def _statuses(path: str, expected: Entry, actual: Entry) -> Iterator[Mismatch]:
    for key in sorted({*expected, *actual}):
        yield from _status(f"{path}.{key}", expected.get(key), actual.get(key))


def _status(path: str, expected: Entry | None, actual: Entry | None) -> Iterator[Mismatch]:
    if expected is None or actual is None:
        yield from _exact(path, expected, actual)
        return
    for name in ("plugin", "code", "nodes"):
        yield from _exact(f"{path}.{name}", expected.get(name), actual.get(name))
    want, got = expected.get("reasons", []), actual.get("reasons", [])
    if Counter(want) != Counter(got):
        yield Mismatch(f"{path}.reasons", want, got)


def _filters(path: str, expected: Entry, actual: Entry) -> Iterator[Mismatch]:
    for node in sorted({*expected, *actual}):
        yield from _statuses(f"{path}.{node}", expected.get(node, {}), actual.get(node, {}))


def _scores(path: str, expected: Entry, actual: Entry) -> Iterator[Mismatch]:
    yield from _exact(f"{path}.nodes", sorted(expected), sorted(actual))
    for node in sorted({*expected} & {*actual}):
        want, got = expected[node], actual[node]
        yield from _exact(f"{path}.{node}.total", want["total"], got.get("total"))
        wanted, given = want["plugins"], got.get("plugins", {})
        for plugin in sorted({*wanted, *given}):
            scores = [list(side.get(plugin, ())) or ABSENT for side in (wanted, given)]
            yield from _exact(f"{path}.{node}.{plugin} [raw, normalized, weighted]", *scores)


def _preemption(path: str, expected: Entry, actual: Entry) -> Iterator[Mismatch]:
    yield from _fields(path, expected, actual, ("nominating", "nominated", "victims"))
    if "candidates" in actual:
        yield from _exact(f"{path}.candidates", expected.get("candidates", {}), actual["candidates"])


def _as_nominated(expected: Entry, actual: Entry) -> Entry:
    """Another of the best candidates, with its own victims, counts as the one the oracle nominated."""
    chosen = actual.get("nominated")
    if chosen == expected.get("nominated") or chosen not in expected.get("best", []):
        return actual
    if actual.get("victims", []) != expected["candidates"][chosen]["victims"]:
        return actual
    text = actual.get("message", "").replace(f"on node {chosen}, ", f"on node {expected['nominated']}, ")
    return actual | {"nominated": expected["nominated"], "victims": expected["victims"], "message": text}
