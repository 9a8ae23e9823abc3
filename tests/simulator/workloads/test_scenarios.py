"""The scenarios: what the side-by-side programs make, and what each promises of itself."""

from collections import Counter

import msgspec
import pytest
from podium._core import Quantity
from podium.api import DaemonSet, Node, Pod, ReplicaSet, to_wire
from podium.simulator.workloads import SCENARIOS, Change, Workload


def build(name: str, nodes: int = 20, pods: int = 200) -> Workload:
    return SCENARIOS[name].build(nodes, pods)


def wire(item: Node | Pod) -> dict:
    """The JSON of an object, without its empty parts."""
    body = msgspec.json.decode(msgspec.json.encode(to_wire(item)))
    return {name: part for name, part in body.items() if part != {}}


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_has_the_nodes_of_inproc(name: str) -> None:
    nodes = build(name, nodes=12).nodes
    assert len(nodes) == 12
    amounts = {"cpu": "32", "memory": "256Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    assert wire(nodes[11]) == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "node-00011",
            "uid": "node-00011",
            "labels": {"kubernetes.io/hostname": "node-00011", "topology.kubernetes.io/zone": "z1"},
        },
        "status": {"capacity": amounts, "allocatable": amounts},
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_makes_distinct_pods(name: str) -> None:
    pods = 10_000 if name == "gang5000" else 3_000
    workload = build(name, pods=pods)
    assert len(workload.pods) == pods
    everyone = [*workload.pods, *workload.bound, *workload.parked]
    assert len({(p.metadata.namespace, p.metadata.name) for p in everyone}) == len(everyone)
    assert len({p.metadata.uid for p in everyone}) == len(everyone)
    assert all(p.spec.node_name == "" for p in [*workload.pods, *workload.parked])


def test_the_pod_of_basic() -> None:
    resources = {"requests": {"cpu": "100m", "memory": "500Mi"}}
    assert wire(build("basic").pods[7]) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p-000007", "namespace": "default", "uid": "u-000007", "labels": {"app": "a"}},
        "spec": {
            "containers": [{"name": "c", "image": "pause", "resources": resources}],
            "schedulerName": "default-scheduler",
        },
    }


def test_the_sizes_of_hetero_are_go_s() -> None:
    requests = [p.spec.containers[0].resources.requests for p in build("hetero").pods[:4]]
    assert requests == [
        {"cpu": "131m", "memory": "7951Mi"},
        {"cpu": "1897m", "memory": "123Mi"},
        {"cpu": "131m", "memory": "5382Mi"},
        {"cpu": "475m", "memory": "2604Mi"},
    ]


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        (
            "spread",
            "topologySpreadConstraints",
            [
                {
                    "maxSkew": 5,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "a"}},
                }
            ],
        ),
        (
            "anti",
            "affinity",
            {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {"matchLabels": {"app": "a"}},
                        }
                    ]
                }
            },
        ),
        (
            "affinity",
            "affinity",
            {
                "podAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 1,
                            "podAffinityTerm": {
                                "topologyKey": "topology.kubernetes.io/zone",
                                "labelSelector": {"matchLabels": {"app": "a"}},
                            },
                        }
                    ]
                }
            },
        ),
    ],
)
def test_the_constraints_of_inproc(name: str, field: str, expected: object) -> None:
    assert wire(build(name).pods[0])["spec"][field] == expected


@pytest.mark.parametrize("name", [n for n in SCENARIOS if n not in ("hetero", "mixed", "daemonset")])
def test_equal_templates_share_their_spec(name: str) -> None:
    assert len({id(p.spec) for p in build(name).pods}) <= 2


def test_the_replica_sets_of_deployment_own_their_pods() -> None:
    workload = build("deployment", pods=250)
    sets = {o.metadata.name: o for o in workload.objects if isinstance(o, ReplicaSet)}
    owned = Counter(p.metadata.owner_references[0].name for p in workload.pods)
    assert {name: item.spec.replicas for name, item in sets.items()} == owned
    assert len(owned) == 100


