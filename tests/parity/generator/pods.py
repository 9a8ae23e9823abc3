"""Pods: bound ones with their history, pending ones with their wishes."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import chance
from tests.parity.generator.claims import attach_volumes
from tests.parity.generator.containers import draw_containers
from tests.parity.generator.quantities import Amounts
from tests.parity.generator.selectors import draw_node_affinity, draw_pod_labels, draw_tolerations
from tests.parity.generator.topology import draw_constraints, draw_interpod
from tests.parity.generator.world import Object, World


def draw_pod(w: World, name: str) -> tuple[Object, Amounts]:
    """A pod that is neither bound nor nominated, and what it asks for."""
    namespace = w.c.pick(words.NAMESPACES if w.has("interpod") else words.NAMESPACES[:2])
    labels = draw_pod_labels(w.c)
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{namespace}-{name}",
        "labels": labels,
    }
    spec: Object = {"schedulerName": _profile(w), "priority": 0}
    total = draw_containers(w, spec)
    _draw_placement(w, spec, namespace, labels)
    _draw_priority(w, spec)
    _draw_owner(w, metadata)
    pod = {"metadata": metadata, "spec": spec, "status": {}}
    attach_volumes(w, pod)
    _draw_declared(w, spec)
    if chance(w.c, 2):
        spec["hostNetwork"] = True
        _as_host_network(spec)
    return pod, total


def _profile(w: World) -> str:
    if chance(w.c, 1):
        return "someone-else"
    return w.c.pick(w.profiles)


def _draw_placement(w: World, spec: Object, namespace: str, labels: dict[str, str]) -> None:
    if w.often("nodeaffinity", 12):
        spec["nodeSelector"] = {"disk": w.c.pick(words.NODE_VALUES["disk"])} if not chance(w.c, 10) else {}
    affinity = draw_interpod(w, namespace, labels)
    if node_affinity := draw_node_affinity(w):
        affinity["nodeAffinity"] = node_affinity
    if affinity:
        spec["affinity"] = affinity
    if tolerations := draw_tolerations(w):
        spec["tolerations"] = tolerations
    if constraints := draw_constraints(w, labels):
        spec["topologySpreadConstraints"] = constraints


def _draw_priority(w: World, spec: Object) -> None:
    if w.has("priorities"):
        spec["priority"] = w.c.pick(words.PRIORITIES)
    spec["preemptionPolicy"] = "Never" if w.often("priorities", 10) else "PreemptLowerPriority"


def _draw_owner(w: World, metadata: Object) -> None:
    owners = [owner for namespace, owner in w.owners if namespace == metadata["namespace"]]
    if owners and not chance(w.c, 40):
        metadata["ownerReferences"] = [w.c.pick(owners)]


def _draw_declared(w: World, spec: Object) -> None:
    """What makes a pod need a declared feature of its node."""
    if not w.often("features", 40):
        return
    feature = w.c.pick(words.DECLARED_FEATURES)
    container = spec["containers"][0]
    if feature == "UserNamespacesHostNetworkSupport":
        spec["hostNetwork"], spec["hostUsers"] = True, False
        _as_host_network(spec)
    elif feature == "RestartAllContainersOnContainerExits":
        exits = {"operator": "In", "values": [42]}
        container["restartPolicy"] = "Never"
        container["restartPolicyRules"] = [{"action": "RestartAllContainers", "exitCodes": exits}]
    else:
        spec.setdefault("volumes", []).append({"name": "scratch", "emptyDir": {}})
        mount = {"name": "scratch", "mountPath": "/scratch", "bindMountOptions": ["noexec"]}
        container.setdefault("volumeMounts", []).append(mount)


def _as_host_network(spec: Object) -> None:
    """On the host's network a container port is a host port of the same number."""
    for container in spec["containers"] + spec.get("initContainers", []):
        for port in container.get("ports", []):
            port["hostPort"] = port["containerPort"]


def bind(w: World, pod: Object, node: str) -> None:
    """Make a pod one that runs on a node: when it started, and what the kubelet reports.

    Start times differ on a node: upstream sorts victims of equal priority and age in no certain order. The
    nodes' pods are as old as each other, so that nodes are equal candidates for preemption.
    """
    pod["spec"]["nodeName"] = node
    minute = w.started[node] = w.started.get(node, 0) + 1
    pod["status"] = {
        "phase": "Running" if not chance(w.c, 8) else w.c.pick(("Pending", "Succeeded", "Failed")),
        "startTime": f"2026-01-01T{minute // 60 % 24:02d}:{minute % 60:02d}:00Z",
    }
    if w.often("terminating", 25):
        pod["metadata"]["deletionTimestamp"] = "2026-02-01T00:00:00Z"
        if chance(w.c, 40):
            pod["status"]["conditions"] = [
                {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
            ]
