"""Scenarios whose pods are constrained by one another or pinned: ``spread`` … ``daemonset``."""

import msgspec

from podium.api import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from podium.simulator.workloads.parts import HOST, ZONE, app, meta, nodes, owned, pod, spec
from podium.simulator.workloads.workload import Workload

DAEMON_TAINTS = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def spread(size: int, pods: int) -> Workload:
    """Skew of at most 5 over the zones, required."""
    return _same(size, pods, _spread("DoNotSchedule"))


def prefspread(size: int, pods: int) -> Workload:
    """Skew of at most 5 over the zones, preferred."""
    return _same(size, pods, _spread("ScheduleAnyway"))


def anti(size: int, pods: int) -> Workload:
    """Anti-affinity per host, required: one pod a node, the rest fails."""
    term = PodAffinityTerm(topology_key=HOST, label_selector=app("a"))
    return _same(size, pods, _with(Affinity(pod_anti_affinity=PodAffinity(required=(term,)))))


def affinity(size: int, pods: int) -> Workload:
    """Preferred affinity per zone, weight 1."""
    term = PodAffinityTerm(topology_key=ZONE, label_selector=app("a"))
    weighted = WeightedPodAffinityTerm(weight=1, pod_affinity_term=term)
    return _same(size, pods, _with(Affinity(pod_affinity=PodAffinity(preferred=(weighted,)))))


def daemonset(size: int, pods: int) -> Workload:
    """One pod per node, pinned by the field ``metadata.name``; more pods than nodes are more DaemonSets."""
    tolerations = tuple(Toleration(key=k, operator="Exists", effect=e) for k, e in DAEMON_TAINTS)
    template = msgspec.structs.replace(spec(), tolerations=tolerations)
    machines = nodes(size)
    pins = [msgspec.structs.replace(template, affinity=_pin(node.metadata.name)) for node in machines]
    return Workload(machines, [_daemon(index, pins) for index in range(pods)])


def _daemon(index: int, pins: list[PodSpec]) -> Pod:
    name = f"ds-{index // len(pins):03d}"
    made = Pod(
        metadata=meta(f"{name}-{index:06d}", f"u-{index:06d}", {"app": name}), spec=pins[index % len(pins)]
    )
    return owned(made, "DaemonSet", name)


def _pin(node: str) -> Affinity:
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node,))
    required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    return Affinity(node_affinity=NodeAffinity(required=required))


def _same(size: int, pods: int, template: PodSpec) -> Workload:
    return Workload(nodes(size), [pod(index, template) for index in range(pods)])


def _with(wishes: Affinity) -> PodSpec:
    return msgspec.structs.replace(spec(), affinity=wishes)


def _spread(action: str) -> PodSpec:
    constraint = TopologySpreadConstraint(
        max_skew=5, topology_key=ZONE, when_unsatisfiable=action, label_selector=app("a")
    )
    return msgspec.structs.replace(spec(), topology_spread_constraints=(constraint,))
