"""Single pods, each there for one reason."""

from typing import Any

from podium.simulator.sample.manifests import HOST, POOL, Manifest, container, manifest, node_term, toleration
from podium.simulator.sample.nodes import GPU
from podium.simulator.sample.storage import ARCHIVES

DISKS = 6


def oddities(machines: list[Manifest]) -> list[Manifest]:
    """Return bare pods: gated, foreign, impossible, pinned, with inline disks, host ports, archives."""
    return [
        *(_pod(f"gated-{i}", "store", schedulingGates=[{"name": "example.com/quota"}]) for i in range(3)),
        *(_pod(f"foreign-{i}", "store", schedulerName="another-scheduler") for i in range(2)),
        _pod("too-large", "jobs", containers=[container("jobs/crunch:1", "200", "1Gi")]),
        _pod("nowhere", "jobs", nodeSelector={"example.com/pool": "mainframe"}),
        _pod("patient", "ml", **_patient()),
        *(
            _pod(f"restarting-{i}", "jobs", restartPolicy="Never", containers=[_restarting()])
            for i in range(3)
        ),
        *(_with_disk(index) for index in range(DISKS)),
        *(_on_port(index) for index in range(5)),
        *(_with_archive(index) for index in range(ARCHIVES)),
        _pod("second-reader", "data", volumes=_claims("archive-00")),
        *_pod_level(),
        *_pinned(machines),
    ]


def _pod(name: str, namespace: str, **spec: Any) -> Manifest:
    spec = {"containers": [container("base/tool:1", "100m", "128Mi")], **spec}
    return manifest("Pod", name, namespace=namespace, labels={"app": name.rsplit("-", 1)[0]}, spec=spec)


def _claims(name: str) -> list[Manifest]:
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]


def _patient() -> Manifest:
    """Return what outranks training but may push nobody out."""
    whole_node = container("ml/train:4", "1", "1Gi", extra={GPU: "4"})
    return {"priorityClassName": "patient", "containers": [whole_node], "tolerations": [toleration(GPU)]}


def _restarting() -> Manifest:
    exits = {"operator": "In", "values": [42]}
    rules = [{"action": "RestartAllContainers", "exitCodes": exits}]
    return container("jobs/crunch:1", "100m", "128Mi", restartPolicy="Never", restartPolicyRules=rules)


def _with_disk(index: int) -> Manifest:
    """Return a pod on one of two shared disks: writers need a node each, readers may meet."""
    disk = {"pdName": f"catalogue-{index % 2}", "readOnly": index >= 2}
    volumes = [{"name": "disk", "gcePersistentDisk": disk}]
    return _pod(f"catalogue-{index}", "store", volumes=volumes, nodeSelector={HOST: f"small-{index % 3:03d}"})


def _on_port(index: int) -> Manifest:
    ports = [{"containerPort": 8443, "hostPort": 8443, "hostIP": "10.0.0.1" if index % 2 else "0.0.0.0"}]
    return _pod(
        f"ingress-{index}",
        "kube-system",
        containers=[container("base/ingress:1", "200m", "256Mi", ports=ports)],
        nodeSelector={POOL: "control"},
        tolerations=[{"operator": "Exists"}],
    )


def _with_archive(index: int) -> Manifest:
    return _pod(f"archiver-{index:02d}", "data", volumes=_claims(f"archive-{index:02d}"))


def _pod_level() -> list[Manifest]:
    """Return pods that ask as a whole, and in huge pages."""
    asked = {"requests": {"cpu": "2", "memory": "3Gi"}, "limits": {"cpu": "3", "memory": "3Gi"}}
    two = [container("base/tool:1", "100m", "128Mi"), container("base/side:1", "100m", "128Mi")]
    huge = container("data/huge:1", "500m", "512Mi", extra={"hugepages-2Mi": "256Mi"})
    return [
        *(_pod(f"whole-{i}", "search", containers=two, resources=asked) for i in range(4)),
        *(_pod(f"huge-{i}", "search", containers=[huge]) for i in range(4)),
    ]


def _pinned(machines: list[Manifest]) -> list[Manifest]:
    """Return pods that name their node by its field, as a daemon controller does; one of them is gone."""
    found = []
    for name in [*(m["metadata"]["name"] for m in machines[3:6]), "gone-000"]:
        field = {"matchFields": node_term("metadata.name", name)["matchExpressions"]}
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [field]}}
        found.append(_pod(f"pinned-{name}", "kube-system", affinity={"nodeAffinity": affinity}))
    return found
