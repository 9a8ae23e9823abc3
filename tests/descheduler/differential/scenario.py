"""A random cluster, a random policy, and what measures load."""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.descheduler.differential.chance import Dice
from tests.descheduler.differential.nodes import Manifest, node, surroundings
from tests.descheduler.differential.pods import Clock, pods, with_priorities
from tests.descheduler.differential.policies import policy


@dataclass(frozen=True)
class Scenario:
    """One question to both sides.

    ``distinct`` says that no two pods have the same priority, so that where the order is by priority the very
    pods must agree.
    """

    seed: int
    objects: list[Manifest]
    policy: dict[str, Any]
    prometheus: dict[str, Any]
    now: int
    distinct: bool

    def request(self, runs: int, settle: int) -> dict[str, Any]:
        return {
            "id": str(self.seed),
            "objects": self.objects,
            "policy": json.dumps(self.policy),
            "runs": runs,
            "settle": settle,
            "prometheus": self.prometheus,
        }


def scenario(seed: int) -> Scenario:
    dice = Dice(seed)
    now = time.time_ns()
    clock = Clock(datetime.fromtimestamp(now / 1e9, UTC))
    nodes = [node(dice, f"n{number}") for number in range(dice.randint(2, 6))]
    names = [item["metadata"]["name"] for item in nodes]
    distinct = dice.percent(50)
    made = with_priorities(dice, list(pods(dice, clock, names, dice.randint(4, 28))), distinct=distinct)
    objects = [*nodes, *surroundings(dice), *made, *_metrics(dice, nodes, made)]
    return Scenario(seed, objects, policy(dice, f"s{seed}"), _samples(dice, names), now, distinct)


def _metrics(dice: Dice, nodes: list[Manifest], made: list[Manifest]) -> list[Manifest]:
    head = {"apiVersion": "metrics.k8s.io/v1beta1"}
    complete = dice.percent(85)
    result = [
        {
            **head,
            "kind": "NodeMetrics",
            "metadata": {"name": item["metadata"]["name"]},
            "usage": {"cpu": f"{dice.randint(0, 4000)}m", "memory": f"{dice.randint(0, 8000)}Mi"},
        }
        for item in nodes
        if complete or dice.percent(80)
    ]
    for item in made:
        if dice.percent(90):
            usage = {"cpu": f"{dice.randint(0, 900_000_000)}n", "memory": f"{dice.randint(0, 900)}Mi"}
            if dice.percent(4):
                del usage["memory"]
            meta = {key: item["metadata"][key] for key in ("name", "namespace")}
            containers = [{"name": c["name"], "usage": usage} for c in item["spec"]["containers"]]
            result.append({**head, "kind": "PodMetrics", "metadata": meta, "containers": containers})
    return result


def _samples(dice: Dice, names: list[str]) -> dict[str, Any]:
    """What the Prometheus server answers; sometimes something that is no use."""
    values = [dice.pick(("0", "0.07", "0.29", "0.58", "0.9", "1")) for _ in names]
    if dice.percent(4):
        values[0] = dice.pick(("1.2", "-0.1"))
    known = [(name, value) for name, value in zip(names, values, strict=True) if not dice.percent(2)]
    result = [{"metric": {"instance": name}, "value": [0, value]} for name, value in known]
    if dice.percent(3) and result:
        result[0]["metric"] = {"node": "x"}
    if dice.percent(3):
        return {"resultType": "scalar", "result": [0, "1"]}
    return {"resultType": "vector", "result": result}
