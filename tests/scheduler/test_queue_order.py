"""A queueSort plugin written in Python orders the queue."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.errors import PluginError
from podium.framework import Plugin, Status
from podium.scheduler.places import Places
from podium.testing import make_pod

from tests.scheduler.world import World, plugin

WITHOUT = ("PrioritySort", "Gang")


def ordering(less):
    return type("Order", (Plugin,), {"name": "Order", "less": lambda self, a, b: less(a, b)})


def size(queued):
    return int(queued.pod.metadata.labels["size"])


def smallest_first(a, b):
    return size(a) < size(b)


def pods(*sizes):
    return [make_pod(f"p{at}").label("size", str(n)).build() for at, n in enumerate(sizes)]


def bound(world):
    return [name for what, name, _ in world.log.ends if what == "bound"]


def test_pods_are_tried_in_the_order_of_less_and_equal_ones_as_they_came():
    world = World(ordering(smallest_first), without=WITHOUT)
    world.add(*pods(5, 3, 9, 3, 1)).run()
    assert bound(world) == ["p4", "p1", "p3", "p0", "p2"]


def test_a_pod_that_comes_later_takes_its_place_among_those_that_wait():
    world = World(ordering(smallest_first), without=WITHOUT)
    first = pods(*range(0, 40, 2))
    world.add(*first)
    world.step(limit=5)
    world.add(*[make_pod(f"late{n}").label("size", str(n)).build() for n in (39, 11, 1)]).run()
    expected = [f"p{n}" for n in range(5)] + [
        "late1",
        "p5",
        "late11",
        *[f"p{n}" for n in range(6, 20)],
        "late39",
    ]
    assert bound(world) == expected


def test_attempts_and_time_count_of_pods_that_come_back():
    seen = []

    def fewest_attempts_first(a, b):
        seen.append((a.attempts, b.attempts, a.timestamp))
        return (a.attempts, size(a)) < (b.attempts, size(b))

    calls = []

    def refuse(self, state, pod, node):
        calls.append(pod.metadata.name)
        return Status.unschedulable("no") if calls.count("p0") == 1 and pod.metadata.name == "p0" else None

    gate = plugin("Gate", None, points=("reserve", "unreserve"), reserve=refuse)
    world = World(ordering(fewest_attempts_first), gate, without=WITHOUT)
    tried = pods(1, 2)
    world.add(*tried)
    world.step(limit=1)
    assert world.pool_of(tried[0]) == "unschedulable"
    world.scheduler.inbox.activate([tried[0]])
    world.add(make_pod("new").label("size", "7").build()).run(600)
    assert bound(world) == ["p1", "new", "p0"]
    assert max(attempts for attempts, _, _ in seen) == 1


def test_a_changed_pod_is_placed_anew():
    world = World(ordering(smallest_first), without=WITHOUT)
    first, second, third = pods(1, 2, 3)
    world.add(first, second, third)
    world.step(limit=1)
    world.add(make_pod("p1").label("size", "9").build()).run()
    assert bound(world) == ["p0", "p2", "p1"]


def test_a_less_that_raises_or_returns_junk_leaves_pods_as_they_came(caplog):
    world = World(ordering(lambda a, b: 1 / 0), without=WITHOUT)
    world.add(*pods(3, 1, 2)).run()
    assert bound(world) == ["p0", "p1", "p2"]
    assert 'plugin "Order": less raised ZeroDivisionError' in caplog.text
    world = World(ordering(lambda a, b: "yes"), without=WITHOUT)
    world.add(*pods(3, 1, 2)).run()
    assert bound(world) == ["p0", "p1", "p2"]
    assert "less returned str, expected bool" in caplog.text


def test_a_plugin_that_only_orders_leaves_cycles_to_the_core():
    world = World(ordering(smallest_first), without=WITHOUT)
    world.log.detailed = False
    world.add(*pods(2, 1))
    world.step()
    assert {world.scheduler.state.entry(pod.metadata.uid).concerned for pod in pods(2, 1)} == {frozenset()}
    assert bound(world.run()) == ["p1", "p0"]


def test_bound_and_deleted_pods_are_forgotten():
    world = World(ordering(smallest_first), without=WITHOUT, cpu="1")
    waiting = [make_pod(f"w{n}").label("size", "1").request(cpu="900m").build() for n in range(4)]
    world.add(*waiting).run()
    assert world.scheduler.state.order._queued.keys() == {
        world.scheduler.state.entry(pod.metadata.uid).handle for pod in waiting[2:]
    }
    for pod in waiting[2:]:
        world.remove(pod)
    world.run()
    assert not world.scheduler.state.order._queued


def test_gangs_and_an_order_in_python_exclude_each_other():
    with pytest.raises(PluginError, match=r'plugin "Order": .* orders single pods, not gangs: disable'):
        World(ordering(smallest_first), without=("PrioritySort",))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=120), st.integers(0, 2**32), st.booleans())
def test_places_follow_keys_whatever_comes_and_goes(keys, seed, sort):
    rng, places, told, known = random.Random(seed), Places(), {}, []
    for handle, key in enumerate(sorted(keys) if sort else keys):
        places.insert(handle, key)
        known.append((key, handle))
        if rng.random() < 0.3:
            known.remove(gone := rng.choice(known))
            places.remove(gone[1])
            told.pop(gone[1], None)
        told |= places.take_moved()
    assert sorted(known) == sorted(known, key=lambda pair: told[pair[1]])


@pytest.mark.parametrize("keys", [range(6000), range(6000, 0, -1), [0, 10**9, *([1] * 5000)]])
def test_numbers_never_run_out_where_all_come_to_one_spot(keys):
    places, told, moves = Places(), {}, 0
    for handle, key in enumerate(keys):
        places.insert(handle, key)
        moved = places.take_moved()
        moves += len(moved)
        told |= moved
    assert all(0 <= place < 2**64 for place in told.values())
    order = sorted(range(len(told)), key=lambda handle: (list(keys)[handle], handle))
    assert [told[handle] for handle in order] == sorted(told.values())
    assert len(set(told.values())) == len(told)
    assert moves / len(told) < 30
