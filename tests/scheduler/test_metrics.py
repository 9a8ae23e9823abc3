"""kube-scheduler's metrics per plugin and extension point, and the warning about slow calls."""

from podium.cluster.simulated import SECOND, SimulatedCluster
from podium.framework import Status
from podium.framework.metrics import FrameworkMetrics
from podium.scheduler.loop import Scheduler
from podium.testing import make_node, make_pod
from prometheus_client import CollectorRegistry

from tests.scheduler.world import config_of, plugin

PLUGIN = "scheduler_plugin_execution_duration_seconds"
POINT = "scheduler_framework_extension_point_duration_seconds"


class Scene:
    """Two pods of one profile: the first waits in Permit and is let go, the second finds no node."""

    def __init__(self, budget=1.0, cost=0.0):
        self.time = 0.0
        self.registry = CollectorRegistry()
        metrics = FrameworkMetrics(self.registry, lambda: self.time, budget)

        def slow(_, state, pod, nodes):
            self.time += cost
            return nodes.names != "n9"

        def wait(_, state, pod, node):
            return Status.wait(60)

        made = plugin("Own", None, filter=slow, permit=wait)
        self.cluster = SimulatedCluster()
        self.scheduler = Scheduler(config_of(made), metrics=metrics)
        self.cluster.apply([make_node(name).capacity(cpu="4", pods="9").build() for name in ("n1", "n2")])
        self.first = make_pod("fits").request(cpu="1").build()
        self.cluster.apply([self.first, make_pod("large").request(cpu="99").build()])
        self.step()

    def step(self):
        self.cluster.perform(self.scheduler.step(self.cluster.events(), self.cluster.now()))
        self.cluster.advance(self.cluster.now())

    def finish(self):
        self.cluster.advance(3 * SECOND)
        self.scheduler.binder.waiting.now = self.cluster.now()
        self.scheduler.binder.waiting.get(self.first.metadata.uid).allow("Own")
        for _ in range(6):
            self.step()

    def value(self, name, **labels):
        return self.registry.get_sample_value(name, labels)

    def calls(self, point, status="Success"):
        labels = {"plugin": "Own", "extension_point": point, "status": status}
        return self.value(f"{PLUGIN}_count", **labels)


def test_each_call_of_a_plugin_is_counted_by_point_and_status():
    scene = Scene()
    scene.finish()
    once = ("Filter", "PreScore", "Score", "ScoreExtensionNormalize", "Reserve", "PreBind", "PostBind")
    assert {point: scene.calls(point) for point in once} == dict.fromkeys(once, 1)
    assert scene.calls("PreEnqueue") == scene.calls("PreFilter") == 2
    assert scene.calls("Permit", "Wait") == 1
    assert scene.calls("PostFilter", "Unschedulable") == 1
    assert scene.calls("Bind", "Skip") == 1
    assert scene.calls("Permit") is None


def test_points_are_timed_with_the_profile_and_serial_calls_are_evaluations():
    scene = Scene(cost=0.25)
    scene.finish()
    labels = {"extension_point": "Filter", "status": "Success", "profile": "default-scheduler"}
    assert scene.value(f"{POINT}_sum", **labels) == 0.25
    waits = {"extension_point": "Permit", "status": "Wait", "profile": "default-scheduler"}
    assert scene.value(f"{POINT}_count", **waits) == 1
    name = "scheduler_plugin_evaluation_total"
    own = {"plugin": "Own", "profile": "default-scheduler"}
    assert scene.value(name, extension_point="PreFilter", **own) == 2
    assert scene.value(name, extension_point="PreBind", **own) is None


def test_buckets_are_those_of_kube_scheduler():
    scene = Scene()
    labels = {"plugin": "Own", "extension_point": "Filter", "status": "Success"}
    bounds = [1e-05 * 1.5**power for power in range(20)]
    found = [scene.value(f"{PLUGIN}_bucket", le=str(bound), **labels) for bound in bounds]
    assert found == [1] * 20
    labels = {"extension_point": "Filter", "status": "Success", "profile": "default-scheduler"}
    assert scene.value(f"{POINT}_bucket", le="0.2048", **labels) == 2


def test_a_wait_in_permit_is_timed_by_the_scheduler_s_clock():
    scene = Scene()
    scene.finish()
    assert scene.value("scheduler_permit_wait_duration_seconds_sum", result="Success") == 3
    assert scene.value("scheduler_permit_wait_duration_seconds_count", result="Success") == 1


def test_a_call_over_its_budget_is_counted_each_time_and_logged_once(caplog):
    scene = Scene(budget=0.1, cost=0.25)
    scene.cluster.apply([make_pod(f"more{at}").request(cpu="1").build() for at in range(2)])
    scene.step()
    over = {"plugin": "Own", "extension_point": "Filter"}
    assert scene.value("podium_plugin_over_budget_total", **over) == 3
    warnings = [record.message for record in caplog.records if "budget" in record.message]
    assert warnings == ["plugin Own took 250 ms at Filter, its budget is 100 ms: every pod waits for it"]


def test_calls_within_the_budget_are_not_mentioned(caplog):
    scene = Scene(budget=0.5, cost=0.25)
    assert scene.value("podium_plugin_over_budget_total", plugin="Own", extension_point="Filter") is None
    assert "budget" not in caplog.text
