"""Where the randomness comes from: a seed for bulk runs, hypothesis for shrinking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Chooser(Protocol):
    """A source of choices. Earlier options and smaller numbers are simpler: hypothesis shrinks to them."""

    def integer(self, low: int, high: int) -> int:
        """Choose a whole number, both ends included."""

    def pick(self, options: Sequence[T]) -> T:
        """Choose one of the options."""


class SeededChooser:
    """Choices from a seed: fast, reproducible, not shrinkable."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(seed).random

    def integer(self, low: int, high: int) -> int:
        return low + int(self._random() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]


class DrawnChooser:
    """Choices drawn by hypothesis, which shrinks them towards the simplest failing scenario."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return int(self._draw(st.integers(low, high)))

    def pick(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]


def chance(c: Chooser, percent: int) -> bool:
    """Whether something with this probability happens; it shrinks to not happening."""
    return c.integer(0, 99) >= 100 - percent


def subset(c: Chooser, options: Sequence[T], most: int) -> list[T]:
    """Between none and ``most`` different options, in a random order."""
    left = list(options)
    return [left.pop(c.integer(0, len(left) - 1)) for _ in range(c.integer(0, min(most, len(left))))]


def some(c: Chooser, options: Sequence[T], most: int) -> list[T]:
    """Like ``subset``, but at least one."""
    left = list(options)
    return [left.pop(c.integer(0, len(left) - 1)) for _ in range(c.integer(1, min(most, len(left))))]
