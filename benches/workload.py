"""Writes a scenario down for the peer program: ``python -m benches.workload NAME NODES PODS > FILE``."""

import sys
from typing import Any

import msgspec
from podium.api import Object, Pod, kind_of
from podium.simulator.workloads import SCENARIOS, Step


def document(name: str, nodes: int, pods: int) -> dict[str, Any]:
    """Return the workload as ``benches/peer`` reads it; pods that can never be placed are left out.

    The peer would park those and never look at them again, since no event of the scenario helps them.
    """
    workload = SCENARIOS[name].build(nodes, pods)
    return {
        "nodes": workload.nodes,
        "bound": workload.bound,
        "pods": workload.pods,
        "objects": [{"kind": kind_of(type(item)), "object": item} for item in workload.objects],
        "steps": [_step(step) for step in workload.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    item: Object = step.item
    role = "pod" if isinstance(item, Pod) else "node"
    return {"after": step.after, "change": step.change.value, role: item}


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(document(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
