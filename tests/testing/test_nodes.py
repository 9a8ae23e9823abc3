import numpy as np
import pytest
from podium.framework.nodes import NodesView
from podium.testing import FakeHandle, make_node, make_pod, node_view
from podium.testing.requests import nonzero_requests, pod_requests


def view(**options) -> NodesView:
    nodes = [
        make_node("a").capacity(cpu="4", memory="8Gi").label("zone", "x").taint("t").build(),
        make_node("b").capacity(cpu="1500m").build(),
        make_node("c").label("zone", "x").label("disk", "ssd").taint("t").build(),
    ]
    pods = [
        make_pod("p").request(cpu="100m", memory="1Gi").node("a").build(),
        make_pod("q").request(cpu="1").node("a").build(),
        make_pod("r").request().node("c").build(),
        make_pod("waiting").request(cpu="9").build(),
    ]
    return node_view(nodes, pods, **options)


def test_columns():
    nodes = view(columns={"load": [0.5, 0.0, 1.0]})
    assert len(nodes) == 3
    assert nodes.names.tolist() == ["a", "b", "c"]
    assert nodes.candidates.all()
    assert nodes.allocatable("cpu").tolist() == [4000, 1500, 0]
    assert nodes.allocatable("memory").tolist() == [8 << 30, 0, 0]
    assert nodes.requested("cpu").tolist() == [1100, 0, 0]
    assert nodes.nonzero_requested("cpu").tolist() == [1100, 0, 100]
    assert nodes.nonzero_requested("memory").tolist() == [(1 << 30) + (200 << 20), 0, 200 << 20]
    assert nodes.pod_count().tolist() == [2, 0, 1]
    assert nodes.labels("zone").tolist() == ["x", None, "x"]
    zone = nodes.label("zone")
    assert (zone.codes.tolist(), zone.values) == ([0, -1, 0], ("x",))
    assert nodes.taints().codes.tolist() == [0, 1, 0]
    assert nodes.column("load").tolist() == [0.5, 0.0, 1.0]
    assert nodes.index("c") == 2
    with pytest.raises(KeyError):
        nodes.index("z")


def test_columns_are_read_only():
    nodes = view(columns={"load": [1, 2, 3]})
    columns = [
        nodes.names,
        nodes.candidates,
        nodes.allocatable("cpu"),
        nodes.requested("cpu"),
        nodes.pod_count(),
        nodes.labels("zone"),
        nodes.label("zone").codes,
        nodes.taints().codes,
        nodes.column("load"),
        nodes.with_candidates(np.zeros(3, np.bool_)).candidates,
    ]
    for column in columns:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[1]


def test_rows_say_what_the_columns_say():
    nodes = view(columns={"load": [1, 2, 3]})
    row = nodes.row(0)
    assert (row.name, row.allocatable("cpu"), row.requested("cpu"), row.column("load")) == (
        "a",
        4000,
        1100,
        1,
    )
    assert row.labels["zone"] == "x"
    assert row.taints[0].key == "t"


def test_selecting_rows():
    nodes = view(candidates=[True, False, True], columns={"load": [1, 2, 3]}).select([2, 0])
    assert nodes.names.tolist() == ["c", "a"]
    assert nodes.requested("cpu").tolist() == [0, 1100]
    assert nodes.column("load").tolist() == [3, 1]


def test_requests_follow_upstreams_formula():
    pod = (
        make_pod()
        .request(cpu="1", memory="100Mi")
        .request(cpu="500m")
        .init_container({"cpu": "200m"}, sidecar=True)
        .init_container({"cpu": "3", "memory": "50Mi"})
        .overhead(cpu="0.5m")
        .build()
    )
    # Running: 1 + 0.5 + 0.2; starting: 0.2 + 3; overhead on top, rounded up.
    assert pod_requests(pod) == {"cpu": 3201, "memory": 100 << 20}
    assert nonzero_requests(make_pod().request().build()) == {"cpu": 100, "memory": 200 << 20}


def test_handle():
    pod = make_pod("p").request(cpu="3").build()
    handle = FakeHandle([make_node("a").capacity(cpu="4").build(), make_node("b").capacity(cpu="2").build()])
    handle.register_column("load", np.float64, 0.0)
    handle.update_column("load", {"b": 0.5, "gone": 1.0})
    assert handle.snapshot().column("load").tolist() == [0.0, 0.5]

    held = handle.hold(pod, "a", ["X", "Y"])
    assert [waiting.pod for waiting in handle.iterate_over_waiting_pods()] == [pod]
    handle.get_waiting_pod(pod.metadata.uid).allow("X")
    assert held.pending_plugins == ("Y",)
    held.allow("Y")
    assert held.decision == "allowed"
    assert not held.reject("Y", "late")
    assert handle.get_waiting_pod(pod.metadata.uid) is None

    with handle.overlay() as overlay:
        assert overlay.feasible(pod) == ("a",)
        overlay.place(pod, "a")
        assert overlay.nodes().requested("cpu").tolist() == [3000, 0]
        assert overlay.feasible(pod) == ()
        overlay.evict(pod)
        assert overlay.feasible(pod) == ("a",)
    assert handle.snapshot().requested("cpu").tolist() == [0, 0]

    handle.record_event(pod, "Waiting", "for friends", warning=True)
    handle.activate([pod])
    assert handle.events[0].warning
    assert handle.activated == [pod]
