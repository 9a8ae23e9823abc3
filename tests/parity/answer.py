"""Podium's answer to a scenario, in the shape that README.md gives for the oracle's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from podium._core import Decision, Engine
from podium.framework.config import SchedulerConfig, default_config, parse_config
from podium.framework.registry import Registry

#: The attempt that decides between equals in seeded mode: what the queue counts for a pod that is new.
FIRST = 1

Object = dict[str, Any]
Answer = dict[str, Any]

_ENDED = {"Succeeded", "Failed"}

#: Made once: looking for installed plugins takes longer than most scenarios.
_REGISTRY = Registry.build()

#: Field of a scenario → kind, in an order in which nothing refers to what comes later.
_WORLD = {
    "namespaces": "Namespace",
    "services": "Service",
    "replicationControllers": "ReplicationController",
    "replicaSets": "ReplicaSet",
    "statefulSets": "StatefulSet",
    "storageClasses": "StorageClass",
    "csiDrivers": "CSIDriver",
    "csiNodes": "CSINode",
    "csiStorageCapacities": "CSIStorageCapacity",
    "persistentVolumes": "PersistentVolume",
    "persistentVolumeClaims": "PersistentVolumeClaim",
    "volumeAttachments": "VolumeAttachment",
    "podDisruptionBudgets": "PodDisruptionBudget",
}


def podium_answer(scenario: Object) -> Answer:
    """Answer a scenario with Podium's core."""
    if scenario["tier"] == "A":
        return {"id": scenario.get("id"), "tier": "A", **_Alone(scenario).answer()}
    return {"id": scenario.get("id"), "tier": "B", "steps": Sequence(scenario, _upstream()).answer()}


def _upstream() -> Engine:
    """Make an engine that decides as kube-scheduler does, sample and ties included."""
    return Engine(choose="upstream", sample=True)


def _config(document: Object | None) -> SchedulerConfig:
    if document is None:
        return default_config(_REGISTRY)
    return parse_config(json.dumps(document).encode(), "scenario", _REGISTRY)


def _key(pod: Object) -> str:
    meta = pod["metadata"]
    return f"{meta.get('namespace', 'default')}/{meta['name']}"


class _World:
    """One engine that holds a scenario's objects."""

    def __init__(self, scenario: Object, config: SchedulerConfig, engine: Engine) -> None:
        self.config = config
        self.engine = engine
        for profile in config.profiles:
            self.engine.add_profile(profile.native_json())
        self.names = {profile.scheduler_name for profile in config.profiles}
        self.pods: dict[str, Object] = {}
        self.handles: dict[str, int] = {}
        self.keys: dict[int, str] = {}
        for node in scenario.get("nodes", []):
            self.engine.set_node(msgspec.json.encode(node))
        for field, kind in _WORLD.items():
            for item in scenario.get(field, []):
                self.engine.set(kind, msgspec.json.encode(item))

    def add(self, pod: Object) -> int | None:
        """Add a pod; one that has ended is not there."""
        if pod.get("status", {}).get("phase") in _ENDED:
            return None
        handle = self.engine.add_pod(msgspec.json.encode(pod))
        if pod["spec"].get("schedulerName", "default-scheduler") not in self.names:
            # Another scheduler's pod is never in the queue, where nominations are kept.
            self.engine.nominate(handle, None)
        self.pods[_key(pod)] = pod
        self.handles[_key(pod)] = handle
        self.keys[handle] = _key(pod)
        return handle

    def update(self, pod: Object) -> None:
        """Replace what a pod says of itself."""
        key = _key(pod)
        self.pods[key] = pod
        self.engine.update_pod(self.handles[key], msgspec.json.encode(pod))

    def remove(self, key: str) -> None:
        """Remove a pod that is there."""
        if key in self.pods:
            del self.pods[key]
            handle = self.handles.pop(key)
            del self.keys[handle]
            self.engine.remove_pod(handle)

    def verdict_without_cycle(self, pod: Object) -> Answer | None:
        """Return the answer for a pod that gets no scheduling cycle."""
        spec = pod.get("spec", {})
        if spec.get("schedulerName", "default-scheduler") not in self.names:
            return {"result": "foreign"}
        gates = [gate["name"] for gate in spec.get("schedulingGates") or []]
        profile = self.config.profile(spec.get("schedulerName", "default-scheduler"))
        gated = profile is not None and "SchedulingGates" in profile.names("preEnqueue")
        if gates and gated:
            return {"result": "gated", "message": f"waiting for scheduling gates: [{' '.join(gates)}]"}
        if pod["metadata"].get("deletionTimestamp"):
            return {"result": "deleting", "message": f"skip schedule deleting pod: {_key(pod)}"}
        return None


