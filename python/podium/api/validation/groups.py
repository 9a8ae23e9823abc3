"""Gangs: what the API server and the schemas of the two other projects refuse."""

from collections.abc import Mapping

from podium.api.features import FeatureGates
from podium.api.objects.groups import CoschedulingPodGroup, PodGroup, Queue, VolcanoPodGroup
from podium.api.validation import meta
from podium.api.validation.fields import NEGATIVE, Errors
from podium.api.validation.names import dns_subdomain, label_key
from podium.api.validation.resources import amount

_AT_LEAST_ONE = "should be greater than or equal to 1"
_AT_LEAST_ZERO = "should be greater than or equal to 0"
_MAX_WEIGHT = 65535


def pod_group(errors: Errors, item: PodGroup, _gates: FeatureGates) -> None:
    """Check a group of scheduling.k8s.io."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    policy = item.spec.scheduling_policy
    if (policy.basic is None) == (policy.gang is None):
        given = "" if policy.gang is None else "{`basic`, `gang`}"
        text = "must specify exactly one of: `basic`, `gang`"
        errors.invalid("spec.schedulingPolicy", given, text)
    if policy.gang is not None and policy.gang.min_count < 1:
        text = "must be greater than or equal to 1"
        errors.invalid("spec.schedulingPolicy.gang.minCount", policy.gang.min_count, text)
    constraints = item.spec.scheduling_constraints
    for index, constraint in enumerate(constraints.topology if constraints else ()):
        at = f"spec.schedulingConstraints.topology[{index}].key"
        errors.invalids(at, constraint.key, label_key(constraint.key))
    if item.spec.parent_composite_pod_group_name is not None and item.spec.workload_ref is None:
        errors.required("spec.workloadRef", "must be set when parentCompositePodGroupName is set")


def coscheduling(errors: Errors, item: CoschedulingPodGroup, _gates: FeatureGates) -> None:
    """Check a group of scheduling.x-k8s.io."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    if item.spec.min_member < 1:
        errors.invalid("spec.minMember", item.spec.min_member, f"spec.minMember in body {_AT_LEAST_ONE}")
    _amounts(errors, item.spec.min_resources or {}, "spec.minResources")


def volcano(errors: Errors, item: VolcanoPodGroup, _gates: FeatureGates) -> None:
    """Check a group of Volcano."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    if item.spec.min_member < 0:
        errors.invalid("spec.minMember", item.spec.min_member, f"spec.minMember in body {_AT_LEAST_ZERO}")
    _amounts(errors, item.spec.min_resources or {}, "spec.minResources")


def queue(errors: Errors, item: Queue, _gates: FeatureGates) -> None:
    """Check a queue of Volcano."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    spec = item.spec
    if not 0 <= spec.weight <= _MAX_WEIGHT:
        errors.invalid("spec.weight", spec.weight, f"queue weight must be in 1..{_MAX_WEIGHT}")
    errors.not_negative("spec.priority", spec.priority)
    _amounts(errors, spec.capability, "spec.capability")
    _amounts(errors, spec.deserved, "spec.deserved")
    if spec.guarantee is not None:
        _amounts(errors, spec.guarantee.resource, "spec.guarantee.resource")


def _amounts(errors: Errors, values: Mapping[str, str | int | float], path: str) -> None:
    for name, value in values.items():
        if NEGATIVE in amount(name, value):
            errors.invalid(f"{path}[{name}]", value, NEGATIVE)
