"""What no pod of a node can promise: nodes whose bound is low need not be looked at."""

import pytest
from podium.api.manifest import Options as Loading
from podium.api.manifest import load_objects
from podium.descheduler.evictor import PodEvictor
from podium.descheduler.guard.levels import Levels
from podium.descheduler.guard.meter import meter
from podium.descheduler.limits import Limits
from podium.descheduler.profile import RunningProfile, Sources
from podium.descheduler.table import IN_TREE
from podium.descheduler.world import World
from podium.simulator.evictions import SimulatedEvictions

from tests.descheduler.guarded.clusters import case
from tests.descheduler.scene import NOW, load


@pytest.mark.parametrize("seed", range(30))
def test_no_promise_exceeds_the_bound(seed):
    item = case(seed, grain="coarse" if seed % 2 else "fine")
    measured = "metricsProviders" in item.policy
    world = World(load_objects(item.objects, "case", Loading(validate="off")).objects, NOW)
    shared = PodEvictor(SimulatedEvictions(()), Limits())
    profile = RunningProfile(load(item.policy).profiles[0], IN_TREE, shared, Sources())
    profile.handle.world = world
    levels = Levels(world.nodes, meter(world, world.nodes, [profile]))
    finite = 0
    for pod in world.pods:
        bound = levels.bound(pod.spec.node_name)
        finite += bound < float("inf")
        assert levels.promise(pod) <= bound + 1e-12
    # Of measured load nobody knows the largest pod.
    assert measured or finite == len(world.pods)