class _Alone:
    """Tier A: every pending pod alone; all of them exist."""

    def __init__(self, scenario: Object) -> None:
        self._world = _World(scenario, _config(scenario.get("configuration")), _upstream())
        self._pending = scenario.get("pending", [])
        for pod in self._pending:
            if pod["spec"].get("nodeName"):
                # It is to be judged all the same; before the others come, since it takes its ports along.
                self._world.engine.forget(self._world.add(pod))
        for pod in [*scenario.get("pods", []), *self._pending]:
            if _key(pod) not in self._world.handles:
                self._world.add(pod)

    def answer(self) -> Answer:
        order = self._world.engine.node_order()
        return {"snapshot": order, "pods": [self._judge(pod) for pod in self._pending]}

    def _judge(self, pod: Object) -> Answer:
        base: Answer = {"pod": _key(pod), "feasible": []}
        without = self._world.verdict_without_cycle(pod)
        if without is not None:
            return base | without
        return base | json.loads(self._world.engine.audit(self._world.handles[_key(pod)]))


class Sequence:
    """Tier B: steps that carry over, played on a given engine."""

    def __init__(self, scenario: Object, engine: Engine) -> None:
        self._world = _World(scenario, _config(scenario.get("configuration")), engine)
        for pod in scenario.get("pods", []):
            self._world.add(pod)
        self._templates: Mapping[str, Object] = scenario.get("templates", {})
        self._steps = scenario["steps"]
        self._leaving: list[str] = []

    def answer(self) -> list[Answer | None]:
        return [self._step(number, step) for number, step in enumerate(self._steps)]

    def _step(self, number: int, step: Object) -> Answer | None:
        time = self._time(number)
        match step["op"]:
            case "schedule":
                pod = self._appear(step)
                self._world.add(pod)
                return self._cycle(_key(pod), time)
            case "retry":
                pod = self._world.pods.get(step["key"])
                if pod is None or pod["spec"].get("nodeName"):
                    return None
                return self._cycle(step["key"], time)
            case "settle":
                for key in self._leaving:
                    self._world.remove(key)
                self._leaving.clear()
            case "addPod":
                self._world.add(step["pod"])
            case "patchPod":
                pod = self._world.pods.get(step["key"])
                if pod is not None:
                    self._patched(_merge(pod, step["patch"]))
            case "deletePod":
                self._world.remove(step["key"])
            case "addNode" | "updateNode":
                self._world.engine.set_node(msgspec.json.encode(step["node"]))
            case "deleteNode":
                self._world.engine.remove_node(step["key"])
            case "set":
                # Every write has a version of its own, by which an equal object is news all the same.
                meta = step["object"]["metadata"] | {"resourceVersion": str(number + 1)}
                changed = msgspec.json.encode(step["object"] | {"metadata": meta})
                self._world.engine.set(_WORLD[step["kind"]], changed)
            case "delete":
                namespace, _, name = step["key"].rpartition("/")
                self._world.engine.remove(_WORLD[step["kind"]], namespace, name)
            case other:
                raise AssertionError(f"no such step: {other}")
        return None

    @staticmethod
    def _time(number: int) -> str:
        minutes, seconds = divmod(number, 60)
        return f"2030-01-01T00:{minutes:02}:{seconds:02}Z"

    def _appear(self, step: Object) -> Object:
        if "pod" in step:
            return dict(step["pod"])
        template = self._templates[step["template"]]
        namespace = template["metadata"].get("namespace", "default")
        meta = template["metadata"] | {
            "name": step["name"],
            "namespace": namespace,
            "uid": f"uid-{namespace}-{step['name']}",
        }
        return template | {"metadata": meta}

    def _patched(self, pod: Object) -> None:
        if pod.get("status", {}).get("phase") in _ENDED:
            self._world.remove(_key(pod))
        else:
            self._world.update(pod)

    def _cycle(self, key: str, time: str) -> Answer:
        world = self._world
        pod = world.pods[key]
        base: Answer = {"pod": key, "evaluated": 0, "feasible": 0}
        without = world.verdict_without_cycle(pod)
        if without is not None:
            return base | without
        handle = world.handles[key]
        return base | self._outcome(pod, handle, self.decide(key, handle), time)

    def _outcome(self, pod: Object, handle: int, decision: Decision, time: str) -> Answer:
        if decision.result == "placed" and decision.row is not None:
            return self._bind(pod, handle, decision, time)
        if decision.result == "failed":
            self._nominate(pod, "")
            return {"result": "error", "error": decision.message}
        return {"evaluated": decision.evaluated} | self._fail(pod, handle, decision.message, time)

    def decide(self, key: str, handle: int) -> Decision:
        """Find a node for a pod; nothing is placed."""
        return self._world.engine.schedule(handle, FIRST)

    def _bind(self, pod: Object, handle: int, decision: Decision, time: str) -> Answer:
        engine = self._world.engine
        assert decision.row is not None, "a placed pod has a row"
        node = engine.node_name(decision.row)
        refused = engine.assume(handle, decision.row)
        if refused is not None:
            return {"result": "unschedulable", "message": ", ".join(refused[2])}
        self._bound(pod, node, time)
        return {
            "result": "scheduled",
            "node": node,
            "evaluated": decision.evaluated,
            "feasible": decision.feasible,
        }

    def _bound(self, pod: Object, node: str, time: str) -> None:
        """Let a pod that is assumed on a node be bound there."""
        status = pod.get("status", {}) | {"phase": "Running", "startTime": time}
        self._world.update(pod | {"spec": pod["spec"] | {"nodeName": node}, "status": status})

    def _fail(self, pod: Object, handle: int, message: str, time: str) -> Answer:
        world, engine = self._world, self._world.engine
        answer: Answer = {"result": "unschedulable", "message": message, "nominating": "keep"}
        eviction = engine.preempt(handle)
        if eviction is None:
            return answer
        if eviction.message:
            answer["message"] += f" {eviction.message}"
        if eviction.result == "helpless":
            answer["nominating"] = "clear"
            self._nominate(pod, "")
        elif eviction.result == "nominate" and eviction.row is not None:
            node = engine.node_name(eviction.row)
            victims = [world.keys[victim] for victim in eviction.victims]
            answer |= {"nominating": "set", "nominated": node, "victims": victims}
            self._evict(victims, time)
            for other in engine.nominated_below(handle, node):
                self._nominate(world.pods[world.keys[other]], "")
            self._nominate(pod, node)
        return answer

    def _evict(self, victims: list[str], time: str) -> None:
        for key in victims:
            pod = self._world.pods[key]
            if pod["metadata"].get("deletionTimestamp"):
                continue
            self._leaving.append(key)
            condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
            status = pod.get("status", {})
            status = status | {"conditions": [*status.get("conditions", []), condition]}
            self._world.update(
                pod | {"metadata": pod["metadata"] | {"deletionTimestamp": time}, "status": status}
            )

    def _nominate(self, pod: Object, node: str) -> None:
        status = dict(pod.get("status", {}))
        if status.get("nominatedNodeName", "") != node:
            status["nominatedNodeName"] = node
            self._world.update(pod | {"status": status})
        self._world.engine.nominate(self._world.handles[_key(pod)], node or None)


def _merge(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), value)
    return result
