import msgspec
import pytest
from podium.api import Node, Pod
from podium.testing import make_node, make_pod


def test_nodes():
    node = (
        make_node("n1")
        .capacity(cpu="4", memory="16Gi")
        .capacity({"nvidia.com/gpu": 8})
        .label("zone", "a")
        .annotation("k", "v")
        .taint("gpu", "yes", "NoExecute")
        .image("nginx:latest", 1000)
        .unschedulable()
        .build()
    )
    assert isinstance(node, Node)
    assert node.metadata.labels == {"kubernetes.io/hostname": "n1", "zone": "a"}
    assert node.status.allocatable == {"pods": "110", "cpu": "4", "memory": "16Gi", "nvidia.com/gpu": 8}
    assert node.status.capacity == node.status.allocatable
    assert [(taint.key, taint.value, taint.effect) for taint in node.spec.taints] == [
        ("gpu", "yes", "NoExecute")
    ]
    assert node.spec.unschedulable
    assert node.status.images[0].names == ["nginx:latest"]


def test_pods():
    pod = (
        make_pod("p", "ns")
        .request(cpu="500m", memory="1Gi")
        .init_container({"cpu": "1"}, sidecar=True)
        .host_port(80)
        .overhead(cpu="10m")
        .labels({"app": "web"})
        .priority(7)
        .preemption_policy("Never")
        .scheduler("other")
        .gate("g")
        .group("team")
        .owner("ReplicaSet", "rs")
        .claim("data")
        .toleration("gpu")
        .toleration("k", "v", "NoSchedule")
        .node_selector({"disk": "ssd"})
        .node_affinity("zone", "In", ["a", "b"])
        .node_affinity("gpu", "Exists")
        .prefer_node(5, "zone", "In", ["a"])
        .pod_affinity("zone", {"app": "db"})
        .pod_anti_affinity("host", {"app": "web"}, weight=10)
        .spread("zone", {"app": "web"}, max_skew=2, unsatisfiable="ScheduleAnyway")
        .nominated("n1")
        .created("2024-01-01T00:00:00Z")
        .build()
    )
    spec = pod.spec
    assert isinstance(pod, Pod)
    assert (pod.metadata.namespace, pod.metadata.uid) == ("ns", "pod-ns-p")
    assert spec.containers[0].resources.requests == {"cpu": "500m", "memory": "1Gi"}
    assert spec.init_containers[0].restart_policy == "Always"
    assert spec.containers[1].ports[0].host_port == 80
    assert (spec.priority, spec.preemption_policy, spec.scheduler_name) == (7, "Never", "other")
    assert spec.scheduling_group.pod_group_name == "team"
    assert pod.metadata.owner_references[0].controller
    assert spec.volumes[0].persistent_volume_claim.claim_name == "data"
    assert [(item.key, item.operator) for item in spec.tolerations] == [("gpu", "Exists"), ("k", "Equal")]
    (term,) = spec.affinity.node_affinity.required.node_selector_terms
    assert [item.operator for item in term.match_expressions] == ["In", "Exists"]
    assert spec.affinity.node_affinity.preferred[0].weight == 5
    assert spec.affinity.pod_affinity.required[0].topology_key == "zone"
    assert spec.affinity.pod_anti_affinity.preferred[0].weight == 10
    assert spec.topology_spread_constraints[0].max_skew == 2
    assert pod.status.nominated_node_name == "n1"
    assert msgspec.json.decode(msgspec.json.encode(pod), type=Pod) == pod


@pytest.mark.parametrize("start", [make_node, make_pod])
def test_a_builder_is_a_template(start):
    template = start("x").label("a", "1")
    first, second = template.label("b", "2").build(), template.terminating().build()
    assert "b" not in second.metadata.labels
    assert first.metadata.deletion_timestamp is None
    assert template.build() is not template.build()
    assert template.build() == template.build()
