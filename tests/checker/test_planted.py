"""Violations planted one by one: each must be reported as its kind, and the honest twin must be clean."""

from typing import NamedTuple

import pytest

from tests.checker import RULES, check
from tests.checker.builders import (
    HOST,
    ZONE,
    answer,
    at_node,
    claim,
    csi_node,
    node,
    on_same,
    pod,
    spread_over,
    storage_class,
    using,
    volume,
)


class Plant(NamedTuple):
    """Objects, placements that break one rule, and placements that keep it."""

    kind: str
    objects: list[dict]
    wrong: dict
    right: dict


AB = [node("a", zone="a"), node("b", zone="b")]
TAINT = {"key": "only", "value": "gpu", "effect": "NoSchedule"}
PORT = [{"containerPort": 80, "hostPort": 8080}]
DISK = [{"name": "d", "gcePersistentDisk": {"pdName": "disk-1"}}]
HOST_USERS = {"hostNetwork": True, "hostUsers": False}
STATIC = [storage_class(), volume("pv-a", zone="a"), claim("c1"), claim("c2")]
SPREAD = {"topologySpreadConstraints": [spread_over(ZONE, app="x")]}


def to_a(*names: str) -> dict:
    return answer(*((name, "a") for name in names))


PLANTS = [
    Plant(
        "resources",
        [*AB, pod("p", {"cpu": "3"}), pod("q", {"cpu": "1001m"})],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant(
        "resources",
        [
            node("a", allocatable={"example.com/gpu": "1"}),
            node("b", allocatable={"example.com/gpu": "2"}),
            pod("p", {"example.com/gpu": "2"}),
        ],
        to_a("p"),
        answer(("p", "b")),
    ),
    Plant(
        "pods",
        [node("a", allocatable={"pods": "1"}), node("b"), pod("p"), pod("q")],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant(
        "ports",
        [*AB, pod("p", ports=PORT), pod("q", ports=PORT)],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant("taints", [node("a", taints=[TAINT]), node("b"), pod("p")], to_a("p"), answer(("p", "b"))),
    Plant(
        "unschedulable", [node("a", unschedulable=True), node("b"), pod("p")], to_a("p"), answer(("p", "b"))
    ),
    Plant(
        "node-affinity",
        [*AB, pod("p", affinity=at_node(ZONE, "b"))],
        to_a("p"),
        answer(("p", "b")),
    ),
    Plant("node-name", [*AB, pod("p", nodeName="b")], to_a("p"), answer(("p", "b"))),
    Plant(
        "spread",
        [*AB, *(pod(n, **SPREAD) for n in "pq")],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant(
        "pod-affinity",
        [*AB, pod("p", labels={"app": "db"}), pod("q", affinity=on_same(ZONE, "podAffinity", app="db"))],
        answer(("p", "a"), ("q", "b")),
        to_a("p", "q"),
    ),
    Plant(
        "pod-anti-affinity",
        [*AB, pod("p", labels={"app": "db"}), pod("q", affinity=on_same(HOST, "podAntiAffinity", app="db"))],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant(
        "existing-anti-affinity",
        [*AB, pod("p", affinity=on_same(HOST, "podAntiAffinity", app="db")), pod("q", labels={"app": "db"})],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant(
        "volume-affinity",
        [*AB, volume("pv", zone="b"), claim("c", volume="pv"), pod("p", volumes=using("c"))],
        to_a("p"),
        answer(("p", "b")),
    ),
    Plant(
        "volume-zone",
        [*AB, volume("pv", labels={ZONE: "b"}), claim("c", volume="pv"), pod("p", volumes=using("c"))],
        to_a("p"),
        answer(("p", "b")),
    ),
    Plant(
        "single-pod-claim",
        [
            *AB,
            volume("pv"),
            claim("c", volume="pv", mode="ReadWriteOncePod"),
            *(pod(n, volumes=using("c")) for n in "pq"),
        ],
        answer(("p", "a"), ("q", "b")),
        answer(("p", "a"), pending=("q",)),
    ),
    Plant(
        "csi-limits",
        [
            *AB,
            csi_node("a", csi_example_com=1),
            volume("v1"),
            volume("v2"),
            claim("c1", volume="v1"),
            claim("c2", volume="v2"),
            pod("p", volumes=using("c1")),
            pod("q", volumes=using("c2")),
        ],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant(
        "volume-assumption",
        [*AB, *STATIC, pod("p", volumes=using("c1")), pod("q", volumes=using("c2"))],
        to_a("p", "q"),
        answer(("p", "a"), pending=("q",)),
    ),
    Plant(
        "disk-conflict",
        [*AB, pod("p", volumes=DISK), pod("q", volumes=DISK)],
        to_a("p", "q"),
        answer(("p", "a"), ("q", "b")),
    ),
    Plant("claims", [*AB, pod("p", volumes=using("none"))], to_a("p"), answer(pending=("p",))),
    Plant(
        "features",
        [node("a"), node("b", declaredFeatures=["UserNamespacesHostNetworkSupport"]), pod("p", **HOST_USERS)],
        to_a("p"),
        answer(("p", "b")),
    ),
    Plant("pending-fits", [*AB, pod("p", {"cpu": "4"})], answer(pending=("p",)), to_a("p")),
    Plant("lost", [*AB, pod("p")], answer(), to_a("p")),
    Plant("twice", [*AB, pod("p")], answer(("p", "a"), ("p", "b")), to_a("p")),
    Plant(
        "not-to-be-placed",
        [*AB, pod("p", schedulingGates=[{"name": "wait"}])],
        to_a("p"),
        answer(pending=("p",)),
    ),
    Plant("not-to-be-placed", [*AB, pod("p", schedulerName="other")], to_a("p"), answer(pending=("p",))),
    Plant(
        "preemption",
        [node("a"), pod("p", {"cpu": "4"}, nodeName="a", priority=5), pod("q", {"cpu": "4"}, priority=5)],
        answer(("q", "a"), evicted=[{"pod": "default/p", "by": "default/q", "reason": "preempted"}]),
        answer(pending=("q",)),
    ),
]


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.kind)
def test_a_planted_violation_is_reported(plant: Plant) -> None:
    assert plant.kind in {v.kind for v in check(plant.objects, plant.wrong)}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.kind)
def test_the_honest_twin_is_clean(plant: Plant) -> None:
    assert check(plant.objects, plant.right) == []


def test_every_kind_of_constraint_is_planted() -> None:
    assert RULES.keys() <= {plant.kind for plant in PLANTS}


def test_a_placement_is_judged_at_its_moment_and_not_at_the_end() -> None:
    """Both orders end alike; only one of them kept the skew all the way."""
    objects = [*AB, *(pod(n, **SPREAD) for n in "pqrs")]
    alternating = answer(("p", "a"), ("q", "b"), ("r", "a"), ("s", "b"))
    assert check(objects, alternating) == []
    crowded = answer(("p", "a"), ("r", "a"), ("q", "b"), ("s", "b"))
    assert [(v.kind, v.pod, v.node) for v in check(objects, crowded)] == [("spread", "default/r", "a")]


def test_turns_say_the_order_where_every_placement_has_one() -> None:
    objects = [*AB, *(pod(n, **SPREAD) for n in "pqr")]
    listed = answer(("r", "a"), ("p", "a"), ("q", "b"))
    assert {v.kind for v in check(objects, listed)} == {"spread"}
    tries = [
        {"pod": f"default/{p}", "turn": turn, "at": 0.0, "result": "scheduled", "node": n}
        for turn, (p, n) in enumerate([("p", "a"), ("q", "b"), ("r", "a")])
    ]
    assert check(objects, listed | {"attempts": tries}) == []


def test_a_node_that_ends_over_its_allocatable_is_reported_whatever_the_order() -> None:
    objects = [node("a"), pod("p", {"cpu": "4"}, nodeName="a"), pod("q", {"cpu": "1"})]
    assert {v.kind for v in check(objects, to_a("q"))} == {"resources", "over-allocatable"}


def test_victims_make_room_before_or_after_they_are_gone() -> None:
    victim = pod("p", {"cpu": "4"}, nodeName="a", priority=0)
    winner = pod("q", {"cpu": "4"}, priority=9)
    gone = answer(("q", "a"), evicted=[{"pod": "default/p", "by": "default/q", "reason": "preempted"}])
    assert check([node("a"), victim, winner], gone) == []
    assert {v.kind for v in check([node("a"), victim, winner], to_a("q"))} == {
        "resources",
        "over-allocatable",
    }


def test_a_nominated_pod_keeps_its_place_against_lesser_ones() -> None:
    objects = [node("a"), pod("p", {"cpu": "4"}, priority=9), pod("q", {"cpu": "4"}, priority=1)]
    entry = {"pod": "default/p", "message": "", "nominated": "a", "victims": []}
    ends = answer(pending=("q",))
    ends["pending"].append(entry)
    assert check(objects, ends) == []
    objects[2]["spec"]["priority"] = 10
    assert [v.kind for v in check(objects, ends)] == ["pending-fits"]
