"""Validation of the default plugins' arguments, with kube-scheduler's rules and messages.

Source: ``k8s.io/kubernetes/pkg/scheduler/apis/config/validation`` at v1.37.2, feature gates at their
defaults.
"""

from collections.abc import Callable, Sequence
from typing import Any

from podium.api import TopologySpreadConstraint
from podium.framework.config import args as types
from podium.framework.config.names import check_label_key, check_node_selector_term
from podium.framework.config.problems import Problems, child, index
from podium.framework.duration import Duration

_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_ONE_SECOND = Duration.parse("1s")


def validate_args(path: str, value: Any, problems: Problems) -> None:
    """Record what is wrong with the completed arguments of a default plugin; ``path`` is that of ``args``."""
    _VALIDATORS[type(value)](path, value, problems)


def _default_preemption(path: str, value: types.DefaultPreemptionArgs, problems: Problems) -> None:
    percentage, absolute = value.min_candidate_nodes_percentage, value.min_candidate_nodes_absolute
    percentage_path = child(path, "minCandidateNodesPercentage")
    absolute_path = child(path, "minCandidateNodesAbsolute")
    if not 0 <= percentage <= 100:
        problems.invalid(percentage_path, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        problems.invalid(absolute_path, absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        rule = "cannot be zero at the same time as"
        problems.invalid(percentage_path, percentage, f"{rule} minCandidateNodesAbsolute")
        problems.invalid(absolute_path, absolute, f"{rule} minCandidateNodesPercentage")


def _dynamic_resources(path: str, value: types.DynamicResourcesArgs, problems: Problems) -> None:
    if value.filter_timeout < Duration(0):
        problems.invalid(child(path, "filterTimeout"), value.filter_timeout, "must be zero or positive")
    if value.binding_timeout < _ONE_SECOND:
        problems.invalid(child(path, "bindingTimeout"), value.binding_timeout, "must be at least 1 second")


def _inter_pod_affinity(path: str, value: types.InterPodAffinityArgs, problems: Problems) -> None:
    weight = value.hard_pod_affinity_weight
    if not 0 <= weight <= 100:
        problems.invalid(child(path, "hardPodAffinityWeight"), weight, "not in valid range [0, 100]")


def _node_affinity(path: str, value: types.NodeAffinityArgs, problems: Problems) -> None:
    if value.added_affinity is None:
        return
    required = value.added_affinity.required
    where = child(path, "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")
    for at, term in enumerate(required.node_selector_terms if required else ()):
        check_node_selector_term(index(where, at), term, problems)
    where = child(path, "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution")
    for at, preferred in enumerate(value.added_affinity.preferred):
        if preferred.weight:
            check_node_selector_term(index(where, at), preferred.preference, problems)


def _balanced_allocation(
    path: str, value: types.NodeResourcesBalancedAllocationArgs, problems: Problems
) -> None:
    seen = set()
    for at, resource in enumerate(value.resources):
        where = index(child(path, "resources"), at)
        if resource.name in seen:
            problems.duplicate(child(where, "name"), resource.name)
        seen.add(resource.name)
        if resource.weight != 1:
            problems.invalid(child(where, "weight"), resource.weight, "must be 1")


def _fit(path: str, value: types.NodeResourcesFitArgs, problems: Problems) -> None:
    for at, name in enumerate(value.ignored_resources):
        check_label_key(index(child(path, "ignoredResources"), at), name, problems)
    for at, group in enumerate(value.ignored_resource_groups):
        where = index(child(path, "ignoredResourceGroups"), at)
        if "/" in group:
            problems.invalid(where, group, "resource group name can't contain '/'")
        check_label_key(where, group, problems)
    _scoring_strategy(child(path, "scoringStrategy"), value.scoring_strategy, problems)


def _scoring_strategy(path: str, strategy: types.ScoringStrategy, problems: Problems) -> None:
    if strategy.type not in _STRATEGIES:
        problems.unsupported(child(path, "type"), strategy.type, _STRATEGIES)
    for at, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            where = child(index(child(path, "resources"), at), "weight")
            rule = f"resource weight of {resource.name} not in valid range (0, 100]"
            problems.invalid(where, resource.weight, rule)
    ratio, where = strategy.requested_to_capacity_ratio, child(path, "requestedToCapacityRatio")
    if strategy.type != "RequestedToCapacityRatio":
        if ratio is not None:
            problems.forbidden(where, "must be nil when type is not RequestedToCapacityRatio")
    elif ratio is None:
        problems.required(where, "must be specified when type is RequestedToCapacityRatio")
    else:
        _shape(child(where, "shape"), ratio.shape, problems)


def _shape(path: str, shape: Sequence[types.ShapePoint], problems: Problems) -> None:
    if not shape:
        problems.required(path, "at least one point must be specified")
    for at in range(1, len(shape)):
        if shape[at - 1].utilization >= shape[at].utilization:
            where = child(index(path, at), "utilization")
            problems.invalid(where, shape[at].utilization, "values must be sorted in increasing order")
            break
    for at, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            where = child(index(path, at), "utilization")
            problems.invalid(where, point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= 10:
            problems.invalid(child(index(path, at), "score"), point.score, "not in valid range [0, 10]")


def _topology_spread(path: str, value: types.PodTopologySpreadArgs, problems: Problems) -> None:
    where = child(path, "defaultingType")
    if value.defaulting_type not in {"System", "List"}:
        problems.unsupported(where, value.defaulting_type, ("System", "List"))
    elif value.defaulting_type == "System" and value.default_constraints:
        problems.invalid(where, value.defaulting_type, "when .defaultConstraints are not empty")
    seen = set()
    for at, constraint in enumerate(value.default_constraints):
        where = index(child(path, "defaultConstraints"), at)
        _default_constraint(where, constraint, problems)
        key = (constraint.topology_key, constraint.when_unsatisfiable)
        if key in seen:
            problems.duplicate(where, f"{{{key[0]}, {key[1]}}}")
        seen.add(key)


def _default_constraint(path: str, constraint: TopologySpreadConstraint, problems: Problems) -> None:
    if constraint.max_skew <= 0:
        problems.invalid(child(path, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)")
    if constraint.topology_key:
        check_label_key(child(path, "topologyKey"), constraint.topology_key, problems)
    else:
        problems.required(child(path, "topologyKey"), "can not be empty")
    action, where = constraint.when_unsatisfiable, child(path, "whenUnsatisfiable")
    if not action:
        problems.required(where, "can not be empty")
    elif action not in _ACTIONS:
        problems.unsupported(where, action, _ACTIONS)
    if constraint.label_selector is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        problems.forbidden(child(path, "labelSelector"), detail)


def _volume_binding(path: str, value: types.VolumeBindingArgs, problems: Problems) -> None:
    seconds = value.bind_timeout_seconds
    if seconds < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        problems.invalid(child(path, "bindTimeoutSeconds"), seconds, detail)
    _shape(child(path, "shape"), value.shape, problems)


_VALIDATORS: dict[type, Callable[[str, Any, Problems], None]] = {
    types.DefaultPreemptionArgs: _default_preemption,
    types.DynamicResourcesArgs: _dynamic_resources,
    types.InterPodAffinityArgs: _inter_pod_affinity,
    types.NodeAffinityArgs: _node_affinity,
    types.NodeResourcesBalancedAllocationArgs: _balanced_allocation,
    types.NodeResourcesFitArgs: _fit,
    types.PodTopologySpreadArgs: _topology_spread,
    types.VolumeBindingArgs: _volume_binding,
}
