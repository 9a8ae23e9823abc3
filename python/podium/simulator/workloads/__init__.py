"""The scenarios of ``podium bench``, also used by tests: a table name → scenario."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from podium.simulator.workloads import constrained, eventful, plain, shared
from podium.simulator.workloads.workload import Change, Step, Workload

__all__ = ["SCENARIOS", "Change", "Scenario", "Step", "Workload"]


class Scenario(NamedTuple):
    """How to build a workload of so many nodes and pods, and how many there are if nobody says."""

    build: Callable[[int, int], Workload]
    nodes: int = 5_000
    pods: int = 10_000


SCENARIOS: Mapping[str, Scenario] = {
    "basic": Scenario(plain.basic),
    "hetero": Scenario(plain.hetero),
    "deployment": Scenario(plain.deployment),
    "mixed": Scenario(plain.mixed),
    "spread": Scenario(constrained.spread),
    "prefspread": Scenario(constrained.prefspread),
    "anti": Scenario(constrained.anti, pods=5_000),
    "affinity": Scenario(constrained.affinity),
    "preemption": Scenario(eventful.preemption, pods=5_000),
    "unschedulable": Scenario(eventful.unschedulable),
    "churn": Scenario(eventful.churn),
    "daemonset": Scenario(constrained.daemonset),
    "gang3": Scenario(shared.gang3, pods=9_000),
    "gang1000": Scenario(shared.gang1000, pods=9_000),
    "gang5000": Scenario(shared.gang5000, pods=50_000),
    "drf": Scenario(shared.drf),
}
