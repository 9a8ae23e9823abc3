"""What the API server fills in when it reads an object (``SetObjectDefaults_*`` of v1.37.2).

Only fields that something here reads are filled. The functions complete objects in place: the loader calls
them once, on objects that nobody else holds yet. ``set_defaults`` is for all kinds; a pod's template gets
less than a pod (``_pod_spec`` against ``_pod``), as upstream has it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from podium.api.kinds import BY_TYPE
from podium.api.objects import policy, storage, workloads
from podium.api.objects.base import Object, Quantity, ResourceRequirements
from podium.api.objects.node import Node
from podium.api.objects.pod import Container, ContainerPort, Pod, PodSpec
from podium.api.objects.volumes import VOLUME_SOURCES, EmptyDir, PersistentVolumeClaimSpec, Volume
from podium.api.quantities import normalise

DEFAULT_SCHEDULER = "default-scheduler"
GRACE_PERIOD = 30
RBD_POOL = "rbd"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"

_ROUNDED_GROUPS = frozenset({"", "apps", "batch", "node.k8s.io"})
"""Groups whose resource lists the API server rounds up to milli.

A RuntimeClass is stored as it is, but the overhead it gives to a pod is rounded when the pod is read.
"""


def set_defaults(item: Object) -> None:
    """Complete an object in place.

    Raises InputError with the field's path if a text is no quantity.
    """
    normalise(item, rounded=BY_TYPE[type(item)].group in _ROUNDED_GROUPS)
    complete = _DEFAULTS.get(type(item))
    if complete is not None:
        complete(item)


def _or(value: str | None, default: str) -> str:
    return value or default


def _requests_from_limits(resources: ResourceRequirements) -> None:
    missing = resources.limits.keys() - resources.requests.keys()
    if missing:
        limits = resources.limits.items()
        added = {name: value for name, value in limits if name in missing}
        resources.requests = {**resources.requests, **added}


def _ports(containers: Iterable[Container]) -> Iterable[ContainerPort]:
    return (port for container in containers for port in container.ports)


def _volume(volume: Volume) -> None:
    sources = (getattr(volume, name) for name in VOLUME_SOURCES)
    if all(source is None for source in sources):
        volume.empty_dir = EmptyDir()
    if volume.rbd is not None:
        volume.rbd.pool = _or(volume.rbd.pool, RBD_POOL)
    if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
        _claim_spec(volume.ephemeral.volume_claim_template.spec)


def _pod_spec(spec: PodSpec) -> None:
    spec.restart_policy = _or(spec.restart_policy, "Always")
    spec.scheduler_name = _or(spec.scheduler_name, DEFAULT_SCHEDULER)
    if spec.termination_grace_period_seconds is None:
        spec.termination_grace_period_seconds = GRACE_PERIOD
    for port in _ports([*spec.containers, *spec.init_containers, *spec.ephemeral_containers]):
        port.protocol = _or(port.protocol, "TCP")
    for volume in spec.volumes:
        _volume(volume)


def complete_pod_spec(spec: PodSpec) -> None:
    """Complete the spec of a pod: what ``SetObjectDefaults_Pod`` adds to that of a template."""
    _pod_spec(spec)
    if spec.termination_grace_period_seconds is not None and spec.termination_grace_period_seconds < 0:
        spec.termination_grace_period_seconds = 1
    run = [*spec.containers, *spec.init_containers]
    for container in run:
        _requests_from_limits(container.resources)
    if spec.host_network:
        for port in _ports(run):
            port.host_port = port.host_port or port.container_port


def _pod(pod: Pod) -> None:
    complete_pod_spec(pod.spec)


def _node(node: Node) -> None:
    if node.status.allocatable is None:
        node.status.allocatable = node.status.capacity


def _namespace(namespace: policy.Namespace) -> None:
    if namespace.metadata.name:
        labels = {**namespace.metadata.labels, NAMESPACE_LABEL: namespace.metadata.name}
        namespace.metadata.labels = labels


def _claim_spec(spec: PersistentVolumeClaimSpec) -> None:
    spec.volume_mode = _or(spec.volume_mode, "Filesystem")


def _claim(claim: storage.PersistentVolumeClaim) -> None:
    _claim_spec(claim.spec)
    claim.status.phase = _or(claim.status.phase, "Pending")


def _volume_object(volume: storage.PersistentVolume) -> None:
    spec = volume.spec
    spec.persistent_volume_reclaim_policy = _or(spec.persistent_volume_reclaim_policy, "Retain")
    spec.volume_mode = _or(spec.volume_mode, "Filesystem")
    if spec.rbd is not None:
        spec.rbd.pool = _or(spec.rbd.pool, RBD_POOL)
    volume.status.phase = _or(volume.status.phase, "Pending")


def _storage_class(item: storage.StorageClass) -> None:
    item.reclaim_policy = item.reclaim_policy or "Delete"
    if item.volume_binding_mode is None:
        item.volume_binding_mode = "Immediate"


def _csi_driver(driver: storage.CSIDriver) -> None:
    spec = driver.spec
    spec.attach_required = True if spec.attach_required is None else spec.attach_required
    spec.storage_capacity = bool(spec.storage_capacity)
    spec.volume_lifecycle_modes = spec.volume_lifecycle_modes or ["Persistent"]
    spec.prevent_pod_scheduling_if_missing = bool(spec.prevent_pod_scheduling_if_missing)


def _priority_class(item: policy.PriorityClass) -> None:
    if item.preemption_policy is None:
        item.preemption_policy = "PreemptLowerPriority"


def _service(service: policy.Service) -> None:
    service.spec.type = _or(service.spec.type, "ClusterIP")


def _filled(*lists: Mapping[str, Quantity]) -> dict[str, Quantity]:
    """Merge resource lists; the first that has a resource wins."""
    merged: dict[str, Quantity] = {}
    for values in lists:
        merged.update((name, value) for name, value in values.items() if name not in merged)
    return merged


def _limit_range(item: policy.LimitRange) -> None:
    for limit in item.spec.limits:
        if limit.type == "Container":
            limit.default = _filled(limit.default, limit.max)
            limit.default_request = _filled(limit.default_request, limit.default, limit.min)


def _replicated(item: workloads.ReplicaSet | workloads.Deployment | workloads.StatefulSet) -> None:
    _pod_spec(item.spec.template.spec)
    if item.spec.replicas is None:
        item.spec.replicas = 1


def _stateful_set(item: workloads.StatefulSet) -> None:
    _replicated(item)
    item.spec.pod_management_policy = _or(item.spec.pod_management_policy, "OrderedReady")
    for claim in item.spec.volume_claim_templates:
        _claim(claim)


def _daemon_set(item: workloads.DaemonSet) -> None:
    _pod_spec(item.spec.template.spec)


def _replication_controller(item: workloads.ReplicationController) -> None:
    if item.spec.replicas is None:
        item.spec.replicas = 1
    if item.spec.template is not None:
        _pod_spec(item.spec.template.spec)
        item.spec.selector = item.spec.selector or item.spec.template.metadata.labels
        item.metadata.labels = item.metadata.labels or item.spec.template.metadata.labels


def _job_spec(spec: workloads.JobSpec) -> None:
    _pod_spec(spec.template.spec)
    if spec.completions is None and spec.parallelism is None:
        spec.completions = 1
    if spec.parallelism is None:
        spec.parallelism = 1
    if spec.backoff_limit is None:
        spec.backoff_limit = 6
    spec.completion_mode = spec.completion_mode or "NonIndexed"
    spec.suspend = bool(spec.suspend)
    spec.manual_selector = bool(spec.manual_selector)


def _job(job: workloads.Job) -> None:
    _job_spec(job.spec)
    job.metadata.labels = job.metadata.labels or job.spec.template.metadata.labels


def _cron_job(item: workloads.CronJob) -> None:
    # The job template gets its own defaults when the Job is made; here only what a template gets.
    _pod_spec(item.spec.job_template.spec.template.spec)
    item.spec.suspend = bool(item.spec.suspend)


_T = TypeVar("_T", bound=Object)


def _row(kind: type[_T], complete: Callable[[_T], None]) -> tuple[type[Object], Callable[[Any], None]]:
    return kind, complete


_DEFAULTS: Mapping[type[Object], Callable[[Any], None]] = dict(
    [
        _row(Pod, _pod),
        _row(Node, _node),
        _row(policy.Namespace, _namespace),
        _row(policy.Service, _service),
        _row(policy.LimitRange, _limit_range),
        _row(policy.PriorityClass, _priority_class),
        _row(storage.PersistentVolume, _volume_object),
        _row(storage.PersistentVolumeClaim, _claim),
        _row(storage.StorageClass, _storage_class),
        _row(storage.CSIDriver, _csi_driver),
        _row(workloads.ReplicationController, _replication_controller),
        _row(workloads.ReplicaSet, _replicated),
        _row(workloads.Deployment, _replicated),
        _row(workloads.StatefulSet, _stateful_set),
        _row(workloads.DaemonSet, _daemon_set),
        _row(workloads.Job, _job),
        _row(workloads.CronJob, _cron_job),
    ]
)
