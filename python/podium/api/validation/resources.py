"""Resource names and amounts."""

from collections.abc import Sequence
from functools import lru_cache

from podium._core import Quantity as Exact
from podium.api.objects.base import Quantity, ResourceList, ResourceRequirements
from podium.api.quantities import exact
from podium.api.requests import HUGEPAGES, is_pod_level
from podium.api.validation.fields import NEGATIVE, NOT_INTEGER, NOT_POSITIVE, Errors, between
from podium.api.validation.names import label_key

_CONTAINER = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD = (
    _CONTAINER
    | _COUNTED
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in _CONTAINER}
    | {"storage", "requests.storage"}
)
_QUOTA = "requests."
_POD_LEVEL_NAMES = ("cpu", HUGEPAGES, "memory")


def is_native(name: str) -> bool:
    """Tell whether a resource is Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Tell whether a resource is somebody's device."""
    return not is_native(name) and not name.startswith(_QUOTA) and not label_key(_QUOTA + name)


@lru_cache(maxsize=4096)
def may_overcommit(name: str) -> bool:
    """Tell whether limits may exceed requests."""
    return is_native(name) and not name.startswith(HUGEPAGES)


def _standard(name: str) -> bool:
    return name in _STANDARD or name.startswith((HUGEPAGES, _QUOTA + HUGEPAGES))


@lru_cache(maxsize=4096)
def resource_name(name: str) -> Sequence[str]:
    """Check the name of a resource."""
    problems = label_key(name)
    if not problems and "/" not in name and not _standard(name):
        return ["must be a standard resource type or fully qualified"]
    return problems


@lru_cache(maxsize=4096)
def container_resource(name: str) -> Sequence[str]:
    """Check the name of a resource that a container may ask for."""
    problems = list(resource_name(name))
    if "/" not in name:
        if name not in _CONTAINER and not name.startswith(HUGEPAGES):
            problems.append("must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        problems.append("doesn't follow extended resource name standard")
    return problems


@lru_cache(maxsize=65536)
def amount(name: str, value: Quantity) -> Sequence[str]:
    """Check the amount of a resource."""
    number = exact(value)
    problems = [NEGATIVE] if number.sign() < 0 else []
    if (name in _COUNTED or is_extended(name)) and number.milli_value() % 1000:
        problems.append(NOT_INTEGER)
    return problems


def positive(errors: Errors, path: str, value: Quantity) -> bool:
    """Check that an amount is above zero."""
    if exact(value).sign() > 0:
        return True
    errors.invalid(path, value, NOT_POSITIVE)
    return False


def _divides(name: str, value: Exact) -> bool:
    try:
        page = exact(name.removeprefix(HUGEPAGES))
    except ValueError:
        return False
    if page.sign() <= 0 or page.milli_value() % 1000:
        return False
    return value.value() % page.value() == 0


@lru_cache(maxsize=65536)
def _problems(name: str, value: Quantity, *, pod_level: bool) -> Sequence[tuple[str, str]]:
    """Return what is wrong with one entry: the value that the message shows, and the message."""
    problems = [(name, text) for text in (resource_name if pod_level else container_resource)(name)]
    problems += [(str(value), text) for text in amount(name, value)]
    if name.startswith(HUGEPAGES) and not _divides(name, exact(value)):
        problems.append((str(value), f"{value} is not positive integer multiple of {name}"))
    return problems


def requirements(errors: Errors, value: ResourceRequirements, path: str, *, pod_level: bool = False) -> None:
    """Check the requests and limits of a container, or of a pod as a whole."""
    for field, values in (("limits", value.limits), ("requests", value.requests)):
        for name, number in values.items():
            for shown, text in _problems(name, number, pod_level=pod_level):
                errors.invalid(f"{path}.{field}[{name}]", shown, text)
            if pod_level and not is_pod_level(name) and not resource_name(name):
                errors.unsupported(f"{path}.{field}[{name}]", name, _POD_LEVEL_NAMES)
    for name, number in value.requests.items():
        limit = value.limits.get(name)
        if limit is not None:
            if limit != number:
                _within(errors, f"{path}.requests", name, number, limit)
        elif not may_overcommit(name):
            errors.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    asked = value.limits.keys() | value.requests.keys()
    if not asked & {"cpu", "memory"} and any(name.startswith(HUGEPAGES) for name in asked):
        errors.forbidden(path, "HugePages require cpu or memory")


def overhead(errors: Errors, values: ResourceList, path: str) -> None:
    """Check a runtime's overhead: upstream takes it for limits, and its paths say so."""
    requirements(errors, ResourceRequirements(limits=values), path)


def _within(errors: Errors, path: str, name: str, request: Quantity, limit: Quantity) -> None:
    asked, allowed = exact(request), exact(limit)
    if asked != allowed and not may_overcommit(name):
        errors.invalid(path, request, f"must be equal to {name} limit of {limit}")
    elif asked > allowed:
        errors.invalid(path, request, f"must be less than or equal to {name} limit of {limit}")


def port(errors: Errors, path: str, value: int) -> None:
    """Check the number of a port."""
    if not 1 <= value <= 65535:
        errors.invalid(path, value, between(1, 65535))
