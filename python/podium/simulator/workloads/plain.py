"""Scenarios of size and variety alone: ``basic``, ``hetero``, ``deployment``, ``mixed``."""

import random

import msgspec

from podium.api import (
    Affinity,
    NodeAffinity,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    PodSpec,
    PodTemplateSpec,
    PreferredSchedulingTerm,
    ReplicaSet,
    Toleration,
)
from podium.api.objects.workloads import ReplicaSetSpec
from podium.simulator.workloads.gorandom import GoRandom
from podium.simulator.workloads.parts import ZONE, ZONES, app, nodes, owned, pod, spec
from podium.simulator.workloads.workload import Workload

REPLICA_SETS = 100
TEMPLATES = 1_000


def basic(size: int, pods: int) -> Workload:
    """One template: 100m cpu, 500Mi."""
    template = spec()
    return Workload(nodes(size), [pod(index, template) for index in range(pods)])


def hetero(size: int, pods: int) -> Workload:
    """Every pod its own size: 50m to 2049m, 64Mi to 8063Mi, by Go's generator from seed 1."""
    numbers = GoRandom(1)
    sizes = [(50 + numbers.intn(2000), 64 + numbers.intn(8000)) for _ in range(pods)]
    return Workload(nodes(size), [pod(index, spec(*amounts)) for index, amounts in enumerate(sizes)])


def deployment(size: int, pods: int) -> Workload:
    """Grow a hundred ReplicaSets in turn: their owners make the default spread constraints count."""
    template = spec()
    labels = [{"app": f"rs-{number:03d}"} for number in range(REPLICA_SETS)]
    made = []
    for index in range(pods):
        mine = labels[index % REPLICA_SETS]
        made.append(owned(pod(index, template, mine), "ReplicaSet", mine["app"]))
    counts = [len(range(number, pods, REPLICA_SETS)) for number in range(REPLICA_SETS)]
    sets = [_replica_set(f"rs-{number:03d}", count, template) for number, count in enumerate(counts)]
    return Workload(nodes(size), made, objects=sets)


def _replica_set(name: str, replicas: int, template: PodSpec) -> ReplicaSet:
    pods = PodTemplateSpec(metadata=ObjectMeta(labels={"app": name}), spec=template)
    return ReplicaSet(
        metadata=ObjectMeta(name=name, namespace="default", uid=f"ReplicaSet-{name}"),
        spec=ReplicaSetSpec(replicas=replicas, selector=app(name), template=pods),
    )


def mixed(size: int, pods: int) -> Workload:
    """Shuffle a thousand templates, each its own label and size, some with a liked zone or toleration."""
    templates = [_template(number) for number in range(min(TEMPLATES, pods))]
    labels = [{"app": f"t-{number:04d}"} for number in range(len(templates))]
    order = [index % len(templates) for index in range(pods)]
    random.Random(1).shuffle(order)
    return Workload(
        nodes(size), [pod(i, templates[number], labels[number]) for i, number in enumerate(order)]
    )


def _template(number: int) -> PodSpec:
    plain = spec(50 + 37 * number % 950, 64 + 53 * number % 1900)
    if number % 10 == 0:
        return msgspec.structs.replace(plain, affinity=_likes(f"z{number // 10 % ZONES}"))
    if number % 10 == 5:
        borne = Toleration(key="dedicated", operator="Equal", value=f"team-{number}", effect="NoSchedule")
        return msgspec.structs.replace(plain, tolerations=(borne,))
    return plain


def _likes(zone: str) -> Affinity:
    requirement = NodeSelectorRequirement(key=ZONE, operator="In", values=(zone,))
    term = PreferredSchedulingTerm(weight=10, preference=NodeSelectorTerm(match_expressions=(requirement,)))
    return Affinity(node_affinity=NodeAffinity(preferred=(term,)))
