"""Nodes, namespaces, services, and what rules over pods."""

from collections.abc import Iterable

from podium.api.admission.priority import HIGHEST_USER_PRIORITY, SYSTEM_CLASSES
from podium.api.features import FeatureGates
from podium.api.objects.affinity import Toleration
from podium.api.objects.base import IntOrString
from podium.api.objects.node import Node
from podium.api.objects.policy import (
    Namespace,
    PodDisruptionBudget,
    PriorityClass,
    RuntimeClass,
    Service,
)
from podium.api.validation import meta, placement
from podium.api.validation.fields import Errors
from podium.api.validation.names import dns_label, dns_subdomain, percentage
from podium.api.validation.resources import amount, overhead

_SYSTEM = "system-"


def node(errors: Errors, item: Node, _gates: FeatureGates) -> None:
    """Check a node."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    # Upstream's path for taints is below metadata.
    placement.taints(errors, item.spec.taints, "metadata.taints")
    for name, values in (("capacity", item.status.capacity), ("allocatable", item.status.allocatable)):
        for resource, value in (values or {}).items():
            errors.invalids(f"status.{name}.{resource}", value, amount(resource, value))
    _features(errors, item.status.declared_features, "status.declaredFeatures")


def _features(errors: Errors, names: Iterable[str], path: str) -> None:
    before = ""
    for index, name in enumerate(names):
        at = f"{path}[{index}]"
        if index and name == before:
            errors.duplicate(at, name)
        elif index and name < before:
            errors.invalid(at, name, "list must be sorted alphabetically")
        before = name


def namespace(errors: Errors, item: Namespace, _gates: FeatureGates) -> None:
    """Check a namespace."""
    meta.object_meta(errors, item, dns_label, namespaced=False)


def service(errors: Errors, item: Service, _gates: FeatureGates) -> None:
    """Check a service's name and selector."""
    meta.object_meta(errors, item, dns_label, namespaced=True)
    meta.labels(errors, item.spec.selector or {}, "spec.selector")


def priority_class(errors: Errors, item: PriorityClass, _gates: FeatureGates) -> None:
    """Check a priority class."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    name = item.metadata.name
    if name.startswith(_SYSTEM):
        problem = _system(item)
        if problem:
            errors.forbidden(
                "metadata.name",
                f"priority class names with '{_SYSTEM}' prefix are reserved for system use only. "
                f"error: {problem}",
            )
    elif item.value > HIGHEST_USER_PRIORITY:
        most = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        errors.forbidden("value", most)
    placement.preemption(errors, item.preemption_policy, "preemptionPolicy")


def _system(item: PriorityClass) -> str:
    name = item.metadata.name
    value = SYSTEM_CLASSES.get(name)
    if value is None:
        return f"{name} is not a known system priority class"
    if item.value != value:
        return f"value of {name} PriorityClass must be {value}"
    return f"globalDefault of {name} PriorityClass must be false" if item.global_default else ""


def runtime_class(errors: Errors, item: RuntimeClass, _gates: FeatureGates) -> None:
    """Check a runtime class."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=False)
    if not item.handler:
        errors.required("handler")
    else:
        errors.invalids("handler", item.handler, dns_label(item.handler))
    if item.overhead is not None:
        overhead(errors, item.overhead.pod_fixed, "overhead")
    if item.scheduling is not None:
        meta.labels(errors, item.scheduling.node_selector, "scheduling.nodeSelector")
        _unique_tolerations(errors, item.scheduling.tolerations, "scheduling.tolerations")


def _unique_tolerations(errors: Errors, values: Iterable[Toleration], path: str) -> None:
    values = list(values)
    placement.tolerations(errors, values, path, numeric=False)
    seen: set[tuple[str, str, str, str]] = set()
    for index, item in enumerate(values):
        key = (item.key, item.operator, item.value, item.effect)
        if key in seen:
            errors.duplicate(f"{path}[{index}]", item)
        seen.add(key)


def budget(errors: Errors, item: PodDisruptionBudget, _gates: FeatureGates) -> None:
    """Check a disruption budget."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    spec = item.spec
    if spec.min_available is not None and spec.max_unavailable is not None:
        errors.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
    _number_or_percent(errors, spec.min_available, "spec.minAvailable")
    _number_or_percent(errors, spec.max_unavailable, "spec.maxUnavailable")
    meta.selector(errors, spec.selector, "spec.selector")
    policies = ("AlwaysAllow", "IfHealthyBudget")
    errors.one_of("spec.unhealthyPodEvictionPolicy", spec.unhealthy_pod_eviction_policy, policies)


def _number_or_percent(errors: Errors, value: IntOrString | None, path: str) -> None:
    if value is None:
        return
    if isinstance(value, int):
        errors.not_negative(path, value)
    elif percentage(value):
        errors.invalids(path, value, percentage(value))
    elif int(value[:-1]) > 100:
        errors.invalid(path, value, "must not be greater than 100%")
