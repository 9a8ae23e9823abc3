"""What the pod strategy does on creation: label keys join selectors, pod-level resources are completed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from podium.api.objects.affinity import PodAffinityTerm, TopologySpreadConstraint
from podium.api.objects.base import LabelSelector, LabelSelectorRequirement, Quantity, ResourceRequirements
from podium.api.objects.pod import PodSpec
from podium.api.quantities import exact
from podium.api.requests import HUGEPAGES, aggregate, is_pod_level, limits_of, requests_of


def affinity_terms(spec: PodSpec) -> Iterator[PodAffinityTerm]:
    """Yield all pod affinity and anti-affinity terms."""
    affinity = spec.affinity
    if affinity is None:
        return
    for part in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if part is not None:
            yield from (weighted.pod_affinity_term for weighted in part.preferred)
            yield from part.required


def label_keys(spec: PodSpec) -> Sequence[str]:
    """Return the label keys whose values a pod's own selectors take over."""
    keys: set[str] = set()
    for term in affinity_terms(spec):
        keys.update(term.match_label_keys, term.mismatch_label_keys)
    for constraint in spec.topology_spread_constraints:
        keys.update(constraint.match_label_keys)
    return sorted(keys)


def merge_label_keys(spec: PodSpec, labels: Mapping[str, str]) -> None:
    """Add the pod's values of matchLabelKeys and mismatchLabelKeys to the selectors, in place.

    What is there already is not added again, so that a pod that has been through this stays as it is.
    """
    for term in affinity_terms(spec):
        _extend(term, "In", term.match_label_keys, labels)
        _extend(term, "NotIn", term.mismatch_label_keys, labels)
    for constraint in spec.topology_spread_constraints:
        _extend(constraint, "In", constraint.match_label_keys, labels)


def _extend(
    holder: PodAffinityTerm | TopologySpreadConstraint,
    operator: str,
    keys: Iterable[str],
    labels: Mapping[str, str],
) -> None:
    selector = holder.label_selector
    if selector is None:
        return
    added = [
        requirement
        for key in keys
        if key in labels
        for requirement in [LabelSelectorRequirement(key=key, operator=operator, values=[labels[key]])]
        if requirement not in selector.match_expressions
    ]
    if added:
        expressions = [*selector.match_expressions, *added]
        holder.label_selector = LabelSelector(
            match_labels=selector.match_labels, match_expressions=expressions
        )


def default_pod_level(spec: PodSpec) -> None:
    """Complete pod-level resources in place, as v1.37 does with gate PodLevelResourcesFixDefaulting.

    Huge page limits come from the containers; requests from the containers, else from pod-level limits;
    limits from the containers where each has one, at least the request.
    """
    whole = spec.resources
    if whole is None or not (whole.requests or whole.limits):
        return
    limits = aggregate(spec, limits_of)
    huge = {name: str(value) for name, value in limits.items() if name.startswith(HUGEPAGES)}
    whole.limits = _completed(whole.limits, huge, unless=whole.requests)
    asked = aggregate(spec, requests_of)
    overcommitted = {name: str(value) for name, value in asked.items() if name in ("cpu", "memory")}
    whole.requests = _completed(whole.requests, overcommitted)
    given = {name: value for name, value in whole.limits.items() if is_pod_level(name)}
    whole.requests = _completed(whole.requests, given)
    _default_limits(spec, whole)


def _completed(
    values: Mapping[str, Quantity],
    more: Mapping[str, Quantity],
    unless: Mapping[str, Quantity] | None = None,
) -> dict[str, Quantity]:
    extra = {name: value for name, value in more.items() if name not in values and name not in (unless or {})}
    return {**values, **extra}


def _default_limits(spec: PodSpec, whole: ResourceRequirements) -> None:
    containers = (*spec.containers, *spec.init_containers)
    limits = aggregate(spec, limits_of)
    added: dict[str, Quantity] = {}
    for name, value in whole.requests.items():
        limited = all(name in container.resources.limits for container in containers)
        if is_pod_level(name) and name not in whole.limits and limited and name in limits:
            added[name] = str(max(limits[name], exact(value)))
    whole.limits = {**whole.limits, **added}
