"""What ``/metrics`` says of gangs, after a scene on a cluster in memory."""

from types import SimpleNamespace

from podium.live.metrics import Metrics
from prometheus_client.parser import text_string_to_metric_families

from tests.scheduler.gangs.world import World, gang, node


def shown(world, metrics):
    """Return the samples of gangs: (name, label) -> value."""
    cluster = SimpleNamespace(
        store=SimpleNamespace(sizes=dict), binding=0, recorder=SimpleNamespace(unwritten=0, lost=0)
    )
    text = metrics.text(world.scheduler, cluster, leads=True).decode()
    families = text_string_to_metric_families(text)
    samples = [sample for family in families for sample in family.samples]
    return {
        (sample.name, *sample.labels.values()): sample.value
        for sample in samples
        if sample.name.startswith("podium_gang")
    }


def test_gangs_by_state_and_what_became_of_them():
    metrics = Metrics()
    world = World(node("a", gpu="4"))
    before = shown(world, metrics)
    assert set(before.values()) == {0}
    assert {key[1] for key in before if key[0] == "podium_gangs"} == {
        "Gated", "Queued", "Placed", "Permitted", "Binding", "Bound", "RollingBack", "Backoff",
    }  # fmt: skip
    world.apply(*gang("runs", 3), *gang("waits", 2), *gang("lacks", 3)[:2]).settle()
    after = shown(world, metrics)
    assert {key: value for key, value in after.items() if value} == {
        ("podium_gangs", "Bound"): 1,
        ("podium_gangs", "Queued"): 1,
        ("podium_gangs", "Gated"): 1,
        ("podium_gang_outcomes_total", "placed"): 1,
        ("podium_gang_outcomes_total", "bound"): 1,
        ("podium_gang_outcomes_total", "unschedulable"): 1,
    }
    world.apply(*gang("first", 4, priority=100)).until(5)
    later = shown(world, metrics)
    assert later["podium_gang_outcomes_total", "preempted"] == 1
    assert later["podium_gangs", "Bound"] == 1
