"""New pods enter the core together where they are alike; nothing may depend on it."""

from unittest import mock

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from podium.api import (
    Affinity,
    Container,
    LabelSelector,
    Node,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Service,
    TopologySpreadConstraint,
)
from podium.api.objects.base import OwnerReference
from podium.api.objects.policy import ServiceSpec
from podium.api.objects.volumes import ClaimReference, Volume
from podium.cluster.port import Applied, Removed
from podium.framework.config import default_config
from podium.scheduler import arrivals
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Observer

AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "6"}
WHERE = [{"kubernetes.io/hostname": f"n{i}", "topology.kubernetes.io/zone": f"z{i}"} for i in range(3)]
NODES = [
    Node(metadata=ObjectMeta(name=f"n{i}", uid=f"n{i}",
                             labels={"disk": "ssd" if i % 2 else "hdd", **WHERE[i]}),
         status=NodeStatus(capacity=AMOUNTS, allocatable=AMOUNTS))
    for i in range(3)
]  # fmt: skip


def _spec(cpu, **more):
    container = Container(name="c", resources=ResourceRequirements(requests={"cpu": cpu}))
    return PodSpec(containers=(container,), scheduler_name="default-scheduler", **more)


_APP = LabelSelector(match_labels={"app": "x"})
_APART = PodAffinity(required=(PodAffinityTerm(label_selector=_APP, topology_key="disk"),))
_SPREAD = TopologySpreadConstraint(
    max_skew=1,
    topology_key="disk",
    when_unsatisfiable="DoNotSchedule",
    label_selector=LabelSelector(),
    match_label_keys=("app",),
)
SPECS = [
    _spec("1"),
    _spec("2"),
    _spec("1", node_selector={"disk": "ssd"}),
    _spec("1", priority=5),
    _spec("1", affinity=Affinity(pod_anti_affinity=_APART)),
    _spec("1", topology_spread_constraints=(_SPREAD,)),
    _spec("3"),
]
BIG = len(SPECS) - 1
SERVICE = Service(
    metadata=ObjectMeta(name="s", namespace="a", uid="s"), spec=ServiceSpec(selector={"app": "x"})
)
OWNER = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="r", uid="r", controller=True)


class Placed(Observer):
    """Keeps who went where, in order."""

    def __init__(self):
        self.nodes = []

    def placed(self, entries, nodes):
        self.nodes += zip((entry.pod.metadata.name for entry in entries), nodes, strict=True)


pods = st.lists(
    st.builds(
        lambda *parts: parts,
        st.integers(0, len(SPECS) - 1),
        st.sampled_from(["a", "b"]),
        st.sampled_from([{}, {"app": "x"}, {"app": "y"}, {"app": "x", "tier": "z"}]),
        st.booleans(),
        st.booleans(),
        st.sampled_from([PodStatus(), PodStatus(nominated_node_name="n1")]),
    ),
    max_size=12,
)


def _pod(number, parts):
    spec, namespace, labels, owned, copied, status = parts
    # Equal specs that are not one object are no template, and equal all the same.
    own = msgspec.structs.replace(SPECS[spec]) if copied else SPECS[spec]
    meta = ObjectMeta(
        name=f"p{number}",
        uid=f"u{number}",
        namespace=namespace,
        labels=dict(labels),
        owner_references=(OWNER,) if owned else (),
    )
    return Pod(metadata=meta, spec=own, status=status)


def _outcome(steps, first=()):
    seen = Placed()
    scheduler = Scheduler(default_config(), seen)
    scheduler.step(map(Applied, [*NODES, *first]), 0, 0)
    for events in steps:
        scheduler.step(events, 0, 0)
    engine, entries = scheduler.engine, list(scheduler.state.entries())
    said = {entry.pod.metadata.name: engine.audit(entry.handle) for entry in entries}
    scheduler.step([], 0)
    said |= {f"{entry.pod.metadata.name} now": engine.audit(entry.handle) for entry in entries}
    return seen.nodes, engine.queue_counts(), engine.totals(), said


@settings(max_examples=60, deadline=None)
@given(pods, st.sampled_from([(), (SERVICE,)]))
def test_together_or_one_by_one_is_the_same(made, first):
    events = [Applied(_pod(number, parts)) for number, parts in enumerate(made)]
    one_by_one = [[event] for event in events]
    with mock.patch.object(arrivals, "_TEMPLATES", 0):
        expected = _outcome(one_by_one, first)
    assert _outcome([events], first) == expected
    assert _outcome(one_by_one, first) == expected
    with mock.patch.object(arrivals, "_TEMPLATES", 2):
        assert _outcome(one_by_one, first) == expected


