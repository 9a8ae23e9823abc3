"""Which group a pod belongs to, by any of the ways in which users say so."""

from podium.api import Pod
from podium.framework.config import GangSettings

_COSCHEDULING_LABEL = "scheduling.x-k8s.io/pod-group"
_VOLCANO_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")


def group_of(pod: Pod, settings: GangSettings) -> str | None:
    """Return the name of the pod's group in its namespace, None if it is in no group."""
    group = pod.spec.scheduling_group
    if group is not None and group.pod_group_name:
        return group.pod_group_name
    labels, annotations = pod.metadata.labels, pod.metadata.annotations
    name = labels and (labels.get(settings.label) or labels.get(_COSCHEDULING_LABEL))
    if not name and annotations:
        name = next((annotations[key] for key in _VOLCANO_ANNOTATIONS if annotations.get(key)), None)
    return name or None
