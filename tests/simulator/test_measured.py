from msgspec.structs import replace
from podium.api import NodeMetrics, ObjectMeta, PodMetrics
from podium.api.objects.metrics import ContainerMetrics
from podium.simulator.measured import MeasuredLoad

from tests.descheduler.scene import owned, running

SECOND = 1_000_000_000


def load():
    nodes = [
        NodeMetrics(metadata=ObjectMeta(name=name), usage={"cpu": cpu, "memory": "1Gi"})
        for name, cpu in (("a", "3"), ("b", "0"))
    ]
    container = ContainerMetrics(name="c", usage={"cpu": "1", "memory": "1Gi"})
    pod = PodMetrics(metadata=ObjectMeta(name="p", namespace="default"), containers=[container])
    return MeasuredLoad(nodes, [pod])


def cpu(measured, node):
    return measured.nodes()[node]["cpu"].milli_value()


def test_the_first_sample_counts_as_it_is():
    assert cpu(load(), "a") == 3000


def test_load_follows_the_pod_that_replaces_another():
    measured = load()
    old, new = running(owned("p", "a")), running(owned("q", "b"))
    measured.left(old)
    measured.came(new, old)
    assert cpu(measured, "a") == 3000, "nothing is read before time passes"
    measured.pass_time(5 * SECOND)
    assert (cpu(measured, "a"), cpu(measured, "b")) == (2900, 100), "one reading has a tenth of the weight"
    measured.pass_time(3600 * SECOND)
    # Rounding stops it within five units, as upstream's comment says.
    assert 2000 <= cpu(measured, "a") <= 2005
    assert 995 <= cpu(measured, "b") <= 1000
    assert measured.pod("default", "q") == measured.pod("default", "p")


def test_pods_without_metrics_move_nothing():
    measured = load()
    stranger = running(owned("s", "a"))
    measured.left(stranger)
    measured.came(replace(stranger, spec=replace(stranger.spec, node_name="b")))
    measured.pass_time(3600 * SECOND)
    assert cpu(measured, "a") == 3000
