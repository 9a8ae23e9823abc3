"""The cluster as the checker sees it at one moment: nodes, and which pods are on them."""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from tests.checker import requests
from tests.checker.quantity import read, whole

T = TypeVar("T")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Node:
    def __init__(self, manifest: dict) -> None:
        meta, spec, status = manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}
        amounts = status.get("allocatable")
        amounts = read(status.get("capacity") if amounts is None else amounts)
        self.name: str = meta["name"]
        self.labels: dict[str, str] = meta.get("labels") or {}
        self.taints: list[dict] = spec.get("taints") or []
        self.unschedulable = bool(spec.get("unschedulable"))
        self.features = set(status.get("declaredFeatures") or [])
        self.pods_allowed = whole("pods", amounts.get("pods", Fraction(0)))
        self.allocatable = {name: whole(name, a) for name, a in amounts.items() if requests.counted(name)}


class Pod:
    """An admitted pod; everything derived from it is computed once."""

    def __init__(self, manifest: dict) -> None:
        meta = manifest["metadata"]
        self.manifest = manifest
        self.spec: dict = manifest["spec"]
        self.name: str = meta["name"]
        self.namespace: str = meta.get("namespace") or "default"
        self.key = f"{self.namespace}/{self.name}"
        self.labels: dict[str, str] = meta.get("labels") or {}
        self.owner = next((r for r in meta.get("ownerReferences") or [] if r.get("controller")), None)
        self.terminating = meta.get("deletionTimestamp") is not None
        self.finished = (manifest.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        self.priority: int = self.spec.get("priority") or 0
        self.tolerations: list[dict] = self.spec.get("tolerations") or []
        self.volumes: list[dict] = self.spec.get("volumes") or []
        self.affinity_terms = self._terms("podAffinity")
        self.anti_terms = self._terms("podAntiAffinity")
        self.hard_spread = [
            c
            for c in self.spec.get("topologySpreadConstraints") or []
            if c["whenUnsatisfiable"] == "DoNotSchedule"
        ]

    def _terms(self, side: str) -> list[dict]:
        return ((self.spec.get("affinity") or {}).get(side) or {}).get(REQUIRED) or []

    @cached_property
    def request(self) -> dict[str, int]:
        return requests.incoming(self.manifest)

    @cached_property
    def held(self) -> dict[str, int]:
        return requests.held(self.manifest)

    @cached_property
    def ports(self) -> set[tuple[str, str, int]]:
        """(ip, protocol, host port) of main containers and sidecars."""
        sidecars = [c for c in self.spec.get("initContainers") or [] if c.get("restartPolicy") == "Always"]
        return {
            (p.get("hostIP") or "0.0.0.0", p.get("protocol") or "TCP", p["hostPort"])
            for c in [*sidecars, *self.spec["containers"]]
            for p in c.get("ports") or []
            if p.get("hostPort")
        }

    def claims(self, *, ephemeral: bool = True) -> Iterable[tuple[str, str]]:
        """(namespace, name) of the claims that the volumes name or that ephemeral volumes own."""
        for volume in self.volumes:
            if volume.get("persistentVolumeClaim") is not None:
                yield self.namespace, volume["persistentVolumeClaim"]["claimName"]
            elif ephemeral and volume.get("ephemeral") is not None:
                yield self.namespace, f"{self.name}-{volume['name']}"


class World:
    """Nodes and placed pods; the indexes are kept by ``add`` and ``remove``."""

    def __init__(self, objects: list[dict]) -> None:
        by_kind: dict[str, list[dict]] = {}
        for o in objects:
            by_kind.setdefault(o["kind"], []).append(o)
        self.by_kind = by_kind
        self.nodes = {o["metadata"]["name"]: Node(o) for o in by_kind.get("Node", [])}
        self.namespaces = {
            o["metadata"]["name"]: o["metadata"].get("labels") or {} for o in by_kind.get("Namespace", [])
        }
        self.where: dict[str, tuple[Pod, Node]] = {}
        self.on: dict[str, dict[str, Pod]] = {name: {} for name in self.nodes}
        self.used: dict[str, Counter] = {name: Counter() for name in self.nodes}
        self.repelling: dict[str, Pod] = {}
        self.in_namespace: dict[str, dict[str, Pod]] = {}
        self.memo: dict[str, dict[str, str]] = {}
        self.storage: Any = None  # filled by Storage.of, on first use
        self._version = 0
        self._answers: dict[str, tuple[tuple[int, str], Any]] = {}

    def add(self, pod: Pod, node: Node) -> None:
        self._version += 1
        self.where[pod.key] = (pod, node)
        self.on[node.name][pod.key] = pod
        self.used[node.name].update(pod.held)
        self.in_namespace.setdefault(pod.namespace, {})[pod.key] = pod
        if pod.anti_terms:
            self.repelling[pod.key] = pod

    def remove(self, key: str) -> tuple[Pod, Node]:
        self._version += 1
        pod, node = self.where.pop(key)
        del self.on[node.name][key], self.in_namespace[pod.namespace][key]
        self.used[node.name].subtract(pod.held)
        self.repelling.pop(key, None)
        return pod, node

    def once(self, question: str, pod: Pod, answer: Callable[[], T]) -> T:
        """The answer to a question about a pod, kept while the pod is asked about and nothing moves."""
        state = (self._version, pod.key)
        if question not in self._answers or self._answers[question][0] != state:
            self._answers[question] = (state, answer())
        return self._answers[question][1]

    def node_of(self, key: str) -> Node:
        return self.where[key][1]
