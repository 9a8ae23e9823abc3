"""Plugins are called while other threads read what the snapshot was, update columns and ask for pods."""

import threading

import numpy as np
from podium.framework import NODE
from podium.testing import make_node, make_pod

from tests.scheduler.world import World, plugin

THREADS = 3


class Readers:
    """Threads that check that views stay as they were, until they are told to stop."""

    def __init__(self, handle):
        self.views, self.errors, self.rounds = [], [], [0] * THREADS
        self._handle, self._stop = handle, threading.Event()
        self._threads = [threading.Thread(target=self._guarded, args=(at,)) for at in range(THREADS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _guarded(self, number):
        try:
            while not self._stop.is_set() or not self.rounds[number]:
                self._read(number)
        except Exception as error:  # noqa: BLE001 (the test shows whatever went wrong)
            self.errors.append(error)

    def _read(self, number):
        for view, pods, cpu in list(self.views[-20:]):
            assert view.pod_count().sum() == pods
            assert view.requested("cpu").sum() == cpu
            assert len(view.names) == len(view) == len(view.taints().codes)
            self.rounds[number] += 1
        self._handle.update_column("load", {f"n{number}": self.rounds[number]})
        self._handle.activate([make_pod("nobody").build()])
        list(self._handle.iterate_over_waiting_pods())


def test_views_stay_constant_while_pods_are_placed():
    readers = []

    def filter_(self, state, pod, nodes):
        (own,) = readers
        if len(own.views) < 400:
            own.views.append((nodes, int(nodes.pod_count().sum()), int(nodes.requested("cpu").sum())))
        return nodes.column("load") >= 0

    made = plugin("Watch", None, points=("filter", "score"), filter=filter_)
    world = World(made, nodes=())
    world.log.detailed = False
    watch = next(iter(world.scheduler.profiles)).plugins["Watch"]
    watch.handle.register_column("load", np.int64, 0)
    world.cluster.apply([make_node(f"n{at}").capacity(cpu="99", pods="99").build() for at in range(20)])
    readers.append(Readers(watch.handle))
    with readers[0]:
        for at in range(300):
            world.add(make_pod(f"p{at}").request(cpu="1").build()).run()
    assert not readers[0].errors
    assert all(readers[0].rounds)
    assert len(world.log.ends) == 300


def test_columns_that_change_under_way_are_seen_in_the_end():
    made = plugin("Watch", None, points=("filter",), filter=lambda _, s, p, nodes: nodes.column("load") == 1)
    made.depends_on = NODE
    world = World(made, nodes=())
    world.log.detailed = False
    handle = next(iter(world.scheduler.profiles)).plugins["Watch"].handle
    handle.register_column("load", np.int64, 0)
    world.cluster.apply([make_node(f"n{at}").capacity(cpu="99", pods="99").build() for at in range(9)])
    world.add(*[make_pod(f"p{at}").build() for at in range(9)]).run()
    assert not world.log.ends
    changes = [
        threading.Thread(target=handle.update_column, args=("load", {f"n{at}": 1})) for at in range(0, 9, 3)
    ]
    for thread in changes:
        thread.start()
    for thread in changes:
        thread.join()
    world.run(700)
    assert {end[2] for end in world.log.ends} == {"n0", "n3", "n6"}
    assert len(world.log.ends) == 9
