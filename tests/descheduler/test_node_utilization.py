"""LowNodeUtilization and HighNodeUtilization, by requests, by metrics, by a query."""

import pytest
from msgspec.structs import replace
from podium._core import Quantity
from podium.descheduler.plugins.node_utilization.usage import read_vector
from podium.descheduler.profile import Sources
from podium.errors import PodiumError

from tests.descheduler.scene import cycle, evicted, node, owned, per_node, policy, running

LOW, HIGH = "LowNodeUtilization", "HighNodeUtilization"


def low(thresholds, targets, **args):
    return policy(LOW, {"thresholds": thresholds, "targetThresholds": targets, **args})


def fill(on, count, cpu="500m", memory="1Gi", **builder):
    pods = []
    for number in range(count):
        made = owned(f"{on}-{number}", on).request(cpu=cpu, memory=memory)
        pods.append(running(made.priority(builder.get("priority", number))))
    return pods


def cordoned(item):
    return replace(item, spec=replace(item.spec, unschedulable=True))


BODY = low({"cpu": 20, "memory": 20, "pods": 20}, {"cpu": 50, "memory": 50, "pods": 50})


class TestLow:
    def test_until_the_target_is_reached_lowest_priority_first(self):
        objects = [node("hot"), node("new"), *fill("hot", 7)]
        assert evicted(objects, BODY) == ["hot-0", "hot-1", "hot-2"]

    def test_nothing_without_both_kinds_of_nodes(self):
        assert evicted([node("a"), node("b"), *fill("a", 7), *fill("b", 3)], BODY) == []
        assert evicted([node("a"), node("b"), *fill("a", 1)], BODY) == []

    def test_number_of_nodes(self):
        objects = [node("hot"), node("new"), *fill("hot", 7)]
        limited = low({"cpu": 20}, {"cpu": 50}, numberOfNodes=1)
        assert evicted(objects, limited) == []

    def test_a_cordoned_node_is_not_under(self):
        assert evicted([node("hot"), cordoned(node("new")), *fill("hot", 7)], BODY) == []

    def test_the_destinations_take_no_more_than_they_have_room_for(self):
        objects = [node("hot", cpu="100"), node("new", cpu="1"), *fill("hot", 180, priority=0)]
        assert len(evicted(objects, low({"cpu": 20}, {"cpu": 50}))) == 1

    def test_a_resource_without_threshold_stops_too(self):
        objects = [node("hot"), node("new", memory="16Gi"), *fill("hot", 7), *fill("new", 1, "10m", "16Gi")]
        assert evicted(objects, low({"cpu": 20}, {"cpu": 50})) == []

    def test_one_toleration_for_all_taints_is_not_enough_for_two_taints(self):
        from podium.testing import make_node

        new = make_node("new").capacity(cpu="4", memory="16Gi").taint("a").taint("b").build()
        pods = [
            running(owned(f"p{i}", "hot").request(cpu="500m").toleration("").priority(i)) for i in range(7)
        ]
        assert evicted([node("hot"), new, *pods], BODY) == []
        two = [
            running(owned(f"p{i}", "hot").request(cpu="500m").toleration("a").toleration("b").priority(i))
            for i in range(7)
        ]
        assert evicted([node("hot"), new, *two], BODY) == ["p0", "p1", "p2"]

    def test_namespaces_that_only_count(self):
        objects = [node("hot"), node("new"), *fill("hot", 7)]
        body = low({"cpu": 20}, {"cpu": 50}, evictableNamespaces={"exclude": ["default"]})
        assert evicted(objects, body) == []

    def test_limits(self):
        objects = [node("hot"), node("new"), *fill("hot", 7)]
        assert per_node(objects, low({"cpu": 20}, {"cpu": 50}, evictionLimits={"node": 1})) == {"hot": 1}
        assert per_node(objects, {**BODY, "maxNoOfPodsToEvictPerNode": 2}) == {"hot": 2}

    def test_deviations_from_the_average(self):
        objects = [node("a"), node("b"), node("c"), *fill("a", 5), *fill("b", 3), *fill("c", 1)]
        body = low({"cpu": 10}, {"cpu": 10}, useDeviationThresholds=True)
        assert per_node(objects, body) == {"a": 2}


