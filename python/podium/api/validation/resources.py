"""Resource names and amounts."""

from collections.abc import Callable, Sequence
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


def _entry(errors: Errors, path: str, name: str, value: Quantity, names: Callable[[str], None]) -> None:
    names(name)
    errors.invalids(path, value, amount(name, value))
    if name.startswith(HUGEPAGES) and not _divides(name, exact(value)):
        errors.invalid(path, value, f"{value} is not positive integer multiple of {name}")


def requirements(errors: Errors, value: ResourceRequirements, path: str, *, pod_level: bool = False) -> None:
    """Check the requests and limits of a container, or of a pod as a whole."""
    limits, requests = f"{path}.limits", f"{path}.requests"

    def check(at: str, name: str, number: Quantity) -> None:
        def names(resource: str) -> None:
            _name(errors, at, resource, pod_level=pod_level)

        _entry(errors, at, name, number, names)

    for name, number in value.limits.items():
        check(f"{limits}[{name}]", name, number)
    for name, number in value.requests.items():
        check(f"{requests}[{name}]", name, number)
        limit = value.limits.get(name)
        if limit is not None:
            _within(errors, requests, name, number, limit)
        elif not may_overcommit(name):
            errors.required(limits, "Limit must be set for non overcommitable resources")
    asked = value.limits.keys() | value.requests.keys()
    if not asked & {"cpu", "memory"} and any(name.startswith(HUGEPAGES) for name in asked):
        errors.forbidden(path, "HugePages require cpu or memory")


def overhead(errors: Errors, values: ResourceList, path: str) -> None:
    """Check a runtime's overhead: upstream takes it for limits, and its paths say so."""
    requirements(errors, ResourceRequirements(limits=values), path)


def _name(errors: Errors, path: str, name: str, *, pod_level: bool) -> None:
    if not pod_level:
        errors.invalids(path, name, container_resource(name))
        return
    problems = resource_name(name)
    errors.invalids(path, name, problems)
    if not problems and not is_pod_level(name):
        errors.unsupported(path, name, _POD_LEVEL_NAMES)


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
