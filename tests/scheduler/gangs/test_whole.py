"""A gang that comes whole and meets no trouble is kept as little: whatever happens, nobody may see that."""

from unittest import mock

import msgspec
import pytest
from podium.scheduler.gangs import membership
from podium.scheduler.gangs.whole import WholeGang

from tests.scheduler.gangs.test_random import Chance
from tests.scheduler.gangs.world import World, gang, node

FIELDS = ("name", "handle", "phase", "owner", "floor", "queued", "signature", "message", "deadline")


def _life(seed):
    """Return what one random history leaves, in all that others can see."""
    history = Chance(seed)
    history.run(60)
    world, gangs = history.world, history.world.scheduler.gangs
    groups = [
        (*(getattr(group, field) for field in FIELDS), list(group.members), group.placed, group.bound)
        for group in gangs
    ]
    told = [(emit.pod.metadata.name, emit.reason, emit.note) for emit in world.cluster.emitted]
    nodes = {pod.metadata.name: pod.spec.node_name for pod in world.cluster.pods()}
    engine = world.scheduler.engine
    return groups, told, nodes, world.log.attempts, gangs.counts, engine.queue_counts(), engine.fingerprint()


@pytest.mark.parametrize("seed", range(12))
def test_nobody_can_tell_it_from_any_other_gang(seed):
    kept = mock.Mock(side_effect=WholeGang.group, name="kept")
    with mock.patch.object(WholeGang, "group", lambda self: kept(self)):
        little = _life(seed)
    assert kept.call_count, "no gang came whole"
    with mock.patch.object(membership, "born_whole", return_value=None):
        assert _life(seed) == little


def _kept(world, name):
    return next(
        entry.gang for entry in world.scheduler.state.entries() if entry.pod.metadata.name.startswith(name)
    )


def test_little_is_kept_until_something_happens():
    world = World(node("a", gpu="4")).apply(*gang("g", 3, 3)).settle()
    g = _kept(world, "g-")
    assert (type(g), g.phase.value, g.bound) == (WholeGang, "Bound", True)
    first = g.entries[0].pod
    meta = msgspec.structs.replace(first.metadata, labels={**first.metadata.labels, "new": "label"})
    world.apply(msgspec.structs.replace(world.cluster.pod(meta.uid), metadata=meta)).settle()
    group = _kept(world, "g-")
    assert type(group) is not WholeGang
    assert (len(group.bound), group.floor, group.queued) == (3, 3, False)


def test_a_gang_with_more_members_than_it_needs_is_kept_in_full():
    world = World(node("a", gpu="4")).apply(*gang("g", 3, 2)).settle()
    assert type(_kept(world, "g-")) is not WholeGang
    assert len(world.bound("g-")) == 3
