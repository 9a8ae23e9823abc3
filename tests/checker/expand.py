"""The pods of workloads, reconstructed from the names in an answer: the checker makes no names of its own."""

import re
from collections.abc import Iterable
from copy import deepcopy

from tests.checker.naming import controllers, key, namespace

SUFFIX = "[a-z0-9]+"
DAEMON_TOLERATIONS = [
    *(
        {"key": f"node.kubernetes.io/{k}", "operator": "Exists", "effect": "NoExecute"}
        for k in ("not-ready", "unreachable")
    ),
    *(
        {"key": f"node.kubernetes.io/{k}", "operator": "Exists", "effect": "NoSchedule"}
        for k in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
]
NAMES = {
    "Deployment": f"{{name}}-(?P<hash>{SUFFIX})-{SUFFIX}",
    "ReplicaSet": f"{{name}}-{SUFFIX}",
    "DaemonSet": f"{{name}}-{SUFFIX}",
    "Job": f"{{name}}-{SUFFIX}",
    "IndexedJob": f"{{name}}-(?P<index>[0-9]+)-{SUFFIX}",
    "CronJob": f"{{name}}-[0-9]+(-(?P<index>[0-9]+))?-{SUFFIX}",
    "StatefulSet": "{name}-(?P<index>[0-9]+)",
}


def expand(objects: list[dict], names: Iterable[str]) -> tuple[list[dict], dict[str, tuple[int | None, int]]]:
    """The objects with the workloads replaced by pods and claims, for the pods in ``names`` ("ns/name").

    Second: per workload, how many pods it asks for (None where the cluster decides) and how many were named.
    Workloads that own an object among the objects have made their pods already and add nothing.
    """
    owners = {(namespace(o), ref["kind"], ref["name"]) for o in objects for ref in controllers(o)}
    given = {key(o) for o in objects if o["kind"] == "Pod"}
    unclaimed = {name for name in names if name not in given}
    claims = {key(o) for o in objects if o["kind"] == "PersistentVolumeClaim"}
    made: list[dict] = []
    counts: dict[str, tuple[int | None, int]] = {}
    for workload in sorted(objects, key=lambda o: -len(o["metadata"]["name"])):
        kind, meta = workload["kind"], workload["metadata"]
        if _form(workload) not in NAMES or (namespace(workload), kind, meta["name"]) in owners:
            continue
        pattern = re.compile(
            NAMES[_form(workload)].format(name=re.escape(f"{namespace(workload)}/{meta['name']}"))
        )
        mine = {name: found for name in unclaimed if (found := pattern.fullmatch(name))}
        unclaimed -= mine.keys()
        pods = [_pod(workload, name, found.groupdict()) for name, found in sorted(mine.items())]
        made += pods
        made += [c for pod in pods for c in _claims(workload, pod) if key(c) not in claims]
        counts[f"{kind} {namespace(workload)}/{meta['name']}"] = (_wanted(workload), len(mine))
    return [o for o in objects if _form(o) not in NAMES] + made, counts


def _form(workload: dict) -> str:
    indexed = workload["kind"] == "Job" and workload["spec"].get("completionMode") == "Indexed"
    return "IndexedJob" if indexed else workload["kind"]


def _wanted(workload: dict) -> int | None:
    spec = workload["spec"]
    if workload["kind"] in ("DaemonSet", "CronJob"):  # the nodes decide, or a flag
        return None
    if workload["kind"] != "Job":
        return spec.get("replicas", 1)
    if spec.get("suspend"):
        return 0
    parallelism = spec.get("parallelism", 1)
    return min(parallelism, spec["completions"]) if "completions" in spec else parallelism


def _pod(workload: dict, whole: str, parts: dict[str, str]) -> dict:
    body = workload["spec"]["jobTemplate"]["spec"] if workload["kind"] == "CronJob" else workload["spec"]
    template = deepcopy(body["template"])
    meta, spec = template.get("metadata") or {}, template["spec"]
    space, name = whole.split("/", 1)
    labels = dict(meta.get("labels") or {})
    kind, owner = workload["kind"], workload["metadata"]["name"]
    if kind == "Deployment":
        labels["pod-template-hash"] = parts["hash"]
    if kind == "StatefulSet":
        labels |= {"apps.kubernetes.io/pod-index": parts["index"], "statefulset.kubernetes.io/pod-name": name}
        claimed = {t["metadata"]["name"] for t in workload["spec"].get("volumeClaimTemplates") or []}
        spec["volumes"] = [v for v in spec.get("volumes") or [] if v["name"] not in claimed] + [
            {"name": c, "persistentVolumeClaim": {"claimName": f"{c}-{name}"}} for c in sorted(claimed)
        ]
    if kind in ("Job", "CronJob"):
        run = name.rsplit("-", 2 if parts.get("index") else 1)[0]
        labels |= {"batch.kubernetes.io/job-name": run, "job-name": run}
        if parts.get("index"):
            labels["batch.kubernetes.io/job-completion-index"] = parts["index"]
    if kind == "DaemonSet":
        spec["tolerations"] = (spec.get("tolerations") or []) + DAEMON_TOLERATIONS
        if spec.get("hostNetwork"):
            spec["tolerations"].append(
                {
                    "key": "node.kubernetes.io/network-unavailable",
                    "operator": "Exists",
                    "effect": "NoSchedule",
                }
            )
    reference = {"kind": kind, "name": owner, "controller": True}
    metadata = {**meta, "name": name, "namespace": space, "labels": labels, "ownerReferences": [reference]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _claims(workload: dict, pod: dict) -> list[dict]:
    templates = (
        workload["spec"].get("volumeClaimTemplates") or [] if workload["kind"] == "StatefulSet" else []
    )
    return [
        {
            **deepcopy(template),
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                **template["metadata"],
                "name": f"{template['metadata']['name']}-{pod['metadata']['name']}",
                "namespace": namespace(pod),
            },
        }
        for template in templates
    ]
