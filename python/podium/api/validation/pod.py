"""Pods and pod templates."""

from collections.abc import Iterable, Sequence

from podium.api.features import FeatureGates
from podium.api.objects.base import Quantity
from podium.api.objects.pod import Container, Pod, PodSpec, PodTemplateSpec
from podium.api.quantities import exact
from podium.api.requests import HUGEPAGES, aggregate, limits_of, requests_of
from podium.api.validation import meta, placement, resources, volumes
from podium.api.validation.containers import containers, init_containers
from podium.api.validation.fields import Errors, between
from podium.api.validation.names import dns_label, dns_subdomain, label_key

_RESTART = ("Always", "OnFailure", "Never")
_MIRROR = "kubernetes.io/config.mirror"
_MAX_DEADLINE = 2**31 - 1


def pod(errors: Errors, item: Pod, gates: FeatureGates) -> None:
    """Check a pod."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    if _MIRROR in item.metadata.annotations and not item.spec.node_name:
        value = item.metadata.annotations[_MIRROR]
        text = "must set spec.nodeName if mirror pod annotation is set"
        errors.invalid(f"metadata.annotations[{_MIRROR}]", value, text)
    spec = item.spec
    pod_spec(errors, spec, "spec", gates, pod_name=item.metadata.name)
    errors.not_negative("spec.terminationGracePeriodSeconds", spec.termination_grace_period_seconds)
    _images(errors, spec.containers, "spec.containers")
    _images(errors, spec.init_containers, "spec.initContainers")
    bound = bool(spec.node_name)
    if spec.ephemeral_containers and not bound:
        errors.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if bound and spec.scheduling_gates:
        errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def template(errors: Errors, item: PodTemplateSpec, path: str, gates: FeatureGates) -> None:
    """Check a pod template."""
    meta.labels(errors, item.metadata.labels, f"{path}.labels")
    meta.annotations(errors, item.metadata.annotations, f"{path}.annotations")
    pod_spec(errors, item.spec, f"{path}.spec", gates, pod_name="")
    if item.spec.ephemeral_containers:
        at = f"{path}.spec.ephemeralContainers"
        errors.forbidden(at, "ephemeral containers not allowed in pod template")


def _images(errors: Errors, values: Iterable[Container], path: str) -> None:
    for index, item in enumerate(values):
        if item.image != item.image.strip():
            text = "must not have leading or trailing whitespace"
            errors.invalid(f"{path}[{index}].image", item.image, text)


def pod_spec(errors: Errors, spec: PodSpec, path: str, gates: FeatureGates, *, pod_name: str) -> None:
    """Check the spec of a pod or of a template, which has no name yet."""
    volumes.volumes(errors, spec.volumes, pod_name, f"{path}.volumes")
    _claims(errors, spec, f"{path}.resourceClaims")
    containers(errors, spec, f"{path}.containers")
    init_containers(errors, spec, f"{path}.initContainers")
    if spec.resources is not None:
        resources.requirements(errors, spec.resources, f"{path}.resources", pod_level=True)
        _consistent(errors, spec, f"{path}.resources")
    if spec.host_network:
        _host_network(errors, spec, f"{path}.containers", is_pod=bool(pod_name))
        if spec.host_users is False and not gates.enabled("UserNamespacesHostNetworkSupport"):
            errors.forbidden(f"{path}.hostNetwork", "when `hostUsers` is false")
    if spec.restart_policy not in _RESTART:
        errors.unsupported(f"{path}.restartPolicy", spec.restart_policy, _RESTART)
    meta.labels(errors, spec.node_selector or {}, f"{path}.nodeSelector")
    placement.affinity(errors, spec.affinity, f"{path}.affinity")
    _gates(errors, [gate.name for gate in spec.scheduling_gates], f"{path}.schedulingGates")
    placement.spread(errors, spec.topology_spread_constraints, f"{path}.topologySpreadConstraints")
    _names(errors, spec, path)
    deadline = spec.active_deadline_seconds
    if deadline is not None and not 1 <= deadline <= _MAX_DEADLINE:
        errors.invalid(f"{path}.activeDeadlineSeconds", deadline, between(1, _MAX_DEADLINE))
    numeric = gates.enabled("TaintTolerationComparisonOperators")
    placement.tolerations(errors, spec.tolerations, f"{path}.tolerations", numeric=numeric)
    placement.preemption(errors, spec.preemption_policy, f"{path}.preemptionPolicy")
    if spec.overhead is not None:
        resources.overhead(errors, spec.overhead, f"{path}.overhead")
    _group(errors, spec, f"{path}.schedulingGroup")


def _names(errors: Errors, spec: PodSpec, path: str) -> None:
    named = {
        "nodeName": spec.node_name,
        "priorityClassName": spec.priority_class_name,
        "runtimeClassName": spec.runtime_class_name,
    }
    for field, value in named.items():
        if value or (field == "runtimeClassName" and value is not None):
            errors.invalids(f"{path}.{field}", value, dns_subdomain(value))


def _claims(errors: Errors, spec: PodSpec, path: str) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(spec.resource_claims):
        at = f"{path}[{index}]"
        if not claim.name:
            errors.required(f"{at}.name")
        elif claim.name in seen:
            errors.duplicate(f"{at}.name", claim.name)
        else:
            errors.invalids(f"{at}.name", claim.name, dns_label(claim.name))
            seen.add(claim.name)
        given = [claim.resource_claim_name, claim.resource_claim_template_name]
        if None not in given:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            errors.invalid(at, claim, text)
        elif given == [None, None]:
            text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            errors.invalid(at, claim, text)


def _host_network(errors: Errors, spec: PodSpec, path: str, *, is_pod: bool) -> None:
    """Check host ports under hostNetwork; a template may leave them to be filled in."""
    for index, container in enumerate(spec.containers):
        for number, port in enumerate(container.ports):
            if (is_pod or port.host_port) and port.host_port != port.container_port:
                at = f"{path}[{index}].ports[{number}].hostPort"
                errors.invalid(at, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _gates(errors: Errors, names: Sequence[str], path: str) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        errors.invalids(f"{path}[{index}]", name, label_key(name))
        if name in seen:
            errors.duplicate(f"{path}[{index}]", name)
        seen.add(name)


def _group(errors: Errors, spec: PodSpec, path: str) -> None:
    if spec.scheduling_group is None:
        return
    name = spec.scheduling_group.pod_group_name
    if name is None:
        errors.invalid(f"{path}.podGroupName", name, "must specify one of: `podGroupName`")
    else:
        errors.invalids(f"{path}.podGroupName", name, dns_subdomain(name))


def _consistent(errors: Errors, spec: PodSpec, path: str) -> None:
    """Check pod-level resources against those of the containers."""
    whole = spec.resources
    if whole is None:
        return
    for name, asked in aggregate(spec, requests_of).items():
        given = whole.requests.get(name)
        if given is not None and asked > exact(given):
            text = f"must be greater than or equal to aggregate container requests of {asked}"
            errors.invalid(f"{path}.requests[{name}]", given, text)
    for name, limit in aggregate(spec, limits_of).items():
        given = whole.limits.get(name)
        if name.startswith(HUGEPAGES) and given is not None and limit > exact(given):
            text = f"must be greater than or equal to aggregate container limits of {limit}"
            errors.invalid(f"{path}.limits[{name}]", given, text)
    for index, container in enumerate(spec.containers):
        for name, value in container.resources.limits.items():
            _within(errors, f"{path}.containers[{index}][{name}].limits", value, whole.limits.get(name))


def _within(errors: Errors, path: str, value: Quantity, most: Quantity | None) -> None:
    if most is not None and exact(value) > exact(most):
        errors.invalid(path, value, f"must be less than or equal to pod limits of {most}")
