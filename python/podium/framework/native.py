"""The native plugins: which extension points each one implements.

They run in the core. Source: ``ExpandedPluginsV1`` of
``k8s.io/kubernetes/pkg/scheduler/apis/config/testing/defaults`` at v1.37.2.
"""

from typing import Final

_BOTH_FILTERS: Final = ("preFilter", "filter")
_FILTERS_AND_SCORES: Final = ("preFilter", "filter", "preScore", "score")

NATIVE_PLUGINS: Final[dict[str, tuple[str, ...]]] = {
    "SchedulingGates": ("preEnqueue",),
    "PrioritySort": ("queueSort",),
    "DRF": ("queueSort",),
    "NodeName": _BOTH_FILTERS,
    "NodeUnschedulable": _BOTH_FILTERS,
    "TaintToleration": _FILTERS_AND_SCORES,
    "NodeAffinity": _FILTERS_AND_SCORES,
    "NodePorts": _BOTH_FILTERS,
    "NodeResourcesFit": (*_FILTERS_AND_SCORES, "placementScore"),
    "VolumeRestrictions": _BOTH_FILTERS,
    "NodeVolumeLimits": _BOTH_FILTERS,
    "VolumeBinding": (*_BOTH_FILTERS, "reserve", "preScore", "score", "preBind"),
    "VolumeZone": _BOTH_FILTERS,
    "PodTopologySpread": _FILTERS_AND_SCORES,
    "InterPodAffinity": _FILTERS_AND_SCORES,
    "DynamicResources": (
        *_BOTH_FILTERS,
        "postFilter",
        "reserve",
        "score",
        "preBind",
        "preEnqueue",
        "podGroupPostFilter",
    ),
    "DefaultPreemption": ("postFilter", "preEnqueue", "podGroupPostFilter"),
    "NodeResourcesBalancedAllocation": ("preScore", "score"),
    "ImageLocality": ("score",),
    "DefaultBinder": ("bind",),
    "NodeDeclaredFeatures": _BOTH_FILTERS,
    # Podium's own: the core and the loop know of gangs, the name switches that on.
    "Gang": ("preEnqueue", "permit"),
}

#: Plugins that kube-scheduler has behind feature gates that are off by default, with what to do instead.
NOT_IMPLEMENTED: Final[dict[str, str]] = {
    "DeferredPodScheduling": "its feature gate InPlacePodVerticalScalingSchedulerPreemption is not supported",
    "GangScheduling": "Podium places gangs itself, remove the entry",
    "TopologyPlacementGenerator": "Podium places gangs itself, remove the entry",
    "PodGroupPodsCount": "Podium places gangs itself, remove the entry",
}
