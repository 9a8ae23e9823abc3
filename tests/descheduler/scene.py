"""Small clusters and one-plugin policies for tests."""

from collections import Counter
from typing import Any

import yaml
from msgspec.structs import replace
from podium.api import Condition, Node, Pod
from podium.descheduler.loop import Cycle, Descheduler
from podium.descheduler.policy.load import load_policy
from podium.descheduler.profile import Sources
from podium.descheduler.table import IN_TREE
from podium.descheduler.world import World, parse_time
from podium.testing import make_node, make_pod
from podium.testing.pod_builder import PodBuilder

NOW = parse_time("2026-03-02T08:00:00Z")
BALANCE = {
    "LowNodeUtilization",
    "HighNodeUtilization",
    "RemoveDuplicates",
    "RemovePodsViolatingTopologySpreadConstraint",
}


class Accepting:
    """An eviction API that refuses nothing and remembers everything."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def evict(self, eviction: Any) -> None:
        self.asked.append(eviction)


def policy(plugin: str, args: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    """A policy with one plugin; ``evictor`` are DefaultEvictor's arguments, the rest are top-level fields."""
    evictor = rest.pop("evictor", None)
    configs = [{"name": plugin} if args is None else {"name": plugin, "args": args}]
    if evictor is not None:
        configs.append({"name": "DefaultEvictor", "args": evictor})
    point = "balance" if plugin in BALANCE else "deschedule"
    profile = {"name": "p", "pluginConfig": configs, "plugins": {point: {"enabled": [plugin]}}}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **rest}


def load(body: dict[str, Any], classes: dict[str, int] | None = None, table=IN_TREE):
    return load_policy(yaml.safe_dump(body), "policy.yaml", table, classes or {})


def cycle(
    objects: list[Any],
    body: dict[str, Any],
    *,
    now: int = NOW,
    sources: Sources | None = None,
    api: Any = None,
) -> Cycle:
    descheduler = Descheduler(load(body), IN_TREE, api or Accepting(), sources)
    return descheduler.cycle(World(objects, now))


def evicted(objects: list[Any], body: dict[str, Any], **rest: Any) -> list[str]:
    """Names of the pods that one cycle evicts, in order."""
    return [item.pod.metadata.name for item in cycle(objects, body, **rest).evicted]


def per_node(objects: list[Any], body: dict[str, Any], **rest: Any) -> dict[str, int]:
    return dict(Counter(item.pod.spec.node_name for item in cycle(objects, body, **rest).evicted))


def node(name: str, cpu: str = "4", memory: str = "16Gi", pods: int = 110, **labels: str) -> Node:
    builder = make_node(name).capacity(cpu=cpu, memory=memory, pods=pods)
    for key, value in labels.items():
        builder = builder.label(key, value)
    return builder.build()


def owned(name: str, on: str, owner: str = "rs", namespace: str = "default") -> PodBuilder:
    """A running pod of a ReplicaSet."""
    return make_pod(name, namespace).owner("ReplicaSet", owner).node(on)


def running(builder: PodBuilder, **status: Any) -> Pod:
    pod = builder.build()
    return replace(pod, status=replace(pod.status, **{"phase": "Running", **status}))


def ready(pod: Pod, status: str = "True") -> Pod:
    conditions = [Condition(type="Ready", status=status)]
    return replace(pod, status=replace(pod.status, conditions=conditions))


def annotated(pod: Pod, key: str, value: str = "") -> Pod:
    return replace(pod, metadata=replace(pod.metadata, annotations={**pod.metadata.annotations, key: value}))
