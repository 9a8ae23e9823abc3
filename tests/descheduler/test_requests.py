"""Sums of requests are exact, whichever way they are added."""

import pytest
from podium._core import Quantity
from podium.descheduler.world import World
from podium.testing import make_node, make_pod


@pytest.mark.parametrize(
    "amounts",
    [
        ["100m", "250m", "1"],
        ["0.5m", "100m", "2.5m"],
        ["1.5", "1e-1", "900"],
        ["100m", "9E", "9E"],
    ],
)
def test_sums(amounts):
    pods = [make_pod(f"p{i}").node("n").request(cpu=cpu).build() for i, cpu in enumerate(amounts * 3)]
    world = World([make_node("n").capacity(cpu="8").build(), *pods], 0)
    expected = Quantity("0")
    for cpu in amounts * 3:
        expected = expected + Quantity(cpu)
    assert world.used("cpu")["n"] == expected
    assert world.used("memory")["n"] == Quantity("0")
    assert world.requested("n", ["pods"]) == {"pods": Quantity(len(pods))}
    assert world.requested("elsewhere", ["cpu"]) == {"cpu": Quantity("0")}
