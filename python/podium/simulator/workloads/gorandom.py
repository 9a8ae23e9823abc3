"""The numbers of Go's ``math/rand``, to make the very pods that a Go program makes.

The generator is the additive lagged Fibonacci x[n] = x[n-607] + x[n-273] mod 2**64 (Mitchell and Reeds). Go
starts it from a table of 607 values, the state after 7.8e12 steps from a fixed seed. The recurrence is
linear, so that state is reached here in 43 squarings of a polynomial instead of being copied.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

LENGTH, TAP = 607, 273
STEPS = 7_800_000_000_000
INT31 = 2**31 - 1
MASK64 = 2**64 - 1

Words = NDArray[np.uint64]


class GoRandom:
    """``rand.New(rand.NewSource(seed))`` of Go, as far as workloads need it."""

    def __init__(self, seed: int) -> None:
        state = [word ^ cooked for word, cooked in zip(_seed_words(seed, 40, 20), _cooked(), strict=True)]
        self._words = state
        self._feed = LENGTH - TAP

    def uint64(self) -> int:
        """Return 64 random bits."""
        self._feed = (self._feed - 1) % LENGTH
        tap = (self._feed + TAP) % LENGTH
        word = (self._words[self._feed] + self._words[tap]) & MASK64
        self._words[self._feed] = word
        return word

    def intn(self, n: int) -> int:
        """Return a number in [0, n), n at most 2**31 - 1; 31 bits that would favour some are drawn again."""
        if n & (n - 1) == 0:
            return self._int31() & (n - 1)
        largest = INT31 - 2**31 % n
        value = self._int31()
        while value > largest:
            value = self._int31()
        return value % n

    def _int31(self) -> int:
        return (self.uint64() & (2**63 - 1)) >> 32


def _seed_words(seed: int, *shifts: int) -> list[int]:
    """Return 607 words, each from three numbers of the Lehmer generator 48271 * x mod 2**31 - 1."""
    numbers = _lehmer(seed)
    for _ in range(20):
        next(numbers)
    high, middle = shifts
    return [next(numbers) << high ^ next(numbers) << middle ^ next(numbers) for _ in range(LENGTH)]


def _lehmer(seed: int) -> Iterator[int]:
    x = seed % INT31 or 89482311
    while True:
        x = 48271 * x % INT31
        yield x


@cache
def _cooked() -> tuple[int, ...]:
    """Return Go's table: the ring of words after STEPS steps from seed 1."""
    ring = np.array(_seed_words(1, 20, 10), dtype=np.uint64)
    # Position 333 + k of the ring holds the value of k steps ago.
    ago = (LENGTH - TAP - 1 + np.arange(LENGTH, 0, -1)) % LENGTH
    values = list(ring[ago])
    while len(values) < 2 * LENGTH:
        values.append(values[-LENGTH] + values[-TAP])
    weights, known = _power_of_z(STEPS), np.array(values, dtype=np.uint64)
    ahead = [np.sum(weights * known[k : k + LENGTH], dtype=np.uint64) for k in range(LENGTH)]
    ring[(ago - STEPS) % LENGTH] = ahead
    return tuple(int(word) for word in ring)


def _power_of_z(exponent: int) -> Words:
    """Return the coefficients of z**exponent modulo z**607 - z**334 - 1: what values 0..606 add to it."""
    power = np.zeros(LENGTH, dtype=np.uint64)
    power[0] = 1
    for bit in f"{exponent:b}":
        power = _reduce(np.convolve(power, power))
        if bit == "1":
            power = _reduce(np.concatenate(([np.uint64(0)], power)))
    return power


def _reduce(polynomial: Words) -> Words:
    """Replace z**d by z**(d-273) + z**(d-607), from the top, in blocks that do not feed themselves."""
    top = len(polynomial)
    while top > LENGTH:
        low = max(LENGTH, top - TAP)
        block = polynomial[low:top]
        polynomial[low - TAP : top - TAP] += block
        polynomial[low - LENGTH : top - LENGTH] += block
        top = low
    return polynomial[:LENGTH]
