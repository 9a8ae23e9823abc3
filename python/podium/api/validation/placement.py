"""Where a pod may go: node selectors, affinity, tolerations, taints, spreading."""

from collections.abc import Iterable, Sequence

from podium.api.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
)
from podium.api.objects.base import LabelSelector
from podium.api.objects.node import Taint
from podium.api.validation.fields import Errors
from podium.api.validation.meta import selector
from podium.api.validation.names import decimal_integer, dns_label, dns_subdomain, label_key, label_value

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT = "must be in the range 1-100"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_INT64 = 2**63


def node_selector(errors: Errors, value: NodeSelector, path: str) -> None:
    """Check a required node selector."""
    at = f"{path}.nodeSelectorTerms"
    if not value.node_selector_terms:
        errors.required(at, "must have at least one node selector term")
    for index, term in enumerate(value.node_selector_terms):
        _node_term(errors, term, f"{at}[{index}]", strict=True)


def _node_term(errors: Errors, term: NodeSelectorTerm, path: str, *, strict: bool) -> None:
    for index, item in enumerate(term.match_expressions):
        at = f"{path}.matchExpressions[{index}]"
        _expression(errors, item, at)
        errors.invalids(f"{at}.key", item.key, label_key(item.key))
        if strict:
            for number, text in enumerate(item.values):
                errors.invalids(f"{at}.values[{number}]", text, label_value(text))
    for index, item in enumerate(term.match_fields):
        _field(errors, item, f"{path}.matchFields[{index}]")


