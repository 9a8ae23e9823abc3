"""What closed feature gates take from objects that were loaded all the same."""

from podium.api.features import FeatureGates
from podium.api.objects.base import Object
from podium.api.objects.pod import Pod
from podium.api.objects.storage import CSIDriver

_COMPARISONS = frozenset({"Gt", "Lt"})


def close(item: Object, gates: FeatureGates) -> None:
    """Take out the fields that kube-scheduler does not heed while their gate is closed.

    Tolerations that compare numbers then tolerate nothing, and a driver's wish to keep pods off nodes without
    it is not heard.
    """
    if isinstance(item, Pod):
        tolerations = item.spec.tolerations
        if any(toleration.operator in _COMPARISONS for toleration in tolerations) and not gates.enabled(
            "TaintTolerationComparisonOperators"
        ):
            item.spec.tolerations = [each for each in tolerations if each.operator not in _COMPARISONS]
    elif isinstance(item, CSIDriver) and not gates.enabled("VolumeLimitScaling"):
        item.spec.prevent_pod_scheduling_if_missing = None
