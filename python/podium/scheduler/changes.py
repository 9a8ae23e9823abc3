"""What an update of an object means for waiting pods: kube-scheduler's event derivation."""

from podium.api import Node, Object, Pod
from podium.framework.events import Action, Resource
from podium.scheduler.events import bit

#: Kinds that the core reads, besides nodes and pods, with the resource their events are about (None: no
#: plugin registers for it).
WORLD_KINDS: dict[str, Resource | None] = {
    "Namespace": None,
    "Service": None,
    "ReplicationController": None,
    "ReplicaSet": None,
    "StatefulSet": None,
    "PodDisruptionBudget": None,
    "PersistentVolume": Resource.PERSISTENT_VOLUME,
    "PersistentVolumeClaim": Resource.PERSISTENT_VOLUME_CLAIM,
    "StorageClass": Resource.STORAGE_CLASS,
    "CSINode": Resource.CSI_NODE,
    "CSIDriver": Resource.CSI_DRIVER,
    "CSIStorageCapacity": Resource.CSI_STORAGE_CAPACITY,
    "VolumeAttachment": Resource.VOLUME_ATTACHMENT,
}


def node_changed(old: Node | None, new: Node) -> int:
    """Return the bits of what changed on a node; 0 if nothing that a plugin can see."""
    if old is None:
        return bit(Resource.NODE, Action.ADD)
    uncordoned = old.spec.unschedulable and not new.spec.unschedulable
    changes = (
        (old.status.allocatable != new.status.allocatable, Action.UPDATE_NODE_ALLOCATABLE),
        (old.metadata.labels != new.metadata.labels, Action.UPDATE_NODE_LABEL),
        (old.spec.taints != new.spec.taints or uncordoned, Action.UPDATE_NODE_TAINT),
        (old.metadata.annotations != new.metadata.annotations, Action.UPDATE_NODE_ANNOTATION),
        (
            old.status.declared_features != new.status.declared_features,
            Action.UPDATE_NODE_DECLARED_FEATURE,
        ),
    )
    return sum(bit(Resource.NODE, action) for changed, action in changes if changed)


def pod_changed(resource: Resource, old: Pod, new: Pod) -> int:
    """Return the bits of what changed on a pod, as events about ``resource``."""
    changes = (
        (old.metadata.labels != new.metadata.labels, Action.UPDATE_POD_LABEL),
        (_requests_may_be_less(old, new), Action.UPDATE_POD_SCALE_DOWN),
        (old.spec.tolerations != new.spec.tolerations, Action.UPDATE_POD_TOLERATION),
        (
            bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates,
            Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
        ),
    )
    specific = sum(bit(resource, action) for changed, action in changes if changed)
    return specific or bit(resource, Action.UPDATE)


def _requests_may_be_less(old: Pod, new: Pod) -> bool:
    """Whether any amount changed; a wake-up too many is harmless, one too few is not."""
    spec = (old.spec.containers, old.spec.init_containers, old.spec.resources)
    status = (old.status.container_statuses, old.status.allocated_resources, old.status.resources)
    new_spec = (new.spec.containers, new.spec.init_containers, new.spec.resources)
    new_status = (new.status.container_statuses, new.status.allocated_resources, new.status.resources)
    return spec != new_spec or status != new_status


def world_changed(kind: str, existed: bool) -> int:  # noqa: FBT001 (one fact about one object)
    """Return the bit of an added or updated object of another kind; 0 if nobody waits for such."""
    resource = WORLD_KINDS[kind]
    if resource is None:
        return 0
    return bit(resource, Action.UPDATE if existed else Action.ADD)


def world_removed(kind: str) -> int:
    """Return the bit of a removed object of another kind; 0 if nobody waits for such."""
    resource = WORLD_KINDS[kind]
    return 0 if resource is None else bit(resource, Action.DELETE)


def key(item: Object) -> tuple[str, str]:
    """Return namespace and name."""
    return item.metadata.namespace, item.metadata.name
