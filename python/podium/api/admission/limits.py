"""LimitRanger: defaults for containers, and the minimum, maximum and ratio of containers, pods and claims."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from podium._core import Quantity as Exact
from podium.api.objects.base import ResourceList
from podium.api.objects.pod import Container, PodSpec
from podium.api.objects.policy import LimitRange, LimitRangeItem
from podium.api.objects.volumes import PersistentVolumeClaimSpec
from podium.api.quantities import ZERO, exact
from podium.api.requests import Totals, aggregate, limits_of, requests_of

_MAX_MILLI_VALUE = (2**63 - 1) // 1000
"""The largest value whose thousandths fit; beyond it upstream compares whole numbers."""

_POD_LEVEL = ("cpu", "memory")
"""Pod-level resources that LimitRanger knows; it passes over huge pages."""


def set_defaults(spec: PodSpec, item: LimitRange) -> None:
    """Give containers the range's default limits and requests where they have none, in place."""
    requests: dict[str, str | int | float] = {}
    limits: dict[str, str | int | float] = {}
    for limit in item.spec.limits:
        if limit.type == "Container":
            requests.update(limit.default_request)
            limits.update(limit.default)
    if not requests and not limits:
        return
    for container in (*spec.containers, *spec.init_containers):
        resources = container.resources
        resources.limits = {**limits, **resources.limits}
        resources.requests = {**requests, **resources.requests}


def judge_pod(spec: PodSpec, item: LimitRange) -> Sequence[str]:
    """Return why the range refuses a pod."""
    reasons: list[str] = []
    for limit in item.spec.limits:
        if limit.type == "Container":
            for container in (*spec.containers, *spec.init_containers):
                asked, allowed = _numbers(requests_of(container)), _numbers(limits_of(container))
                reasons += _judge(limit, asked, allowed)
        elif limit.type == "Pod":
            reasons += _judge(limit, _total(spec, requests_of), _total(spec, limits_of))
    return reasons


def judge_claim(spec: PersistentVolumeClaimSpec, item: LimitRange) -> Sequence[str]:
    """Return why the range refuses a claim; only its requests count."""
    reasons: list[str] = []
    asked = _numbers(spec.resources.requests)
    for limit in item.spec.limits:
        if limit.type == "PersistentVolumeClaim":
            reasons += _minimum(limit, asked, {})
            reasons += _maximum_request(limit, asked)
    return reasons


def _numbers(values: ResourceList) -> Totals:
    return {name: exact(value) for name, value in values.items()}


def _total(spec: PodSpec, read: Callable[[Container], ResourceList]) -> Totals:
    totals = aggregate(spec, read)
    if spec.resources is not None:
        whole = spec.resources.requests if read is requests_of else spec.resources.limits
        totals.update((name, exact(value)) for name, value in whole.items() if name in _POD_LEVEL)
    return totals


def _comparable(*numbers: Exact) -> list[int]:
    values = [number.value() for number in numbers]
    if all(value <= _MAX_MILLI_VALUE for value in values):
        return [number.milli_value() for number in numbers]
    return values


def _judge(limit: LimitRangeItem, asked: Totals, allowed: Totals) -> Iterator[str]:
    yield from _minimum(limit, asked, allowed)
    yield from _maximum(limit, asked, allowed)
    yield from _ratio(limit, asked, allowed)


def _minimum(limit: LimitRangeItem, asked: Totals, allowed: Totals) -> Iterator[str]:
    for name, least in _numbers(limit.min).items():
        rule = f"minimum {name} usage per {limit.type} is {least}"
        if name not in asked:
            yield f"{rule}.  No request is specified"
            continue
        ceiling = allowed.get(name, ZERO)
        request, maximum, bound = _comparable(asked[name], ceiling, least)
        if request < bound:
            yield f"{rule}, but request is {asked[name]}"
        elif name in allowed and maximum < bound:
            yield f"{rule}, but limit is {ceiling}"


def _maximum(limit: LimitRangeItem, asked: Totals, allowed: Totals) -> Iterator[str]:
    for name, most in _numbers(limit.max).items():
        rule = f"maximum {name} usage per {limit.type} is {most}"
        if name not in allowed:
            yield f"{rule}.  No limit is specified"
            continue
        floor = asked.get(name, ZERO)
        request, maximum, bound = _comparable(floor, allowed[name], most)
        if maximum > bound:
            yield f"{rule}, but limit is {allowed[name]}"
        elif name in asked and request > bound:
            yield f"{rule}, but request is {floor}"


def _maximum_request(limit: LimitRangeItem, asked: Totals) -> Iterator[str]:
    for name, most in _numbers(limit.max).items():
        rule = f"maximum {name} usage per {limit.type} is {most}"
        if name not in asked:
            yield f"{rule}.  No request is specified"
            continue
        request, bound = _comparable(asked[name], most)
        if request > bound:
            yield f"{rule}, but request is {asked[name]}"


def _ratio(limit: LimitRangeItem, asked: Totals, allowed: Totals) -> Iterator[str]:
    for name, most in _numbers(limit.max_limit_request_ratio).items():
        rule = f"{name} max limit to request ratio per {limit.type} is {most}"
        request, maximum, _ = _comparable(_get(asked, name), _get(allowed, name), most)
        if request == 0:
            yield f"{rule}, but no request is specified or request is 0"
        elif maximum == 0:
            yield f"{rule}, but no limit is specified or limit is 0"
        else:
            ratio = maximum / request
            precise = most.value() <= _MAX_MILLI_VALUE
            exceeds = ratio * 1000 > most.milli_value() if precise else ratio > most.value()
            if exceeds:
                yield f"{rule}, but provided ratio is {ratio:f}"


def _get(numbers: Mapping[str, Exact], name: str) -> Exact:
    return numbers.get(name, ZERO)
