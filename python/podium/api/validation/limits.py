"""LimitRange."""

from collections.abc import Callable, Mapping, Sequence

from podium._core import Quantity as Exact
from podium.api.features import FeatureGates
from podium.api.objects.base import ResourceList
from podium.api.objects.policy import LimitRange, LimitRangeItem
from podium.api.quantities import exact
from podium.api.validation import meta
from podium.api.validation.fields import Errors
from podium.api.validation.names import dns_subdomain, label_key
from podium.api.validation.resources import container_resource, may_overcommit, resource_name

_MAX_MILLI_VALUE = (2**63 - 1) // 1000
_TYPES = frozenset({"Pod", "Container", "PersistentVolumeClaim"})


def limit_range(errors: Errors, item: LimitRange, _gates: FeatureGates) -> None:
    """Check the limits of a namespace."""
    meta.object_meta(errors, item, dns_subdomain, namespaced=True)
    seen: set[str] = set()
    for index, limit in enumerate(item.spec.limits):
        at = f"spec.limits[{index}]"
        _type(errors, limit, at)
        if limit.type in seen:
            errors.duplicate(f"{at}.type", limit.type)
        seen.add(limit.type)
        _names(errors, limit, at)
        _storage(errors, limit, at)
        lists = (limit.max, limit.min, limit.default, limit.default_request, limit.max_limit_request_ratio)
        for name in {name: None for values in lists for name in values}:
            _order(errors, limit, name, at)
            _ratio(errors, limit, name, at)


def _type(errors: Errors, limit: LimitRangeItem, path: str) -> None:
    problems = label_key(limit.type)
    errors.invalids(f"{path}.type", limit.type, problems)
    if not problems and "/" not in limit.type and limit.type not in _TYPES:
        text = "must be a standard limit type or fully qualified"
        errors.invalid(f"{path}.type", limit.type, text)


def _fields(limit: LimitRangeItem) -> Mapping[str, ResourceList]:
    return {
        "max": limit.max,
        "min": limit.min,
        "default": limit.default,
        "defaultRequest": limit.default_request,
        "maxLimitRequestRatio": limit.max_limit_request_ratio,
    }


def _names(errors: Errors, limit: LimitRangeItem, path: str) -> None:
    check: Callable[[str], Sequence[str]] = resource_name
    if limit.type in ("Pod", "Container"):
        check = container_resource
    for field, values in _fields(limit).items():
        if limit.type == "Pod" and field.startswith("default"):
            if values:
                errors.forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
            continue
        for name in values:
            errors.invalids(f"{path}.{field}[{name}]", name, check(name))


def _storage(errors: Errors, limit: LimitRangeItem, path: str) -> None:
    claims = limit.type == "PersistentVolumeClaim"
    if claims and "storage" not in limit.min and "storage" not in limit.max:
        text = "either minimum or maximum storage value is required, but neither was provided"
        errors.required(f"{path}.limits", text)


def _get(values: ResourceList, name: str) -> Exact | None:
    return exact(values[name]) if name in values else None


def _order(errors: Errors, limit: LimitRangeItem, name: str, path: str) -> None:
    """Check min ≤ default request ≤ default ≤ max, as far as they are given."""
    pod = limit.type == "Pod"
    least, most = _get(limit.min, name), _get(limit.max, name)
    default = None if pod else _get(limit.default, name)
    request = None if pod else _get(limit.default_request, name)

    def exceeds(low: Exact | None, high: Exact | None) -> bool:
        return low is not None and high is not None and low > high

    if exceeds(least, most):
        errors.invalid(
            f"{path}.min[{name}]", str(least), f"min value {least} is greater than max value {most}"
        )
    at = f"{path}.defaultRequest[{name}]"
    if exceeds(least, request):
        text = f"min value {least} is greater than default request value {request}"
        errors.invalid(at, str(request), text)
    if exceeds(request, most):
        text = f"default request value {request} is greater than max value {most}"
        errors.invalid(at, str(request), text)
    if exceeds(request, default):
        text = f"default request value {request} is greater than default limit value {default}"
        errors.invalid(at, str(request), text)
    if exceeds(least, default):
        text = f"min value {least} is greater than default value {default}"
        errors.invalid(f"{path}.default[{name}]", str(least), text)
    if exceeds(default, most):
        text = f"default value {default} is greater than max value {most}"
        errors.invalid(f"{path}.default[{name}]", str(most), text)
    if not may_overcommit(name) and default is not None and request is not None and default != request:
        text = f"default value {default} must equal to defaultRequest value {request} in {name}"
        errors.invalid(at, str(request), text)


def _ratio(errors: Errors, limit: LimitRangeItem, name: str, path: str) -> None:
    ratio = _get(limit.max_limit_request_ratio, name)
    least, most = _get(limit.min, name), _get(limit.max, name)
    if ratio is None:
        return
    at = f"{path}.maxLimitRequestRatio[{name}]"
    if ratio < Exact("1"):
        errors.invalid(at, str(ratio), f"ratio {ratio} is less than 1")
    if least is None or most is None:
        return
    value, low, high = float(ratio.value()), least.value(), most.value()
    if max(ratio.value(), low, high) < _MAX_MILLI_VALUE:
        value, low, high = ratio.milli_value() / 1000, least.milli_value(), most.milli_value()
    # Go divides by zero to infinity, which no ratio exceeds.
    allowed = high / low if low else float("inf")
    if value > allowed:
        errors.invalid(at, str(ratio), f"ratio {ratio} is greater than max/min = {allowed:f}")