def test_mixed_is_a_thousand_shuffled_templates() -> None:
    pods = build("mixed", pods=3_000).pods
    assert set(Counter(id(p.spec) for p in pods).values()) == {3}
    assert [p.metadata.labels["app"] for p in pods] != sorted(p.metadata.labels["app"] for p in pods)


def test_daemons_are_pinned_one_to_a_node_and_set() -> None:
    pods = build("daemonset", nodes=20, pods=50).pods
    pins = []
    for p in pods:
        assert p.spec.affinity is not None
        assert p.spec.affinity.node_affinity is not None
        assert p.spec.affinity.node_affinity.required is not None
        (term,) = p.spec.affinity.node_affinity.required.node_selector_terms
        (field,) = term.match_fields
        assert (field.key, field.operator) == ("metadata.name", "In")
        pins.append((p.metadata.owner_references[0].name, field.values[0]))
    assert len(set(pins)) == 50
    assert {p.metadata.owner_references[0].kind for p in pods} == {DaemonSet.__name__}


@pytest.mark.parametrize(("pods", "share"), [(5, 1), (10, 1), (25, 3), (100, 10)])
def test_each_preemptor_needs_three_victims_of_a_full_node(pods: int, share: int) -> None:
    workload = build("preemption", nodes=10, pods=pods)
    on_nodes = Counter(p.spec.node_name for p in workload.bound)
    assert on_nodes == {n.metadata.name: 4 * share for n in workload.nodes}
    low, high = (_milli(some[0]) for some in (workload.bound, workload.pods))
    free = 32_000 - 4 * share * low
    assert free + 2 * low < high <= free + 3 * low
    assert {p.spec.priority for p in workload.bound} == {0}
    assert {p.spec.priority for p in workload.pods} == {10}


def _milli(pod: Pod) -> int:
    return Quantity(pod.spec.containers[0].resources.requests["cpu"]).milli_value()


def test_the_events_of_unschedulable_help_nobody() -> None:
    workload = build("unschedulable", nodes=20, pods=2_000)
    assert len(workload.parked) == 20_000
    assert workload.parked[0].spec.containers[0].resources.requests["cpu"] == "64"
    assert [s.after for s in workload.steps] == list(range(100, 2_000, 100))
    kinds = Counter((s.change, type(s.item).__name__) for s in workload.steps)
    assert kinds == {
        (Change.UPDATE, "Node"): 5,
        (Change.ADD, "Node"): 5,
        (Change.DELETE, "Pod"): 5,
        (Change.ADD, "Pod"): 4,
    }
    known = {n.metadata.name for n in workload.nodes}
    assert all(s.item.metadata.name not in known for s in workload.steps if s.change is Change.ADD)


def test_churn_deletes_as_many_as_it_binds() -> None:
    workload = build("churn", pods=5_000)
    gone = [s.item.metadata.name for s in workload.steps]
    assert gone == [p.metadata.name for p in workload.pods[: len(gone)]]
    assert len(gone) == 4_500
    alive = {s.after: 0 for s in workload.steps}
    for step in workload.steps:
        alive[step.after] += 1
    assert set(alive.values()) == {100}
    assert all(int(s.item.metadata.name[2:]) < s.after for s in workload.steps)


@pytest.mark.parametrize(("name", "members"), [("gang3", 3), ("gang1000", 1_000), ("gang5000", 5_000)])
def test_gangs_are_whole_and_stand_together(name: str, members: int) -> None:
    pods = build(name, pods=10_000).pods
    gangs = [p.metadata.labels["gang.example.com/name"] for p in pods]
    assert set(Counter(gangs).values()) == {members}
    assert gangs == sorted(gangs)
    assert {p.metadata.annotations["gang.example.com/min-available"] for p in pods} == {str(members)}


def test_drf_has_a_thousand_tenants_of_two_kinds() -> None:
    workload = build("drf", pods=4_000)
    assert workload.queue_order == "drf"
    assert set(Counter(p.metadata.namespace for p in workload.pods).values()) == {4}
    assert len({o.metadata.name for o in workload.objects}) == 1_000