def _last(spec, app, *more):
    """Return where a pod goes after others of its kind but for labels, beside one that has app=x."""
    seen = Placed()
    scheduler = Scheduler(default_config(), seen)
    kinds = [(spec, "x"), (BIG, "y"), (0, "y"), (0, app)]
    first, *others = (
        Applied(_pod(number, (spec, "a", {"app": app}, False, False, PodStatus())))
        for number, (spec, app) in enumerate(kinds)
    )
    scheduler.step([*map(Applied, [NODES[1], *more]), first], 0)
    scheduler.step([Applied(NODES[0]), *others], 0)
    assert [node for _, node in seen.nodes[:-1]] == ["n1", "n0", "n1"]
    return seen.nodes[-1][1]


def test_pods_that_terms_of_others_can_tell_apart_are_not_alike():
    assert _last(4, "y") == "n1", "the emptier node"
    assert _last(4, "x") == "n0", "the first pod stays away from it"


def test_pods_that_services_can_tell_apart_are_not_alike():
    assert _last(0, "y", SERVICE) == "n1", "the emptier node"
    assert _last(0, "x", SERVICE) == "n0", "the Service selects the first pod too"
    assert _last(0, "x") == "n1", "there is no Service"


def test_a_pod_that_is_told_twice_is_one_pod_as_told_last():
    small, large = (_pod(0, (spec, "a", {}, False, False, PodStatus())) for spec in (0, 1))
    scheduler = Scheduler(default_config())
    scheduler.step([*map(Applied, NODES), Applied(small), Applied(large)], 0)
    assert len(list(scheduler.state.entries())) == 1
    assert scheduler.engine.totals()["cpu"] == (12_000, 2_000)


def test_more_pods_than_enter_together_all_enter():
    made = [Applied(_pod(number, (0, "a", {}, False, False, PodStatus()))) for number in range(2_500)]
    scheduler = Scheduler(default_config())
    scheduler.step(made, 0, 0)
    assert scheduler.engine.queue_counts()["active"] == 2_500


@settings(max_examples=60, deadline=None)
@given(pods, st.integers(1, 4), st.sampled_from([1, 2, 1280]))
def test_likes_tell_pods_apart_from_those_of_other_calls(made, step, templates):
    """Gangs are told apart by them among all pods that come at once, however many calls bring them in."""
    arriving = arrivals.Arrivals(Scheduler(default_config()).engine)
    made = [_pod(number, parts) for number, parts in enumerate(made)]
    of_like = {}
    with mock.patch.object(arrivals, "_TEMPLATES", templates):
        for start in range(0, len(made), step):
            arrived = arriving.add(made[start : start + step], lambda _: True)
            for pod, like in zip(arrived.pods, arrived.likes.tolist(), strict=True):
                said = msgspec.structs.replace(pod.metadata, name="", uid=""), pod.spec, pod.status
                assert of_like.setdefault(like, said) == said
    assert not made or min(of_like) >= 0


def test_pods_like_no_other_are_so_in_all_calls():
    volume = (Volume(name="v", persistent_volume_claim=ClaimReference(claim_name="c")),)
    made = [_pod(number, (0, "a", {}, False, False, PodStatus())) for number in range(5)]
    made = [msgspec.structs.replace(p, spec=msgspec.structs.replace(p.spec, volumes=volume)) for p in made]
    arriving = arrivals.Arrivals(Scheduler(default_config()).engine)
    likes = [
        like
        for some in (made[:3], made[3:4], made[4:])
        for like in arriving.add(some, lambda _: True).likes.tolist()
    ]
    assert len(set(likes)) == 5


def test_a_pod_that_goes_in_the_same_breath_is_gone():
    first, second = (_pod(number, (0, "a", {}, False, False, PodStatus())) for number in range(2))
    seen = Placed()
    scheduler = Scheduler(default_config(), seen)
    scheduler.step([*map(Applied, NODES), Applied(first), Applied(second), Removed(first)], 0)
    assert [name for name, _ in seen.nodes] == ["p1"]


def test_a_node_that_returns_under_another_name_has_its_own():
    """Rows are taken again; names must not be those of nodes that are gone."""
    seen = Placed()
    scheduler = Scheduler(default_config(), seen)
    other = msgspec.structs.replace(NODES[0], metadata=ObjectMeta(name="other", uid="other"))
    pod = _pod(0, (0, "a", {}, False, False, PodStatus()))
    scheduler.step([Applied(NODES[0]), Removed(NODES[0]), Applied(other), Applied(pod)], 0)
    assert seen.nodes == [("p0", "other")]
