"""The manifests that install Podium: service account, the least rights, a Deployment with a lease."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

Manifest = dict[str, Any]

_READ: Final = ("get", "list", "watch")
_RBAC: Final = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """What to install.

    Attributes:
        image: of a container that has ``podium``.
        name: of all objects.
        lease: of which only one holder schedules; kube-scheduler's own keeps the two apart.
        namespace: where the Deployment and the lease are.
        scheduler_name: what pods ask for; ``default-scheduler``: in place of kube-scheduler.
        replicas: more than one stand by.

    """

    image: str
    name: str = "podium"
    lease: str = "podium"
    namespace: str = "kube-system"
    scheduler_name: str = "podium"
    replicas: int = 2


def manifests(install: Install) -> list[Manifest]:
    """Return the manifests in the order in which they are to be applied."""
    account = {"kind": "ServiceAccount", "name": install.name, "namespace": install.namespace}
    return [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": install.name, "namespace": install.namespace},
        },
        cluster_role(install.name),
        _binding("ClusterRoleBinding", install.name, "", ("ClusterRole", install.name), account),
        lease_role(install),
        _binding("RoleBinding", install.name, install.namespace, ("Role", install.name), account),
        _deployment(install),
    ]


def cluster_role(name: str) -> Manifest:
    """Return what the scheduler may do anywhere; nothing that it does not do."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [
            _rule("", ("nodes", "namespaces", "services", "replicationcontrollers"), _READ),
            _rule("apps", ("replicasets", "statefulsets"), _READ),
            _rule("policy", ("poddisruptionbudgets",), _READ),
            _rule(
                "storage.k8s.io",
                ("storageclasses", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"),
                _READ,
            ),
            _rule("", ("persistentvolumes", "persistentvolumeclaims"), (*_READ, "patch")),
            _rule("", ("pods",), (*_READ, "delete")),
            _rule("", ("pods/binding",), ("create",)),
            _rule("", ("pods/status",), ("patch",)),
            _rule("events.k8s.io", ("events",), ("create", "patch")),
            _rule("scheduling.k8s.io", ("podgroups", "priorityclasses"), _READ),
            _rule("scheduling.k8s.io", ("podgroups/status",), ("patch",)),
            _rule("scheduling.x-k8s.io", ("podgroups",), _READ),
            _rule("scheduling.x-k8s.io", ("podgroups/status",), ("patch",)),
            _rule("scheduling.volcano.sh", ("podgroups", "queues"), _READ),
            _rule("scheduling.volcano.sh", ("podgroups/status",), ("patch",)),
            _rule("authentication.k8s.io", ("tokenreviews",), ("create",)),
            _rule("authorization.k8s.io", ("subjectaccessreviews",), ("create",)),
        ],
    }


def lease_role(install: Install) -> Manifest:
    """Return what the scheduler may do in its own namespace: hold its lease."""
    lease = _rule("coordination.k8s.io", ("leases",), ("get", "update"))
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "Role",
        "metadata": {"name": install.name, "namespace": install.namespace},
        "rules": [
            _rule("coordination.k8s.io", ("leases",), ("create",)),
            {**lease, "resourceNames": [install.lease]},
        ],
    }


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> Manifest:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _binding(kind: str, name: str, namespace: str, role: tuple[str, str], subject: Manifest) -> Manifest:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": role[0], "name": role[1]},
        "subjects": [subject],
    }


def _deployment(install: Install) -> Manifest:
    labels = {"app.kubernetes.io/name": install.name, "app.kubernetes.io/component": "scheduler"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": install.name, "namespace": install.namespace, "labels": labels},
        "spec": {
            "replicas": install.replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod(install)},
        },
    }


def _pod(install: Install) -> Manifest:
    probe = {"scheme": "HTTPS", "port": 10259}
    return {
        "serviceAccountName": install.name,
        "priorityClassName": "system-cluster-critical",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "podium",
                "image": install.image,
                "command": [
                    "podium",
                    "run",
                    f"--scheduler-name={install.scheduler_name}",
                    f"--leader-elect-resource-name={install.lease}",
                    f"--leader-elect-resource-namespace={install.namespace}",
                    "--logging-format=json",
                ],
                "ports": [{"name": "https", "containerPort": 10259}],
                "livenessProbe": {"httpGet": {**probe, "path": "/livez"}, "initialDelaySeconds": 15},
                "readinessProbe": {"httpGet": {**probe, "path": "/readyz"}},
                "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                # Keys on their way to OpenSSL: in memory, and gone at once.
                "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
            }
        ],
        "volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory"}}],
    }
