"""Places that are kept for members by nomination: never for a gang that cannot run."""

from msgspec.structs import replace
from podium.testing import make_pod

from tests.scheduler.gangs.world import GPU, World, gang, node, plain


def wide(name, gpu):
    return make_pod(name).request({GPU: gpu}, cpu="1").build()


def broken(policy=None):
    """A gang whose bindings fail once: its members are nominated to the node that they have lost."""
    failed = set()

    def fails(uid, _node):
        is_first = uid not in failed and "-g-" in uid
        failed.add(uid)
        return "no luck" if is_first else ""

    world = World(node("n", gpu="2"), bind_fails=fails)
    pods = gang("g", 2, priority=10)
    pods = [replace(pod, spec=replace(pod.spec, preemption_policy=policy)) for pod in pods]
    world.apply(*pods)
    for _ in range(9):
        world.step()
        world.cluster.advance(world.cluster.now())
        if len(failed) == 2 and world.state("g") == "Backoff":
            break
    kept = [world.scheduler.engine.nominated(e.handle) for e in world.group("g").members.values()]
    assert (kept, world.bound(), world.state("g")) == (["n", "n"], [], "Backoff")
    return world, pods


def test_a_gang_that_waits_for_members_keeps_no_place():
    world, pods = broken()
    world.apply(wide("x", "2")).settle()
    assert world.bound() == []
    world.remove(pods[1]).settle()
    assert (world.state("g"), world.bound()) == ("Gated", ["x"])


def test_a_gang_that_cannot_be_one_any_more_keeps_no_place():
    world, pods = broken()
    world.apply(wide("x", "2")).settle()
    world.apply(replace(pods[1], spec=replace(pods[1].spec, priority=9))).settle()
    assert "different priorities" in world.message("g-0")
    assert world.bound() == ["x"]


def test_a_gang_that_no_longer_fits_keeps_no_place_though_it_evicts_nobody():
    for policy in (None, "Never"):
        world, _ = broken(policy)
        world.apply(wide("x", "1")).settle()
        assert world.bound() == []
        world.apply(node("n", gpu="1")).until(60)
        assert world.bound() == ["x"], policy


def test_who_waits_is_tried_when_a_reservation_ends():
    world = World(node("n", gpu="3"), backfill="runtime")
    runs = make_pod("old").request({GPU: "1"}, cpu="1").annotation("podium.dev/run-time", "1000s").build()
    world.apply(replace(runs, spec=replace(runs.spec, node_name="n")))
    pods = gang("g", 3)
    world.apply(*pods).settle()
    world.apply(plain("x")).settle()
    assert world.bound() == ["old"], "the places are held"
    world.remove(pods[0]).until(world.now + 20)
    assert world.bound() == ["old", "x"]


def test_the_status_names_no_node_that_is_not_kept():
    world, pods = broken()
    stale = [replace(pod, status=replace(pod.status, nominated_node_name="n")) for pod in pods]
    world.apply(*stale, node("n", gpu="1")).until(60)
    assert [p.status.nominated_node_name for p in world.cluster.pods()] == ["", ""]
    assert not world.bound()


def test_a_reservation_ends_when_its_gang_can_never_run():
    world = World(node("n", gpu="3"), backfill="runtime")
    runs = make_pod("old").request({GPU: "1"}, cpu="1").annotation("podium.dev/run-time", "5000s").build()
    world.apply(replace(runs, spec=replace(runs.spec, node_name="n"))).apply(*gang("g", 3)).settle()
    world.apply(plain("x")).settle()
    assert world.bound() == ["old"], "the places are held"
    world.apply(node("n", gpu="2")).until(700)
    assert world.bound() == ["old", "x"]
