"""Binding is asynchronous: scheduling cycles go on while plugins and the API server take their time."""

import asyncio
import itertools

import pytest
from podium.cluster.port import Applied
from podium.cluster.simulated import SECOND, Latency, SimulatedCluster
from podium.framework import Status
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Observer
from podium.testing import make_node, make_pod

from tests.scheduler.world import config_of, plugin

MILLISECOND = SECOND // 1000


class Times(Observer):
    """When each pod got its node, and when it was bound, on the virtual clock."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.placed_at = {}
        self.bound_at = {}

    def placed(self, entries, nodes):
        self.placed_at.update((entry.pod.metadata.name, self.cluster.now()) for entry in entries)

    def bound(self, entries):
        self.bound_at.update((entry.pod.metadata.name, self.cluster.now()) for entry in entries)


def awaiting(seconds):
    """Return methods of a plugin that wait on the event loop."""

    async def pre_bind(self, state, pod, node_name):
        await asyncio.sleep(seconds)

    async def bind(self, state, pod, node_name):
        await asyncio.sleep(seconds)
        return Status.skip()

    return {"pre_bind": pre_bind, "bind": bind}


def run(latency, *, pods, every=0, binds=1000, slow=None):
    """Let ``pods`` come one after the other; bindings and PreBind take ``latency``."""
    cluster = SimulatedCluster(Latency(bind=latency, calls={"preBind": latency}))
    slow = slow or plugin("Slow", None, points=("pre_bind",))
    times = Times(cluster)
    scheduler = Scheduler(config_of(slow, settings=f"maxBindsInFlight: {binds}"), times)
    cluster.apply([make_node(f"n{at}").capacity(cpu="999", pods="999").build() for at in range(4)])
    for number in range(pods):
        pod = make_pod(f"p{number}").request(cpu="1").build()
        cluster.schedule(number * every, Applied(pod))
    cluster.advance(0)
    while True:
        before = scheduler.tries
        actions = scheduler.step(cluster.events(), cluster.now())
        cluster.perform(actions)
        if actions or scheduler.tries != before:
            continue
        due = cluster.next_time()
        if due is None:
            return times
        cluster.advance(due)


def gaps(times):
    moments = sorted(times.placed_at.values())
    return [late - early for early, late in itertools.pairwise(moments)]


@pytest.mark.parametrize("milliseconds", [1, 50, 5000])
def test_the_gap_between_two_cycles_does_not_depend_on_how_long_bindings_take(milliseconds):
    at_once = run(0, pods=60, every=3 * MILLISECOND)
    slowly = run(milliseconds * MILLISECOND, pods=60, every=3 * MILLISECOND)
    assert slowly.placed_at == at_once.placed_at
    assert gaps(slowly) == gaps(at_once) == [3 * MILLISECOND] * 59
    took = {slowly.bound_at[name] - at for name, at in slowly.placed_at.items()}
    assert took == {2 * milliseconds * MILLISECOND}


def test_nor_on_how_long_a_coroutine_awaits():
    slow = type("Slow", (plugin("Slow", None, points=("post_bind",)),), awaiting(0.05))
    times = run(0, pods=60, every=3 * MILLISECOND, slow=slow)
    assert gaps(times) == [3 * MILLISECOND] * 59
    took = {times.bound_at[name] - at for name, at in times.placed_at.items()}
    assert took == {100 * MILLISECOND}


@pytest.mark.parametrize(("binds", "until"), [(1000, 0.2), (256, 0.5)])
def test_a_thousand_pods_are_bound_in_time(binds, until):
    times = run(50 * MILLISECOND, pods=1000, binds=binds)
    assert len(times.bound_at) == 1000
    assert max(times.bound_at.values()) <= until * SECOND


def test_cycles_wait_for_bindings_only_where_too_many_are_under_way():
    times = run(50 * MILLISECOND, pods=20, binds=5)
    assert sorted(times.placed_at.values()) == [
        at * MILLISECOND for at in (0, 100, 200, 300) for _ in range(5)
    ]