class TestHigh:
    body = policy(HIGH, {"thresholds": {"cpu": 20, "memory": 20}})

    def test_empties_what_is_little_used(self):
        objects = [node("idle"), node("busy"), *fill("idle", 1), *fill("busy", 4)]
        assert per_node(objects, self.body) == {"idle": 1}

    def test_nothing_if_all_are_idle_or_the_rest_is_cordoned(self):
        assert per_node([node("a"), node("b"), *fill("a", 1)], self.body) == {}
        objects = [node("idle"), cordoned(node("busy")), *fill("idle", 1), *fill("busy", 4)]
        assert per_node(objects, self.body) == {}

    def test_only_pods_that_ask_for_a_resource_with_a_threshold(self):
        args = {"thresholds": {"cpu": 20}, "evictionModes": ["OnlyThresholdingResources"]}
        pods = [
            running(owned("no", "idle").request(memory="1Gi")),
            running(owned("yes", "idle").request(cpu="1m")),
        ]
        assert evicted([node("idle"), node("busy"), *pods, *fill("busy", 4)], policy(HIGH, args)) == ["yes"]


class Metrics:
    def __init__(self, nodes, pods):
        self._nodes = {n: {"cpu": Quantity(c), "memory": Quantity("1Gi")} for n, c in nodes.items()}
        self._pods = pods

    def nodes(self):
        return self._nodes

    def pod(self, namespace, name):
        cpu = self._pods.get(name)
        return {"c0": {"cpu": Quantity(cpu), "memory": Quantity("1Gi")}} if cpu else None


class Server:
    def __init__(self, **samples):
        result = [{"metric": {"instance": n}, "value": [0, v]} for n, v in samples.items()]
        self.data = {"resultType": "vector", "result": result}

    def query(self, query):
        assert query == "load"
        return self.data


class TestMeasured:
    body = low({"cpu": 20}, {"cpu": 50}, metricsUtilization={"source": "KubernetesMetrics"})
    objects = (node("hot"), node("new"), *fill("hot", 4, cpu="1m"))

    def test_load_counts_instead_of_requests(self):
        metrics = Metrics({"hot": "3500m", "new": "0"}, {f"hot-{i}": "800m" for i in range(4)})
        assert evicted(list(self.objects), self.body, sources=Sources(metrics)) == ["hot-0", "hot-1"]

    def test_a_pod_without_a_sample_stays(self):
        metrics = Metrics({"hot": "3500m", "new": "0"}, {"hot-3": "2"})
        assert evicted(list(self.objects), self.body, sources=Sources(metrics)) == ["hot-3"]

    def test_a_node_without_a_sample_fails_the_plugin(self):
        done = cycle(list(self.objects), self.body, sources=Sources(Metrics({"hot": "3500m"}, {})))
        assert [failure.message for failure in done.failures] == [
            'error getting node usage: unable to find node "new" in the collected metrics'
        ]
        assert not done.evicted

    def test_no_provider(self):
        (failure,) = cycle(list(self.objects), self.body).failures
        assert failure.message == "error initializing usage client: metrics client not initialized"


QUERY = {"metricsUtilization": {"source": "Prometheus", "prometheus": {"query": "load"}}}


class TestQueried:
    body = low({"MetricResource": 20}, {"MetricResource": 50}, **QUERY)
    objects = (node("hot"), node("new"), *fill("hot", 4, cpu="1m"))

    def test_one_pod_per_node_without_a_limit(self):
        sources = Sources(prometheus=Server(hot="0.9", new="0.1"))
        assert evicted(list(self.objects), self.body, sources=sources) == ["hot-0"]
        more = low({"MetricResource": 20}, {"MetricResource": 50}, evictionLimits={"node": 3}, **QUERY)
        assert len(evicted(list(self.objects), more, sources=sources)) == 3

    @pytest.mark.parametrize(
        ("samples", "text"),
        [
            ({"hot": "0.9"}, "unable to find metric entry for new"),
            ({"hot": "1.1", "new": "0"}, 'sample for "hot" has value 1.1 outside of <0; 1> interval'),
            ({"hot": "NaN", "new": "0"}, 'sample for "hot" has value NaN outside'),
        ],
    )
    def test_a_bad_sample_fails_the_plugin(self, samples, text):
        done = cycle(list(self.objects), self.body, sources=Sources(prometheus=Server(**samples)))
        assert text in done.failures[0].message
        assert not done.evicted


def test_samples_are_cut_to_whole_percent_as_upstream_does():
    assert read_vector(Server(a="0.29", b="0.58").data) == {"a": 28, "b": 57}


def test_only_vectors():
    with pytest.raises(PodiumError, match='type "vector", got "matrix"'):
        read_vector({"resultType": "matrix", "result": []})
