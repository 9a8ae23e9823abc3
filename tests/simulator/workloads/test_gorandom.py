"""The generator against numbers printed by Go 1.26."""

import pytest
from podium.simulator.workloads.gorandom import GoRandom


def test_the_numbers_of_rand_new_source_1() -> None:
    numbers = GoRandom(1)
    assert [numbers.intn(100) for _ in range(10)] == [81, 87, 47, 59, 81, 18, 25, 40, 56, 0]


def test_far_into_the_sequence() -> None:
    numbers = GoRandom(1)
    pairs = [(numbers.intn(2000), numbers.intn(8000)) for _ in range(20_000)]
    assert pairs[:2] == [(81, 7887), (1847, 59)]
    assert pairs[-2:] == [(600, 275), (932, 167)]


@pytest.mark.parametrize(
    ("seed", "expected"),
    [(-7, (9970479060831305739, 16308104968817794534))],
)
def test_other_seeds(seed: int, expected: tuple[int, int]) -> None:
    numbers = GoRandom(seed)
    assert (numbers.uint64(), numbers.uint64()) == expected
    assert numbers.intn(1024) == 82
