"""What ``/metrics`` says of gangs, after a scene on a cluster in memory."""

import time
from types import SimpleNamespace

import pytest
from podium.framework.metrics import FrameworkMetrics
from podium.live.metrics import Metrics
from podium.scheduler.loop import Scheduler
from prometheus_client.parser import text_string_to_metric_families

from tests.scheduler.gangs.world import World, gang, node, plain
from tests.scheduler.world import plugin


def shown(world, metrics, prefix="podium_gang"):
    """Return the samples of gangs: (name, label …) -> value."""
    cluster = SimpleNamespace(
        store=SimpleNamespace(sizes=dict), binding=0, recorder=SimpleNamespace(unwritten=0, lost=0)
    )
    text = metrics.text(world.scheduler, cluster, leads=True).decode()
    families = text_string_to_metric_families(text)
    samples = [sample for family in families for sample in family.samples]
    return {
        (sample.name, *sample.labels.values()): sample.value
        for sample in samples
        if sample.name.startswith(prefix)
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


class Watched(World):
    """A world whose scheduler is watched as a live one is."""

    def __init__(self, *nodes, **more):
        self.metrics = Metrics()
        super().__init__(*nodes, **more)

    def start(self):
        framework = FrameworkMetrics(self.metrics.registry, time.monotonic, budget=1.0)
        self.scheduler = Scheduler(self.config, self.metrics.observer, framework)
        self.scheduler.follow(self.metrics.observer)

    def shown(self, prefix):
        values = shown(self, self.metrics, prefix)
        return {key: value for key, value in values.items() if value and "_created" not in key[0]}


ATTEMPTS = "scheduler_podgroup_schedule_attempts_total"


@pytest.mark.parametrize("with_plugin", [False, True])
def test_attempts_of_gangs_have_the_names_of_upstream(with_plugin):
    quiet = [plugin("Quiet", None, points=("filter",))] if with_plugin else []
    world = Watched(node("a", gpu="4"), plugins=quiet)
    world.apply(*gang("runs", 3), plain("alone"), *gang("waits", 2), *gang("lacks", 3)[:2]).settle()
    assert world.shown(ATTEMPTS) == {
        (ATTEMPTS, "default-scheduler", "scheduled"): 1,
        (ATTEMPTS, "default-scheduler", "unschedulable"): 1,
    }
    assert world.shown("scheduler_workload_preemption_attempts") == {
        ("scheduler_workload_preemption_attempts_total", "Unschedulable"): 1
    }
    counts = world.shown("scheduler_podgroup_scheduling_attempt_duration_seconds_count")
    assert {key[1:]: value for key, value in counts.items()} == {
        ("default-scheduler", "scheduled"): 1,
        ("default-scheduler", "unschedulable"): 1,
    }
    of_algorithm = "scheduler_podgroup_scheduling_algorithm_duration_seconds"
    assert world.shown(f"{of_algorithm}_count") == {(f"{of_algorithm}_count",): 2}
    (seconds,) = world.shown(f"{of_algorithm}_sum").values()
    assert 0 < seconds < 10
    world.apply(*gang("first", 4, priority=100, grace=30)).until(1)
    assert world.shown(ATTEMPTS)[ATTEMPTS, "default-scheduler", "waiting_on_preemption"] >= 1
    victims = world.shown("scheduler_workload_preemption_victims_sum")
    assert victims == {("scheduler_workload_preemption_victims_sum",): 4}
    # Those are no preemptions of single pods.
    assert world.shown("scheduler_preemption_attempts") == {}


def test_members_are_counted_where_their_gang_is_in_the_queue():
    world = Watched(node("a", gpu="2"))
    lone = [plain(f"lone-{number}") for number in range(3)]
    world.apply(*gang("waits", 4), *gang("lacks", 3)[:2], *lone).settle()
    assert world.shown("scheduler_pending_pods") == {
        ("scheduler_pending_pods", "unschedulable"): 5,
        ("scheduler_pending_pods", "incomplete"): 2,
    }
    assert world.shown("scheduler_queued_entities") == {
        ("scheduler_queued_entities", "unschedulable", "pod"): 1,
        ("scheduler_queued_entities", "unschedulable", "podgroup"): 1,
    }
