"""Which kinds the scheduler follows, and which of them only where the server has them."""

from typing import Final

from podium.api import BY_NAME, Kind

#: Served by every API server, in the order in which the scheduler is told of them: pods last, since
#: everything else says where they can go.
ALWAYS: Final[tuple[Kind, ...]] = tuple(
    BY_NAME[key]
    for key in (
        ("v1", "Node"),
        ("v1", "Namespace"),
        ("v1", "Service"),
        ("v1", "ReplicationController"),
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("policy/v1", "PodDisruptionBudget"),
        ("storage.k8s.io/v1", "StorageClass"),
        ("storage.k8s.io/v1", "CSINode"),
        ("storage.k8s.io/v1", "CSIDriver"),
        ("storage.k8s.io/v1", "CSIStorageCapacity"),
        ("storage.k8s.io/v1", "VolumeAttachment"),
        ("v1", "PersistentVolume"),
        ("v1", "PersistentVolumeClaim"),
        ("v1", "Pod"),
    )
)

#: Followed from when their kind appears until it disappears.
OPTIONAL: Final[tuple[Kind, ...]] = tuple(
    BY_NAME[key]
    for key in (
        ("scheduling.k8s.io/v1", "PriorityClass"),
        ("scheduling.k8s.io/v1beta1", "PodGroup"),
        ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
        ("scheduling.volcano.sh/v1beta1", "PodGroup"),
        ("scheduling.volcano.sh/v1beta1", "Queue"),
    )
)

#: A pod that ended takes nothing: the server tells of it as deleted (as kube-scheduler's informer).
SELECTORS: Final[dict[str, str]] = {"Pod": "status.phase!=Succeeded,status.phase!=Failed"}
