"""Which events can help a pod that a native plugin rejected.

Source: ``EventsToRegister`` of the plugins in ``k8s.io/kubernetes/pkg/scheduler/framework/plugins`` at
v1.37.2. What happens to pods on nodes is narrowed down further by the core, which asks the plugin whether it
can see the difference.
"""

from typing import Final

from podium.framework.events import Action, ClusterEvent, Resource

_CHANGED: Final = Action.ADD | Action.UPDATE


def _node(action: Action) -> ClusterEvent:
    return ClusterEvent(Resource.NODE, action)


def _assigned(action: Action) -> ClusterEvent:
    return ClusterEvent(Resource.ASSIGNED_POD, action)


def _own(action: Action) -> ClusterEvent:
    return ClusterEvent(Resource.TARGET_POD, action)


_CLAIM_CHANGED: Final = ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, _CHANGED)
_VOLUME_CHANGED: Final = ClusterEvent(Resource.PERSISTENT_VOLUME, _CHANGED)
_PODS_COME_AND_GO: Final = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL

NATIVE_EVENTS: Final[dict[str, tuple[ClusterEvent, ...]]] = {
    "SchedulingGates": (_own(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED),),
    "NodeName": (_node(Action.ADD),),
    "NodeUnschedulable": (
        _node(Action.ADD | Action.UPDATE_NODE_TAINT),
        _own(Action.UPDATE_POD_TOLERATION),
    ),
    "TaintToleration": (
        _node(Action.ADD | Action.UPDATE_NODE_TAINT),
        _own(Action.UPDATE_POD_TOLERATION),
    ),
    "NodeAffinity": (_node(Action.ADD | Action.UPDATE_NODE_LABEL),),
    "NodePorts": (_assigned(Action.DELETE), _node(Action.ADD)),
    "NodeResourcesFit": (
        _assigned(Action.DELETE | Action.UPDATE_POD_SCALE_DOWN),
        _own(Action.UPDATE_POD_SCALE_DOWN),
        _node(Action.ADD | Action.UPDATE_NODE_ALLOCATABLE),
    ),
    "VolumeRestrictions": (
        _assigned(Action.DELETE),
        _node(Action.ADD),
        ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
    ),
    "NodeVolumeLimits": (
        ClusterEvent(Resource.CSI_NODE, _CHANGED),
        ClusterEvent(Resource.CSI_DRIVER, _CHANGED | Action.DELETE),
        _assigned(Action.DELETE),
        ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
        ClusterEvent(Resource.VOLUME_ATTACHMENT, Action.DELETE),
    ),
    "VolumeBinding": (
        ClusterEvent(Resource.STORAGE_CLASS, _CHANGED),
        _CLAIM_CHANGED,
        _VOLUME_CHANGED,
        _node(Action.ADD | Action.UPDATE_NODE_LABEL),
        ClusterEvent(Resource.CSI_NODE, _CHANGED),
        ClusterEvent(Resource.CSI_DRIVER, Action.UPDATE),
        ClusterEvent(Resource.CSI_STORAGE_CAPACITY, _CHANGED),
    ),
    "VolumeZone": (
        ClusterEvent(Resource.STORAGE_CLASS, Action.ADD),
        _CLAIM_CHANGED,
        _VOLUME_CHANGED,
        _node(Action.ADD | Action.UPDATE_NODE_LABEL),
    ),
    "PodTopologySpread": (
        _assigned(_PODS_COME_AND_GO),
        _own(Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION),
        _node(Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT),
    ),
    "InterPodAffinity": (
        _assigned(_PODS_COME_AND_GO),
        _own(Action.UPDATE_POD_LABEL),
        _node(Action.ADD | Action.UPDATE_NODE_LABEL),
    ),
    "NodeDeclaredFeatures": (
        _node(Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE),
        _own(Action.UPDATE),
    ),
    # A limit of a tenant: what the tenant gives back, or more capacity where others' guarantees count.
    "DRF": (
        _assigned(Action.DELETE | Action.UPDATE_POD_SCALE_DOWN),
        _own(Action.UPDATE_POD_SCALE_DOWN),
        _node(Action.ADD | Action.UPDATE_NODE_ALLOCATABLE),
    ),
    # A gang is tried again when members come (the scheduler knows which) or room is made.
    "Gang": (
        _assigned(Action.DELETE | Action.UPDATE_POD_SCALE_DOWN),
        _node(
            Action.ADD | Action.UPDATE_NODE_ALLOCATABLE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        ),
    ),
    # Dynamic resource allocation is not supported: nothing can help.
    "DynamicResources": (),
}
