"""What Python plugins say of nodes may be remembered: they are asked less often, and nothing else changes."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.cluster.port import Removed
from podium.framework import EVERYTHING, NODE, FilterResult, Status
from podium.testing import make_node, make_pod

from tests.scheduler.world import World, plugin


def judging(depends_on, asked, points=("filter", "score"), **told):
    """Make a plugin that looks at pods on nodes, a label, a custom column, and the pod's label ``kind``."""

    def filter_(self, state, pod, nodes):
        asked["filter"] += len(nodes)
        room = nodes.pod_count() < nodes.column("places")
        likes = nodes.labels("kind") != pod.metadata.labels.get("kind")
        return FilterResult(room & likes, ("not here",))

    def score(self, state, pod, nodes):
        asked["score"] += len(nodes)
        used = nodes.requested("cpu") // 1000 + 3 * nodes.pod_count()
        return np.clip(100 - used - nodes.column("places"), 0, 100)

    made = plugin("Judge", None, points=points, filter=filter_, score=score, **told)
    made.depends_on = depends_on
    begin = made.__init__

    def init(self, args, handle):
        begin(self, args, handle)
        handle.register_column("places", np.int64, 4)

    made.__init__ = init
    return made


class Run:
    """The same random cluster for either kind of plugin."""

    def __init__(self, depends_on, **options):
        self.asked = Counter()
        self.world = World(judging(depends_on, self.asked, **options), nodes=())
        self.world.log.detailed = False
        self.nodes, self.pods, self.made = {}, {}, 0

    def act(self, what, chance):
        cluster = self.world.cluster
        if what == "node":
            name = f"n{chance.randrange(8)}"
            labels = {"kind": chance.choice("abc"), "zone": chance.choice("xy")}
            node = make_node(name).capacity(cpu=str(chance.randrange(2, 9)), pods="9").labels(labels)
            self.nodes[name] = node.build()
            cluster.apply([self.nodes[name]])
        elif what == "pods":
            for _ in range(chance.randrange(1, 6)):
                self.made += 1
                pod = make_pod(f"p{self.made}").uid(f"u{self.made}").labels({"kind": chance.choice("abcd")})
                pod = (
                    pod.request(cpu=chance.choice(["500m", "1"]))
                    .priority(chance.choice([0, 0, 0, 5]))
                    .build()
                )
                self.pods[pod.metadata.uid] = pod
                cluster.apply([pod])
        elif what == "unpod" and self.pods:
            self._remove(self.pods.pop(chance.choice(sorted(self.pods))))
        elif what == "unnode" and self.nodes:
            self._remove(self.nodes.pop(chance.choice(sorted(self.nodes))))
        elif what == "column":
            judge = next(iter(self.world.scheduler.profiles)).plugins["Judge"]
            judge.handle.update_column("places", {f"n{chance.randrange(8)}": chance.randrange(7)})

    def _remove(self, item):
        self.world.cluster.schedule(self.world.cluster.now(), Removed(item))
        self.world.cluster.advance(self.world.cluster.now())

    def placements(self, actions, seed):
        chance = random.Random(seed)
        told = []
        for at, what in enumerate(actions):
            self.act(what, chance)
            self.world.run(at * 3)
            entries = [self.world.scheduler.state.entry(uid) for uid in self.pods]
            told.append([None if entry is None else (entry.node, entry.message) for entry in entries])
        return told, self.world.scheduler.tries, self.world.log.ends


ACTIONS = st.lists(
    st.sampled_from(["pods"] * 4 + ["node"] * 3 + ["unpod", "unnode", "column", "column"]),
    min_size=4,
    max_size=25,
)
WAITS = {"permit": lambda _, state, pod, node: Status.wait(1) if pod.metadata.name.endswith("3") else None}


@pytest.mark.parametrize(
    "options", [{}, {"points": ("filter", "score", "permit"), **WAITS}], ids=["plain", "permit"]
)
@given(actions=ACTIONS, seed=st.integers(0, 999))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_decisions_are_the_same_with_and_without(options, actions, seed):
    remembering, asking = Run(NODE, **options), Run(EVERYTHING, **options)
    actions = ["node", "node", "node", *actions]
    assert remembering.placements(actions, seed) == asking.placements(actions, seed)


def nodes_of(world, count):
    world.cluster.apply([make_node(f"n{at}").capacity(cpu="64", pods="99").build() for at in range(count)])


def test_only_nodes_that_changed_are_asked_about_again():
    asked = Counter()
    world = World(judging(NODE, asked), nodes=())
    world.log.detailed = False
    nodes_of(world, 50)
    world.add(*[make_pod(f"p{at}").labels({"kind": "a"}).request(cpu="1").build() for at in range(20)]).run()
    assert len(world.log.ends) == 20
    assert asked == {"filter": 50 + 19, "score": 50 + 19}


def test_a_changed_column_and_a_changed_node_are_asked_about():
    asked = Counter()
    world = World(judging(NODE, asked), nodes=())
    world.log.detailed = False
    nodes_of(world, 10)
    world.add(make_pod("p0").labels({"kind": "a"}).build()).run()
    asked.clear()
    judge = next(iter(world.scheduler.profiles)).plugins["Judge"]
    judge.handle.update_column("places", {"n1": 0, "n2": 1})
    on = world.scheduler.state.names_of([0])
    world.cluster.apply([make_node("n5").capacity(cpu="1", pods="9").build()])
    world.add(make_pod("p1").labels({"kind": "a"}).build()).run()
    assert 3 <= asked["filter"] <= 4, (asked, on)


def test_pods_that_a_plugin_cannot_tell_apart_share_its_answers():
    asked = Counter()
    made = judging(NODE, asked)
    made.pod_key = lambda self, pod: pod.metadata.labels.get("kind")
    world = World(made, nodes=())
    world.log.detailed = False
    nodes_of(world, 30)
    pods = [
        make_pod(f"p{at}").labels({"kind": "a", "n": str(at)}).request(cpu=f"{at + 1}m").build()
        for at in range(9)
    ]
    world.add(*pods).run()
    assert len(world.log.ends) == 9
    assert asked["filter"] == 30 + 8


@pytest.mark.parametrize("bad", ["raises", "range", "floats"])
def test_a_plugin_that_fails_is_an_error_all_the_same(bad):
    def fails(self, state, pod, nodes):
        if bad == "raises":
            raise KeyError("rack")
        if bad == "range":
            return np.full(len(nodes), 101)
        return np.zeros(len(nodes), np.float64)

    made = plugin("Judge", None, points=("score",), score=fails)
    made.depends_on = NODE
    world = World(made)
    world.log.detailed = False
    world.add(make_pod("p").build()).run()
    (attempt, *_) = world.log.attempts
    assert attempt.result == "error"
    assert 'lugin "Judge"' in attempt.message


def test_a_failing_pod_key_tells_all_classes_apart():
    asked = Counter()
    made = judging(NODE, asked)
    made.pod_key = lambda self, pod: [pod]
    world = World(made, nodes=())
    world.log.detailed = False
    nodes_of(world, 10)
    pods = [make_pod(f"p{at}").labels({"kind": "a", "n": str(at)}).build() for at in range(3)]
    world.add(*pods).run()
    assert len(world.log.ends) == 3
    assert asked["filter"] == 30
