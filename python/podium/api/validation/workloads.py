"""Controllers' objects."""

from podium.api.features import FeatureGates
from podium.api.matching import selects
from podium.api.objects import workloads as kinds
from podium.api.objects.base import LabelSelector
from podium.api.objects.pod import PodTemplateSpec
from podium.api.validation import meta, volumes
from podium.api.validation.fields import Errors
from podium.api.validation.names import dns_label, dns_subdomain, label_value
from podium.api.validation.pod import template

_MISMATCH = "`selector` does not match template `labels`"
_MAX_INDEXED = 100_000
_CRON_NAME_LENGTH = 52


def _selector(errors: Errors, value: LabelSelector | None, kind: str) -> bool:
    """Check a selector; tells whether it can be evaluated."""
    before = len(errors)
    if value is None:
        errors.required("spec.selector")
        return True
    meta.selector(errors, value, "spec.selector")
    usable = len(errors) == before
    if meta.is_empty(value):
        errors.invalid("spec.selector", value, f"empty selector is invalid for {kind}")
    return usable


def _matches(errors: Errors, value: LabelSelector | None, item: PodTemplateSpec) -> None:
    if value is not None and meta.is_empty(value):
        return
    if not selects(value, item.metadata.labels):
        errors.invalid("spec.template.metadata.labels", dict(item.metadata.labels) or None, _MISMATCH)


def _always(errors: Errors, item: PodTemplateSpec, owner: str) -> None:
    """Check what pods that are replaced for ever must be."""
    at = "spec.template.spec"
    if item.spec.restart_policy != "Always":
        errors.unsupported(f"{at}.restartPolicy", item.spec.restart_policy, ("Always",))
    if item.spec.active_deadline_seconds is not None:
        field = f"{at}.activeDeadlineSeconds"
        errors.forbidden(field, f"activeDeadlineSeconds in {owner} is not Supported")


def deployment(errors: Errors, item: kinds.Deployment, gates: FeatureGates) -> None:
    """Check a Deployment."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    _replicated(errors, item, gates)


def replica_set(errors: Errors, item: kinds.ReplicaSet, gates: FeatureGates) -> None:
    """Check a ReplicaSet."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    _replicated(errors, item, gates)


def _replicated(errors: Errors, item: kinds.Deployment | kinds.ReplicaSet, gates: FeatureGates) -> None:
    spec = item.spec
    errors.not_negative("spec.replicas", spec.replicas)
    # Upstream speaks of a deployment in both cases.
    if not _selector(errors, spec.selector, "deployment"):
        errors.invalid("spec.selector", spec.selector, "invalid label selector")
        return
    _matches(errors, spec.selector, spec.template)
    template(errors, spec.template, "spec.template", gates)
    _always(errors, spec.template, "ReplicaSet")


def replication_controller(errors: Errors, item: kinds.ReplicationController, gates: FeatureGates) -> None:
    """Check a ReplicationController."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    spec = item.spec
    if not spec.selector:
        errors.required("spec.selector")
    errors.not_negative("spec.replicas", spec.replicas)
    if spec.template is None:
        errors.required("spec.template")
        return
    if spec.selector:
        _matches(errors, LabelSelector(match_labels=spec.selector), spec.template)
    template(errors, spec.template, "spec.template", gates)
    _always(errors, spec.template, "ReplicationController")


def stateful_set(errors: Errors, item: kinds.StatefulSet, gates: FeatureGates) -> None:
    """Check a StatefulSet."""
    meta.object_meta(errors, item, dns_label, namespaced=True)
    spec = item.spec
    policies = ("OrderedReady", "Parallel")
    if spec.pod_management_policy not in policies:
        text = f"must be '{policies[0]}' or '{policies[1]}'"
        errors.invalid("spec.podManagementPolicy", spec.pod_management_policy, text)
    for index, claim in enumerate(spec.volume_claim_templates):
        volumes.claim_spec(errors, claim.spec, f"spec.volumeClaimTemplates[{index}].spec")
    errors.not_negative("spec.replicas", spec.replicas)
    if spec.ordinals is not None:
        errors.not_negative("spec.ordinals.start", spec.ordinals.start)
    if spec.service_name:
        errors.invalids("spec.serviceName", spec.service_name, dns_label(spec.service_name))
    if not _selector(errors, spec.selector, "statefulset"):
        errors.invalid("spec.selector", spec.selector, "")
        return
    _matches(errors, spec.selector, spec.template)
    template(errors, spec.template, "spec.template", gates)
    _always(errors, spec.template, "StatefulSet")


def daemon_set(errors: Errors, item: kinds.DaemonSet, gates: FeatureGates) -> None:
    """Check a DaemonSet."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    spec = item.spec
    before = len(errors)
    meta.selector(errors, spec.selector, "spec.selector")
    usable = len(errors) == before
    if usable and not selects(spec.selector, spec.template.metadata.labels):
        labels = dict(spec.template.metadata.labels) or None
        errors.invalid("spec.template.metadata.labels", labels, _MISMATCH)
    if spec.selector is not None and meta.is_empty(spec.selector):
        errors.invalid("spec.selector", spec.selector, "empty selector is invalid for daemonset")
    template(errors, spec.template, "spec.template", gates)
    _always(errors, spec.template, "DaemonSet")


def job(errors: Errors, item: kinds.Job, gates: FeatureGates) -> None:
    """Check a Job."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    _job_spec(errors, item.spec, "spec", gates)
    if not item.spec.manual_selector:
        # The name becomes a label of the pods.
        errors.invalids("spec.template.labels", item.metadata.name, label_value(item.metadata.name))
    indexed = item.spec.completion_mode == "Indexed"
    last = (item.spec.completions or 0) - 1
    if indexed and last >= 0 and item.metadata.name:
        pod_name = f"{item.metadata.name}-{last}"
        if dns_label(pod_name):
            text = f"will not able to create pod with invalid DNS label: {pod_name}"
            errors.invalid("metadata.name", item.metadata.name, text)


def _job_spec(errors: Errors, spec: kinds.JobSpec, path: str, gates: FeatureGates) -> None:
    errors.not_negative(f"{path}.parallelism", spec.parallelism)
    errors.not_negative(f"{path}.completions", spec.completions)
    errors.not_negative(f"{path}.activeDeadlineSeconds", spec.active_deadline_seconds)
    errors.not_negative(f"{path}.backoffLimit", spec.backoff_limit)
    mode = spec.completion_mode
    if mode is not None and mode not in ("NonIndexed", "Indexed"):
        errors.unsupported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        if spec.completions is None:
            errors.required(f"{path}.completions", "when completion mode is Indexed")
        if spec.parallelism is not None and spec.parallelism > _MAX_INDEXED:
            text = f"must be less than or equal to {_MAX_INDEXED} when completion mode is Indexed"
            errors.invalid(f"{path}.parallelism", spec.parallelism, text)
    template(errors, spec.template, f"{path}.template", gates)
    policy = spec.template.spec.restart_policy
    at = f"{path}.template.spec.restartPolicy"
    if policy in ("", "Always"):
        errors.required(at, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        errors.unsupported(at, policy, ("OnFailure", "Never"))


def cron_job(errors: Errors, item: kinds.CronJob, gates: FeatureGates) -> None:
    """Check a CronJob."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    if not item.spec.schedule:
        errors.required("spec.schedule")
    if len(item.metadata.name) > _CRON_NAME_LENGTH:
        text = f"must be no more than {_CRON_NAME_LENGTH} characters"
        errors.invalid("metadata.name", item.metadata.name, text)
    _job_spec(errors, item.spec.job_template.spec, "spec.jobTemplate.spec", gates)
