"""What many gangs have in common is done for all of them together; nothing may depend on it."""

from contextlib import ExitStack
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.framework.config import with_short_forms
from podium.scheduler.gangs.conclusions import Conclusions
from podium.scheduler.gangs.descriptions import Descriptions
from podium.scheduler.gangs.group import GROUP
from podium.scheduler.gangs.membership import Membership

from tests.scheduler.gangs.world import WAYS, World, declared, gang, node, plain


def _one_by_one(stack):
    """Let every gang found itself, say what it is and enter the queue alone."""
    join, describe, conclude = Membership._join, Descriptions.describe, Conclusions.conclude

    def join_each(self, fresh, mixed=None):
        return [group for key, entries in fresh.items() for group in join(self, {key: entries})]

    def describe_each(self, groups):
        for group in groups:
            describe(self, [group])

    def conclude_each(self, groups, now):
        for group in groups:
            conclude(self, [group], now)

    stack.enter_context(mock.patch.object(Membership, "_join", join_each))
    stack.enter_context(mock.patch.object(Descriptions, "describe", describe_each))
    stack.enter_context(mock.patch.object(Conclusions, "conclude", conclude_each))


gangs = st.lists(
    st.tuples(
        st.sampled_from(WAYS),
        st.integers(1, 4),
        st.integers(1, 5),
        st.sampled_from([None, 0, 7]),
        st.sampled_from(["1", "2"]),
    ),
    max_size=6,
)


def _objects(made):
    objects, pods = [], [plain(f"p{number}") for number in range(3)]
    for number, (way, size, minimum, priority, gpu) in enumerate(made):
        name = f"g{number}"
        if way == "label":
            more = {} if priority is None else {"priority": priority}
            pods += gang(name, size, minimum, gpu=gpu, **more)
        else:
            more, members = declared(way, name, size, minimum)
            objects += more
            pods += members
    return objects, pods


def _outcome(steps, order):
    world = World(node("a"), node("b"), node("c", gpu="2"))
    world.config = with_short_forms(world.config, queue_order=order)
    world.start()
    for step in steps:
        world.apply(*step).step()
    world.until(30)
    engine, gangs = world.scheduler.engine, world.scheduler.gangs
    groups = [
        (g.name, g.handle, g.phase, g.message, g.signature, g.owner, engine.pool(GROUP | g.handle))
        for g in gangs
    ]
    nodes = {pod.metadata.name: pod.spec.node_name for pod in world.cluster.pods()}
    return world.log.attempts, nodes, groups, gangs.counts, engine.queue_counts(), engine.fingerprint()


@pytest.mark.parametrize("order", ["priority", "drf"])
@settings(max_examples=40, deadline=None)
@given(made=gangs, data=st.data())
def test_together_or_one_by_one_is_the_same(order, made, data):
    objects, pods = _objects(made)
    pods = data.draw(st.permutations(pods))
    cut = data.draw(st.integers(0, len(pods)))
    steps = [objects, pods[:cut], pods[cut:]]
    together = _outcome(steps, order)
    with ExitStack() as stack:
        _one_by_one(stack)
        assert _outcome(steps, order) == together
