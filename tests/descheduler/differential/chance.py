"""Random choices from a seed."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice(Random):
    """``Random`` with the few questions that the generator asks."""

    def percent(self, chance: int) -> bool:
        return self.random() * 100 < chance

    def pick(self, options: Sequence[T]) -> T:
        return self.choice(options)

    def some(self, options: Sequence[T], most: int, least: int = 0) -> list[T]:
        return self.sample(list(options), self.randint(least, min(most, len(options))))
