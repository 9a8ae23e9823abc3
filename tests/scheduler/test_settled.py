"""Pods that are on nodes already enter the core together; one by one, or slowly, it is the same."""

from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.api import (
    Condition,
    Container,
    ContainerStatus,
    Node,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Volume,
)
from podium.api.objects.base import Opaque
from podium.api.objects.volumes import ClaimReference, EphemeralVolume, GcePersistentDisk
from podium.cluster.port import Applied, Removed
from podium.framework.config import default_config
from podium.scheduler.loop import Scheduler
from podium.testing import make_node, make_pod

SIZE = {"cpu": "8", "memory": "16Gi", "pods": "20"}
NODES = [
    Node(metadata=ObjectMeta(name=f"n{i}", uid=f"n{i}"), status=NodeStatus(capacity=SIZE, allocatable=SIZE))
    for i in range(3)
]
RESIZED = ContainerStatus(name="c", allocated_resources={"cpu": "2"})
STATUSES = [
    PodStatus(phase="Running"),
    PodStatus(phase="Running", start_time="2026-03-02T07:00:00Z"),
    PodStatus(phase="Running", container_statuses=[RESIZED]),
    PodStatus(phase="Running", conditions=[Condition(type="PodResizePending", reason="Infeasible")]),
    PodStatus(phase="Succeeded"),
    PodStatus(phase="Failed"),
]


def bound(number: int, cpu: str, node: str, status: PodStatus, **more) -> Pod:
    container = Container(name="c", resources=ResourceRequirements(requests={"cpu": cpu}))
    spec = PodSpec(containers=[container], node_name=node, scheduler_name="default-scheduler", **more)
    return Pod(
        metadata=ObjectMeta(name=f"p{number}", uid=f"p{number}", namespace="a"), spec=spec, status=status
    )


VOLUMES = [
    (),
    (Volume(name="config", config_map=Opaque()),),
    (Volume(name="other", config_map=Opaque()),),
    (Volume(name="data", persistent_volume_claim=ClaimReference(claim_name="c")),),
    (Volume(name="data", ephemeral=EphemeralVolume()),),
    (Volume(name="disk", gce_persistent_disk=GcePersistentDisk(pd_name="d")),),
    (Volume(name="disk", gce_persistent_disk=GcePersistentDisk(pd_name="e", read_only=True)),),
]

parts = st.lists(
    st.tuples(
        st.sampled_from(["1", "500m"]),
        st.sampled_from(["n0", "n1", "n2", "gone", ""]),
        st.sampled_from(STATUSES),
        st.sampled_from([None, {"nodeName": "n0"}, {"nodeName": "n1"}]),
        st.sampled_from(VOLUMES),
    ),
    max_size=12,
)


def books(scheduler: Scheduler, number: int) -> object:
    """What the core says of the next pod on every node, and how much is left there."""
    probe = bound(number, "7", "", PodStatus(phase="Pending"), volumes=VOLUMES[-2])
    scheduler.step([Applied(probe)], 0, 0)
    entry = scheduler.state.entry(probe.metadata.uid)
    assert entry is not None
    explained = scheduler.engine.explain(entry.handle)
    scheduler.step([Removed(probe)], 0, 0)
    return msgspec.to_builtins(explained)


@settings(max_examples=40, deadline=None)
@given(parts)
def test_together_is_as_one_by_one(given_parts):
    pods = [
        bound(at, cpu, node, status, node_selector=selector, volumes=volumes)
        for at, (cpu, node, status, selector, volumes) in enumerate(given_parts)
    ]
    together, slowly = Scheduler(default_config()), Scheduler(default_config())
    # The one reads every pod, the other those alone of which it has read none alike.
    together.step([*map(Applied, NODES), *map(Applied, pods)], 0, 0)
    with patch("podium.scheduler.settling.likeness", lambda pod: pod.metadata.uid.encode()):
        for item in (*NODES, *pods):
            slowly.step([Applied(item)], 0, 0)
    assert books(together, len(pods)) == books(slowly, len(pods))
    for pod in pods[::2]:
        for scheduler in (together, slowly):
            scheduler.step([Removed(pod)], 0, 0)
    assert books(together, len(pods)) == books(slowly, len(pods))


@pytest.mark.parametrize("number", [1, 3000])
def test_all_are_there(number):
    pods = [bound(at, "1m", f"n{at % 3}", STATUSES[0]) for at in range(number)]
    scheduler = Scheduler(default_config())
    scheduler.step([*map(Applied, NODES), *map(Applied, [*pods, *pods])], 0, 0)
    assert [entry.node for entry in scheduler.state.entries()] == [pod.spec.node_name for pod in pods]
    assert len({entry.handle for entry in scheduler.state.entries()}) == number


def test_who_waits_hears_of_them():
    waiting = make_pod("waiting").pod_affinity("kubernetes.io/hostname", {"app": "friend"}).build()
    node = make_node("n").capacity(cpu="8").build()
    friends = [
        make_pod(f"f{at}").label("app", app).node("n").build() for at, app in enumerate(("x", "friend"))
    ]
    scheduler = Scheduler(default_config())
    scheduler.step([Applied(node), Applied(waiting)], 0)
    entry = scheduler.state.entry(waiting.metadata.uid)
    assert entry is not None
    assert scheduler.engine.pool(entry.handle) == "unschedulable"
    scheduler.step([Applied(friends[0])], 1, 0)
    assert scheduler.engine.pool(entry.handle) == "unschedulable"
    scheduler.step([Applied(friends[1])], 2, 0)
    assert scheduler.engine.pool(entry.handle) == "backoff"
