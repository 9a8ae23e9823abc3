"""Scenarios in which more happens than binding: ``preemption``, ``unschedulable``, ``churn``."""

import msgspec

from podium.api import Node, Pod, PodSpec, PodStatus
from podium.simulator.workloads.parts import meta, nodes, pod, spec
from podium.simulator.workloads.workload import Change, Step, Workload

VICTIMS_PER_NODE = 4
PARKED = 20_000
EVENT_EVERY, BATCH = 100, 100
STARTED = PodStatus(phase="Running", start_time="2026-01-01T00:00:00Z")


def preemption(size: int, pods: int) -> Workload:
    """Let pods of priority 0 fill every node, so that each new pod must evict three of them.

    A node holds four for each new pod that is to find a place there: of 8 cpu, where it is one.
    """
    machines = nodes(size)
    share = max(1, -(-pods // size))
    amount = 8_000 // share
    low, high = _ranked(spec(amount), 0), _ranked(spec(3 * amount), 10)
    specs = [msgspec.structs.replace(low, node_name=node.metadata.name) for node in machines]
    bound = [
        Pod(metadata=meta(f"low-{i:05d}-{k}", f"l-{i:05d}-{k}", {"app": "low"}), spec=placed, status=STARTED)
        for i, placed in enumerate(specs)
        for k in range(VICTIMS_PER_NODE * share)
    ]
    return Workload(machines, [pod(index, high) for index in range(pods)], bound=bound)


def _ranked(template: PodSpec, priority: int) -> PodSpec:
    """Return the spec with a priority; its pods stop at once, so victims leave within the measured time."""
    fields = {
        "priority": priority,
        "preemption_policy": "PreemptLowerPriority",
        "termination_grace_period_seconds": 0,
    }
    return msgspec.structs.replace(template, **fields)


def unschedulable(size: int, pods: int) -> Workload:
    """20,000 pods larger than any node wait while the others schedule, and every 100 binds something happens.

    In turn: a node changes a label, a node comes, a pod goes, a pod comes; none of it helps those that wait.
    """
    machines = nodes(size + pods // EVENT_EVERY // 4 + 1)
    too_large, filler = spec(64_000), spec()
    parked = [
        Pod(metadata=meta(f"w-{i:06d}", f"w-{i:06d}", {"app": "w"}), spec=too_large) for i in range(PARKED)
    ]
    bound = [_extra(i, filler, machines[i % size]) for i in range(pods // EVENT_EVERY // 4 + 1)]
    steps = []
    for number, after in enumerate(range(EVENT_EVERY, pods, EVENT_EVERY)):
        turn, nth = number % 4, number // 4
        if turn == 0:
            steps.append(Step(after, Change.UPDATE, _relabelled(machines[nth % size], nth)))
        elif turn == 1:
            steps.append(Step(after, Change.ADD, machines[size + nth]))
        elif turn == 2:
            steps.append(Step(after, Change.DELETE, bound[nth]))
        else:
            steps.append(Step(after, Change.ADD, _extra(PARKED + nth, filler, machines[nth % size])))
    todo = [pod(index, filler) for index in range(pods)]
    return Workload(machines[:size], todo, bound=bound, parked=parked, steps=steps)


def _extra(number: int, template: PodSpec, node: Node) -> Pod:
    placed = msgspec.structs.replace(template, node_name=node.metadata.name)
    metadata = meta(f"x-{number:06d}", f"x-{number:06d}", {"app": "x"})
    return Pod(metadata=metadata, spec=placed, status=STARTED)


def _relabelled(node: Node, value: int) -> Node:
    labels = {**node.metadata.labels, "example.com/generation": str(value)}
    return msgspec.structs.replace(node, metadata=msgspec.structs.replace(node.metadata, labels=labels))


def churn(size: int, pods: int) -> Workload:
    """As many pods leave as come once a tenth of them is there: by hundreds, the oldest first."""
    template = spec()
    made = [pod(index, template) for index in range(pods)]
    kept = max(BATCH, pods // 10)
    steps = [
        Step(after, Change.DELETE, made[gone])
        for after in range(kept + BATCH, pods + 1, BATCH)
        for gone in range(after - kept - BATCH, after - kept)
    ]
    return Workload(nodes(size), made, steps=steps)