def _expression(errors: Errors, item: NodeSelectorRequirement, path: str) -> None:
    values = f"{path}.values"
    match item.operator:
        case "In" | "NotIn":
            if not item.values:
                errors.required(values, "must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if item.values:
                errors.forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
        case "Gt" | "Lt":
            if len(item.values) != 1:
                errors.required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")
        case _:
            errors.invalid(f"{path}.operator", item.operator, "not a valid selector operator")


def _field(errors: Errors, item: NodeSelectorRequirement, path: str) -> None:
    if item.operator not in ("In", "NotIn"):
        errors.invalid(f"{path}.operator", item.operator, "not a valid selector operator")
    elif len(item.values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.required(f"{path}.values", text)
    if item.key != "metadata.name":
        errors.invalid(f"{path}.key", item.key, "not a valid field selector key")
        return
    for number, text in enumerate(item.values):
        errors.invalids(f"{path}.values[{number}]", text, dns_subdomain(text))


def affinity(errors: Errors, value: Affinity | None, path: str) -> None:
    """Check all affinities of a pod."""
    if value is None:
        return
    if value.node_affinity is not None:
        _node_affinity(errors, value.node_affinity, f"{path}.nodeAffinity")
    for name, part in (("podAffinity", value.pod_affinity), ("podAntiAffinity", value.pod_anti_affinity)):
        if part is not None:
            _pod_affinity(errors, part, f"{path}.{name}")


def _node_affinity(errors: Errors, value: NodeAffinity, path: str) -> None:
    if value.required is not None:
        node_selector(errors, value.required, f"{path}.{_REQUIRED}")
    for index, term in enumerate(value.preferred):
        at = f"{path}.{_PREFERRED}[{index}]"
        if not 0 < term.weight <= 100:
            errors.invalid(f"{at}.weight", term.weight, _WEIGHT)
        _node_term(errors, term.preference, f"{at}.preference", strict=False)


def _pod_affinity(errors: Errors, value: PodAffinity, path: str) -> None:
    for index, term in enumerate(value.required):
        _pod_term(errors, term, f"{path}.{_REQUIRED}[{index}]")
    for index, weighted in enumerate(value.preferred):
        at = f"{path}.{_PREFERRED}[{index}]"
        if not 0 < weighted.weight <= 100:
            errors.invalid(f"{at}.weight", weighted.weight, _WEIGHT)
        _pod_term(errors, weighted.pod_affinity_term, f"{at}.podAffinityTerm")


def _pod_term(errors: Errors, term: PodAffinityTerm, path: str) -> None:
    selector(errors, term.label_selector, f"{path}.labelSelector")
    selector(errors, term.namespace_selector, f"{path}.namespaceSelector")
    for name in term.namespaces:
        errors.invalids(f"{path}.namespace", name, dns_label(name))
    _label_keys(errors, term.label_selector, term.match_label_keys, term.mismatch_label_keys, path)
    if not term.topology_key:
        errors.required(f"{path}.topologyKey", "can not be empty")
    errors.invalids(f"{path}.topologyKey", term.topology_key, label_key(term.topology_key))


def _label_keys(
    errors: Errors,
    value: LabelSelector | None,
    match: Sequence[str],
    mismatch: Sequence[str],
    path: str,
) -> None:
    """Check matchLabelKeys and mismatchLabelKeys against a selector that they have been merged into."""
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and value is None:
            errors.forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
        elif value is not None:
            for index, key in enumerate(keys):
                errors.invalids(f"{path}.{name}[{index}]", key, label_key(key))
    if value is not None:
        _repeated_keys(errors, value, match, path)
    for index, key in enumerate(match):
        if key in mismatch:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.invalid(f"{path}.matchLabelKeys[{index}]", key, text)


def _repeated_keys(errors: Errors, value: LabelSelector, match: Sequence[str], path: str) -> None:
    places = {key: index for index, key in enumerate(match)}
    seen = set(value.match_labels)
    for item in value.match_expressions:
        if item.key in places and item.key in seen:
            text = "exists in both matchLabelKeys and labelSelector"
            errors.invalid(f"{path}[{places[item.key]}]", item.key, text)
        seen.add(item.key)


def tolerations(errors: Errors, values: Iterable[Toleration], path: str, *, numeric: bool) -> None:
    """Check tolerations; ``numeric`` allows the operators Lt and Gt."""
    for index, item in enumerate(values):
        at = f"{path}[{index}]"
        if item.key:
            errors.invalids(f"{at}.key", item.key, label_key(item.key))
        elif item.operator != "Exists":
            errors.invalid(
                f"{at}.operator",
                item.operator,
                'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            )
        if item.toleration_seconds is not None and item.effect != "NoExecute":
            text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.invalid(f"{at}.effect", item.effect, text)
        _operator(errors, item, at, numeric=numeric)
        if item.effect:
            effect(errors, item.effect, f"{at}.effect")


def _operator(errors: Errors, item: Toleration, path: str, *, numeric: bool) -> None:
    at = f"{path}.operator"
    match item.operator:
        case "" | "Equal":
            problems = label_value(item.value)
            if problems:
                errors.invalid(at, item.value, ";".join(problems))
        case "Exists":
            if item.value:
                errors.invalid(at, item.value, "value must be empty when `operator` is 'Exists'")
        case "Lt" | "Gt" if numeric:
            _number(errors, item.value, f"{path}.value")
        case "Lt" | "Gt":
            errors.unsupported(at, item.operator, ("Equal", "Exists", "Lt", "Gt"))
        case _:
            errors.unsupported(at, item.operator, ("Equal", "Exists"))


def _number(errors: Errors, value: str, path: str) -> None:
    problems = decimal_integer(value)
    errors.invalids(path, value, problems)
    digits = value.lstrip("+-")
    if not digits.isdecimal() or not digits.isascii():
        errors.invalid(path, value, f'strconv.ParseInt: parsing "{value}": invalid syntax')
    elif not -_INT64 <= int(value) < _INT64:
        errors.invalid(path, value, f'strconv.ParseInt: parsing "{value}": value out of range')


def effect(errors: Errors, value: str, path: str) -> None:
    """Check the effect of a taint or toleration."""
    if not value:
        errors.required(path)
    elif value not in _EFFECTS:
        errors.unsupported(path, value, _EFFECTS)


def taints(errors: Errors, values: Iterable[Taint], path: str) -> None:
    """Check the taints of a node."""
    seen: set[tuple[str, str]] = set()
    for index, item in enumerate(values):
        at = f"{path}[{index}]"
        errors.invalids(f"{at}.key", item.key, label_key(item.key))
        problems = label_value(item.value)
        if problems:
            errors.invalid(f"{at}.value", item.value, ";".join(problems))
        effect(errors, item.effect, f"{at}.effect")
        if (item.key, item.effect) in seen:
            errors.duplicate(at, item, "taints must be unique by key and effect pair")
        seen.add((item.key, item.effect))


def spread(errors: Errors, values: Sequence[TopologySpreadConstraint], path: str) -> None:
    """Check topology spread constraints."""
    for index, item in enumerate(values):
        at = f"{path}[{index}]"
        errors.positive(f"{at}.maxSkew", item.max_skew)
        if not item.topology_key:
            errors.required(f"{at}.topologyKey", "can not be empty")
        errors.one_of(f"{at}.whenUnsatisfiable", item.when_unsatisfiable, ("DoNotSchedule", "ScheduleAnyway"))
        kind = (item.topology_key, item.when_unsatisfiable)
        if any(kind == (other.topology_key, other.when_unsatisfiable) for other in values[index + 1 :]):
            errors.duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{kind[0]}, {kind[1]}}}")
        _min_domains(errors, item, f"{at}.minDomains")
        errors.one_of(f"{at}.nodeAffinityPolicy", item.node_affinity_policy, ("Honor", "Ignore"))
        errors.one_of(f"{at}.nodeTaintsPolicy", item.node_taints_policy, ("Honor", "Ignore"))
        _label_keys(errors, item.label_selector, item.match_label_keys, (), at)
        selector(errors, item.label_selector, f"{at}.labelSelector")


def _min_domains(errors: Errors, item: TopologySpreadConstraint, path: str) -> None:
    if item.min_domains is None:
        return
    errors.positive(path, item.min_domains)
    if item.when_unsatisfiable != "DoNotSchedule":
        errors.invalid(
            path,
            item.min_domains,
            f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {item.when_unsatisfiable}",
        )


def preemption(errors: Errors, policy: str | None, path: str) -> None:
    """Check a preemption policy."""
    if policy is None or policy in ("PreemptLowerPriority", "Never"):
        return
    if not policy:
        errors.required(path)
    else:
        errors.unsupported(path, policy, ("PreemptLowerPriority", "Never"))
