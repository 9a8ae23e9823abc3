"""One guarded cycle of all plugins, without API time; the scheduler knows the cluster, or is new."""

import time

import msgspec
import pytest
from podium.api.manifest import Manifest, load_objects
from podium.api.manifest import Options as Loading
from podium.collector import collector_paused, spare_what_is_there
from podium.descheduler.loop import Cycle, Descheduler
from podium.descheduler.policy.load import load_policy
from podium.descheduler.shapes import Shapes
from podium.descheduler.table import IN_TREE
from podium.descheduler.world import World
from podium.framework.config import default_config
from podium.simulator.evictions import SimulatedEvictions
from podium.simulator.run import all_but_pods, bound_and_pending
from podium.simulator.whatif import Shadow, live_shadow

from benches.descheduler_cluster import cluster, policy

NOW = 1_772_442_000_000_000_000

SIZES = {"small": (100, 2_000), "medium": (1_000, 20_000), "large": (5_000, 100_000)}


@pytest.fixture(params=SIZES, scope="module")
def manifest(request) -> Manifest:
    loaded = load_objects(cluster(*SIZES[request.param]), "bench", Loading(validate="off"))
    # As the command does.
    spare_what_is_there()
    return loaded


@collector_paused()
def cycle(manifest: Manifest, shadow: Shadow, shapes: Shapes) -> Cycle:
    """Make one cycle with a new descheduler, which remembers no move; the manifest stays as it is.

    Python's collector is paused, as the command pauses it.
    """
    loaded = load_policy(msgspec.json.encode(policy()).decode(), "bench", IN_TREE, {})
    evictions = SimulatedEvictions(())
    descheduler = Descheduler(loaded, IN_TREE, evictions, whatif=shadow)
    others, (bound, _) = list(all_but_pods(manifest)), bound_and_pending(manifest)
    world = World([*others, *bound], NOW, shapes)
    evictions.begin(world)
    shadow.begin(others, bound, NOW)
    return descheduler.cycle(world)


def test_steady(benchmark, manifest):
    shadow, shapes = live_shadow(default_config()), Shapes()
    cycle(manifest, shadow, shapes)
    began = time.process_time()
    found = benchmark.pedantic(lambda: cycle(manifest, shadow, shapes), rounds=3)
    benchmark.extra_info["cpu"] = (time.process_time() - began) / 3
    benchmark.extra_info["evicted"] = len(found.evicted)
    assert found.evicted
    assert not found.failures


def test_first(benchmark, manifest):
    began = time.process_time()
    found = benchmark.pedantic(lambda: cycle(manifest, live_shadow(default_config()), Shapes()), rounds=1)
    benchmark.extra_info["cpu"] = time.process_time() - began
    assert found.evicted
