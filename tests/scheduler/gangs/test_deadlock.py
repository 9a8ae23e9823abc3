"""Jobs that fit one by one but not side by side: never a partial gang, and nobody waits where it is known."""

import random

import pytest

from tests.scheduler.gangs.plain_permit import PlainPermit
from tests.scheduler.gangs.world import World, gang, node


def interleaved(jobs, seed):
    pods = [pod for job in jobs for pod in job]
    random.Random(seed).shuffle(pods)
    return pods


@pytest.mark.parametrize("seed", range(12))
def test_two_jobs_of_four_gpus_on_four(seed):
    pods = interleaved([gang("one", 4), gang("two", 4)], seed)
    world = World(node("a", gpu="2"), node("b", gpu="2"))
    chance = random.Random(seed)
    while pods:
        world.apply(*(pods.pop() for _ in range(min(len(pods), chance.randint(1, 3)))))
        world.settle(limit=chance.choice([1, 2, None]))
        for group in world.scheduler.gangs:
            assert len(group.placed) in {0, 4}
    assert {len(world.bound("one")), len(world.bound("two"))} == {0, 4}
    assert world.now == 0


@pytest.mark.parametrize("seed", range(4))
def test_fifty_jobs_on_a_crowded_cluster(seed):
    chance = random.Random(seed)
    sizes = [chance.randint(1, 8) for _ in range(50)]
    jobs = [gang(f"j{number:02d}x", size) for number, size in enumerate(sizes)]
    world = World(*(node(f"n{number}", gpu="4") for number in range(5)))
    world.apply(*interleaved(jobs, seed)).settle()
    assert world.now == 0
    free = 20 - len(world.bound())
    for group in world.scheduler.gangs:
        assert len(group.bound) in {0, group.minimum}
        if not group.bound:
            assert group.minimum > free, "who fits in what is left has been placed"


def test_the_plain_permit_plugin_deadlocks_where_a_transaction_does_not():
    first, second = gang("one", 4), gang("two", 4)
    mixed = [pod for pair in zip(first, second, strict=True) for pod in pair]
    plain = PlainPermit(node("a", gpu="2"), node("b", gpu="2"), timeout=60)
    plain.run(mixed, seconds=59)
    assert plain.bound() == [], "each holds two and waits for the other"
    assert plain.held() == 4
    world = World(node("a", gpu="2"), node("b", gpu="2")).apply(*mixed).settle()
    assert len(world.bound()) == 4
    assert world.now == 0


def test_the_plain_permit_plugin_holds_what_an_infeasible_gang_cannot_use():
    large, small = gang("large", 5), gang("small", 2)
    plain = PlainPermit(node("a", gpu="4"), timeout=60)
    plain.run([*large, *small], seconds=30)
    assert plain.bound() == []
    world = World(node("a", gpu="4")).apply(*large, *small).settle()
    assert world.bound() == ["small-0", "small-1"]
