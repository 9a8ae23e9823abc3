"""Members beyond the minimum: alone they take what is left, and nothing once their gang is no more."""

from msgspec.structs import replace
from podium.testing import make_pod

from tests.scheduler.gangs.test_reported import bound_pod
from tests.scheduler.gangs.test_room import DRF, RECLAIM, of
from tests.scheduler.gangs.world import GPU, World, gang, node
from tests.scheduler.world import config_of


def urgent(name, gpu="1"):
    return make_pod(name).request({GPU: gpu}, cpu="1").priority(100).build()


def test_surplus_takes_no_place_while_its_gang_leaves_for_a_pod_of_higher_priority():
    world = World(node("n", gpu="2")).apply(*gang("g", 3, 2, grace=30)).settle()
    assert len(world.bound("g")) == 2
    world.apply(urgent("high")).until(200)
    assert (world.bound(), world.cluster.withdrawn) == (["high"], [])
    assert world.state("g") == "Gated"
    # With those that left made again it is a gang like any other.
    again = [
        pod
        for pod in gang("g", 3, 2)
        if pod.metadata.name not in {p.metadata.name for p in world.cluster.pods()}
    ]
    world.apply(*(replace(p, metadata=replace(p.metadata, uid=f"new-{p.metadata.name}")) for p in again))
    world.apply(node("m", gpu="3")).until(400)
    assert len(world.bound("g")) == 3


def test_surplus_takes_no_place_while_its_gang_gives_back():
    given = config_of(settings=RECLAIM, more=DRF)
    world = World(node("n", gpu="4"), given=given)
    world.apply(*of("rich", [*gang("r", 3, 2, grace=30), *gang("s", 3, 2, grace=30)])).settle()
    assert len(world.bound()) == 4
    world.apply(*of("poor", gang("p", 1))).until(300)
    assert world.bound("p") == ["p-0"]
    assert len(world.cluster.evicted) == 2, "one of the gangs left as a whole"
    assert world.cluster.withdrawn == []
    left, kept = sorted("rs", key=lambda name: len(world.bound(name)))
    assert (len(world.bound(left)), len(world.bound(kept))) == (0, 3)


def test_surplus_is_not_bound_while_its_gang_is_rolled_back():
    world = World(node("n", gpu="2"), node("m", gpu="1")).apply(*gang("g", 4, 3, grace=200)).settle()
    assert len(world.bound("g")) == 3
    lost = bound_pod(world, world.bound("g")[0])
    waits = next(p for p in world.cluster.pods() if not p.spec.node_name)
    world.remove(waits, lost)
    world.until(100)
    assert world.state("g") == "RollingBack"
    world.apply(*(pod for pod in gang("g", 4, 3, uid=None) if pod.metadata.name == waits.metadata.name))
    world.until(150)
    assert waits.metadata.name not in world.bound("g")


def test_23_surplus_never_reclaims():
    world = World(node("n", gpu="4"), given=config_of(settings=RECLAIM, more=DRF))
    world.apply(*of("rich", [pod for at in range(4) for pod in gang(f"r{at}x", 1)])).settle()
    world.apply(*of("poor", gang("g", 2, 1))).until(200)
    assert [each.victim.metadata.name[:1] for each in world.cluster.evicted] == ["r"]
    assert len(world.bound("g")) == 1
