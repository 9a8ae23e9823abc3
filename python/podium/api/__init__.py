"""What a manifest says: objects, defaults, admission, workloads, validation. Pure data, no clock."""

from typing import TYPE_CHECKING, Any

from podium.api.features import DEFAULT_GATES, FeatureGates, parse_gates
from podium.api.kinds import BY_NAME, BY_TYPE, KINDS, Kind, kind_of, to_wire
from podium.api.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredSchedulingTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from podium.api.objects.base import (
    Condition,
    LabelSelector,
    LabelSelectorRequirement,
    Object,
    ObjectMeta,
    OwnerReference,
    Quantity,
    ResourceList,
    ResourceRequirements,
)
from podium.api.objects.groups import CoschedulingPodGroup, PodGroup, Queue, VolcanoPodGroup
from podium.api.objects.metrics import NodeMetrics, PodMetrics
from podium.api.objects.node import ContainerImage, Node, NodeSpec, NodeStatus, Taint
from podium.api.objects.pod import (
    Container,
    ContainerPort,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    SchedulingGate,
    SchedulingGroup,
)
from podium.api.objects.policy import (
    LimitRange,
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    RuntimeClass,
    Service,
)
from podium.api.objects.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.api.objects.volumes import Volume
from podium.api.objects.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)

if TYPE_CHECKING:
    from podium.api.manifest import Loaded, Manifest, Note, Options, load, load_objects

#: Only who reads manifests pays for importing what that takes: validation, admission, workloads, YAML.
_MANIFEST = frozenset({"Loaded", "Manifest", "Note", "Options", "load", "load_objects"})


def __getattr__(name: str) -> Any:
    if name not in _MANIFEST:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from podium.api import manifest

    return getattr(manifest, name)


__all__ = [
    "BY_NAME",
    "BY_TYPE",
    "DEFAULT_GATES",
    "KINDS",
    "Affinity",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "Condition",
    "Container",
    "ContainerImage",
    "ContainerPort",
    "ContainerStatus",
    "CoschedulingPodGroup",
    "CronJob",
    "DaemonSet",
    "Deployment",
    "FeatureGates",
    "Job",
    "Kind",
    "LabelSelector",
    "LabelSelectorRequirement",
    "LimitRange",
    "Loaded",
    "Manifest",
    "Namespace",
    "Node",
    "NodeAffinity",
    "NodeMetrics",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "Note",
    "Object",
    "ObjectMeta",
    "Options",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodDisruptionBudget",
    "PodGroup",
    "PodMetrics",
    "PodSpec",
    "PodStatus",
    "PodTemplateSpec",
    "PreferredSchedulingTerm",
    "PriorityClass",
    "Quantity",
    "Queue",
    "ReplicaSet",
    "ReplicationController",
    "ResourceList",
    "ResourceRequirements",
    "RuntimeClass",
    "SchedulingGate",
    "SchedulingGroup",
    "Service",
    "StatefulSet",
    "StorageClass",
    "Taint",
    "Toleration",
    "TopologySpreadConstraint",
    "VolcanoPodGroup",
    "Volume",
    "VolumeAttachment",
    "WeightedPodAffinityTerm",
    "kind_of",
    "load",
    "load_objects",
    "parse_gates",
    "to_wire",
]
