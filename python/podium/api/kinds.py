"""The one table of kinds: what (apiVersion, kind) decodes to, and where such objects live."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from podium.api.objects import groups, metrics, node, pod, policy, storage, workloads
from podium.api.objects.base import Object


class Kind(NamedTuple):
    """One row of the table."""

    api_version: str
    type: type[Object]
    namespaced: bool
    plural: str

    @property
    def name(self) -> str:
        """The kind as manifests write it."""
        return kind_of(self.type)

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def resource(self) -> str:
        """Resource and group as the API server's refusals name them, such as ``deployments.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def kind_of(struct: type[Object]) -> str:
    """Return the kind that a struct is tagged with."""
    return str(struct.__struct_config__.tag)


_SCHEDULING = "scheduling.k8s.io/v1"
_STORAGE = "storage.k8s.io/v1"

KINDS: tuple[Kind, ...] = (
    Kind("v1", node.Node, namespaced=False, plural="nodes"),
    Kind("v1", pod.Pod, namespaced=True, plural="pods"),
    Kind("v1", policy.Namespace, namespaced=False, plural="namespaces"),
    Kind("v1", policy.Service, namespaced=True, plural="services"),
    Kind("v1", policy.LimitRange, namespaced=True, plural="limitranges"),
    Kind("v1", storage.PersistentVolume, namespaced=False, plural="persistentvolumes"),
    Kind("v1", storage.PersistentVolumeClaim, namespaced=True, plural="persistentvolumeclaims"),
    Kind("v1", workloads.ReplicationController, namespaced=True, plural="replicationcontrollers"),
    Kind("apps/v1", workloads.ReplicaSet, namespaced=True, plural="replicasets"),
    Kind("apps/v1", workloads.Deployment, namespaced=True, plural="deployments"),
    Kind("apps/v1", workloads.StatefulSet, namespaced=True, plural="statefulsets"),
    Kind("apps/v1", workloads.DaemonSet, namespaced=True, plural="daemonsets"),
    Kind("batch/v1", workloads.Job, namespaced=True, plural="jobs"),
    Kind("batch/v1", workloads.CronJob, namespaced=True, plural="cronjobs"),
    Kind(_STORAGE, storage.StorageClass, namespaced=False, plural="storageclasses"),
    Kind(_STORAGE, storage.CSINode, namespaced=False, plural="csinodes"),
    Kind(_STORAGE, storage.CSIDriver, namespaced=False, plural="csidrivers"),
    Kind(_STORAGE, storage.CSIStorageCapacity, namespaced=True, plural="csistoragecapacities"),
    Kind(_STORAGE, storage.VolumeAttachment, namespaced=False, plural="volumeattachments"),
    Kind(_SCHEDULING, policy.PriorityClass, namespaced=False, plural="priorityclasses"),
    Kind("node.k8s.io/v1", policy.RuntimeClass, namespaced=False, plural="runtimeclasses"),
    Kind("policy/v1", policy.PodDisruptionBudget, namespaced=True, plural="poddisruptionbudgets"),
    Kind("scheduling.k8s.io/v1beta1", groups.PodGroup, namespaced=True, plural="podgroups"),
    Kind("scheduling.x-k8s.io/v1alpha1", groups.CoschedulingPodGroup, namespaced=True, plural="podgroups"),
    Kind("scheduling.volcano.sh/v1beta1", groups.VolcanoPodGroup, namespaced=True, plural="podgroups"),
    Kind("scheduling.volcano.sh/v1beta1", groups.Queue, namespaced=False, plural="queues"),
    Kind("metrics.k8s.io/v1beta1", metrics.NodeMetrics, namespaced=False, plural="nodes"),
    Kind("metrics.k8s.io/v1beta1", metrics.PodMetrics, namespaced=True, plural="pods"),
)

BY_NAME: Mapping[tuple[str, str], Kind] = {(kind.api_version, kind.name): kind for kind in KINDS}
"""(apiVersion, kind) to its row."""

BY_TYPE: Mapping[type[Object], Kind] = {kind.type: kind for kind in KINDS}
"""Struct to its row."""

SERVED_GROUPS: Mapping[tuple[str, str], str] = {(kind.group, kind.name): kind.api_version for kind in KINDS}
"""(group, kind) to the one version that is served, to tell an old version from a foreign kind."""


def to_wire(item: Object) -> dict[str, object]:
    """Return an object as the JSON of its manifest would be, with apiVersion and kind first."""
    kind = BY_TYPE[type(item)]
    body = msgspec.to_builtins(item)
    body.pop("kind", None)
    return {"apiVersion": kind.api_version, "kind": kind.name, **body}
