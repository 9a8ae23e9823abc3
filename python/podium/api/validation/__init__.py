"""What the API server refuses on creation, in its words, for the fields that are read here.

One file per area, one function per kind. Facts are those of v1.37.2's ``pkg/apis/*/validation``; fields that
nothing here reads are not judged.
"""

from collections.abc import Callable, Mapping
from typing import Any

from podium.api.features import FeatureGates
from podium.api.kinds import BY_TYPE
from podium.api.objects import groups as group_kinds
from podium.api.objects import node, policy
from podium.api.objects import pod as pod_kinds
from podium.api.objects import storage as storage_kinds
from podium.api.objects import workloads as workload_kinds
from podium.api.objects.base import Object
from podium.api.validation import cluster, groups, limits, pod, storage, workloads
from podium.api.validation.fields import Errors

__all__ = ["problems", "refusal"]

_CHECKS: Mapping[type[Object], Callable[[Errors, Any, FeatureGates], None]] = {
    pod_kinds.Pod: pod.pod,
    node.Node: cluster.node,
    policy.Namespace: cluster.namespace,
    policy.Service: cluster.service,
    policy.PriorityClass: cluster.priority_class,
    policy.RuntimeClass: cluster.runtime_class,
    policy.PodDisruptionBudget: cluster.budget,
    policy.LimitRange: limits.limit_range,
    storage_kinds.PersistentVolume: storage.volume,
    storage_kinds.PersistentVolumeClaim: storage.claim,
    storage_kinds.StorageClass: storage.storage_class,
    storage_kinds.CSINode: storage.csi_node,
    storage_kinds.CSIDriver: storage.csi_driver,
    storage_kinds.CSIStorageCapacity: storage.capacity,
    storage_kinds.VolumeAttachment: storage.attachment,
    workload_kinds.Deployment: workloads.deployment,
    workload_kinds.ReplicaSet: workloads.replica_set,
    workload_kinds.ReplicationController: workloads.replication_controller,
    workload_kinds.StatefulSet: workloads.stateful_set,
    workload_kinds.DaemonSet: workloads.daemon_set,
    workload_kinds.Job: workloads.job,
    workload_kinds.CronJob: workloads.cron_job,
    group_kinds.PodGroup: groups.pod_group,
    group_kinds.CoschedulingPodGroup: groups.coscheduling,
    group_kinds.VolcanoPodGroup: groups.volcano,
    group_kinds.Queue: groups.queue,
}


def problems(item: Object, gates: FeatureGates) -> list[str]:
    """Return what is wrong with a defaulted and admitted object, each with its field's path first."""
    errors = Errors()
    check = _CHECKS.get(type(item))
    if check is not None:
        check(errors, item, gates)
    return errors


def refusal(item: Object, gates: FeatureGates) -> str:
    """Return the API server's message about a defaulted and admitted object, or "" if it is valid."""
    found = list(dict.fromkeys(problems(item, gates)))
    if not found:
        return ""
    kind = BY_TYPE[type(item)]
    resource = f"{kind.name}.{kind.group}" if kind.group else kind.name
    reason = found[0] if len(found) == 1 else f"[{', '.join(found)}]"
    return f'{resource} "{item.metadata.name}" is invalid: {reason}'
