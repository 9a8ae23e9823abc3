"""Make a failing scenario small: drop whatever it fails without."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from tests.parity.process import Scenario

Fails = Callable[[Scenario], bool]
Path = tuple[str | int, ...]

# Without these a scenario or an object is another thing, or nothing; or the API server would fill them in,
# and the two sides would see different objects.
IDENTITY = {
    "id",
    "tier",
    "name",
    "namespace",
    "uid",
    "op",
    "key",
    "metadata",
    "spec",
    "containers",
    "kind",
    "apiVersion",
}
DEFAULTED = {
    "schedulerName",
    "allocatable",
    "requests",
    "protocol",
    "hostPort",
    "volumeMode",
    "volumeBindingMode",
    "startTime",  # without it kube-scheduler takes the time of day, which is not that of the sequence
}
REQUIRED = {"topologyKey", "maxSkew", "whenUnsatisfiable", "operator", "weight", "effect", "preemptionPolicy"}
KEPT = IDENTITY | DEFAULTED | REQUIRED
# Parts of these belong together: an operator has its values, a limit its request.
WHOLE = {"matchExpressions", "matchFields", "resources"}


def shrink(scenario: Scenario, fails: Fails, budget: int = 5000) -> Scenario:
    """Return a scenario that still fails and that no single part can be dropped from.

    ``fails`` is asked about ``budget`` scenarios at most, then the smallest so far is returned. It must say
    no of a scenario that cannot be played.
    """
    attempts = _Attempts(copy.deepcopy(scenario), fails, budget)
    before = None
    while attempts.left and before != attempts.scenario:
        before = copy.deepcopy(attempts.scenario)
        for key in [k for k, value in attempts.scenario.items() if isinstance(value, list)]:
            _thin_out(attempts, (key,))
        for path in list(_paths(attempts.scenario)):
            attempts.drop(path, slice(None))
    return attempts.scenario


class _Attempts:
    """The smallest failing scenario so far."""

    def __init__(self, scenario: Scenario, fails: Fails, budget: int) -> None:
        self.scenario, self._fails, self.left = scenario, fails, budget

    def drop(self, path: Path, part: slice) -> bool:
        """Drop what is at the path, or a slice of the list there, if the rest fails too."""
        if not self.left:
            return False
        smaller = copy.deepcopy(self.scenario)
        try:
            parent = _at(smaller, path[:-1])
            if part == slice(None):
                del parent[path[-1]]
            else:
                del parent[path[-1]][part]
        except (KeyError, IndexError, TypeError):
            return False  # an earlier drop took it along
        self.left -= 1
        if not self._fails(smaller):
            return False
        self.scenario = smaller
        return True


def _thin_out(attempts: _Attempts, path: Path) -> None:
    """Drop runs of a list's items, long ones first."""
    size = len(_at(attempts.scenario, path))
    while size:
        start = 0
        while start < len(_at(attempts.scenario, path)):
            if not attempts.drop(path, slice(start, start + size)):
                start += size
        size //= 2


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Paths of all parts that may go; last items of a list first, so that dropping one moves none to come."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in KEPT:
                yield (*path, key)
            if key not in WHOLE:
                yield from _paths(item, (*path, key))
            elif isinstance(item, list):
                yield from ((*path, key, number) for number in reversed(range(len(item))))
    elif isinstance(value, list):
        for number in reversed(range(len(value))):
            yield (*path, number)
            yield from _paths(value[number], (*path, number))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
