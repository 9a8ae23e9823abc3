"""Quantities inside objects: found by the structs' types, parsed, rounded and written canonically.

The arithmetic is ``podium._core.Quantity``; this module only knows where quantities are.
"""

import types
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, Union, get_args, get_origin

import msgspec

from podium._core import Quantity as Exact
from podium.api.objects.base import Base, Quantity, ResourceList
from podium.errors import InputError

MILLI = -3
"""The scale that cpu is counted in, and that the API server rounds resource lists to."""

ZERO = Exact("0")


@lru_cache(maxsize=65536)
def exact(text: Quantity) -> Exact:
    """Return the number behind a manifest's text; raises ValueError with the API server's words."""
    return Exact(text.strip() if isinstance(text, str) else text)


@lru_cache(maxsize=65536)
def _canonical(text: str, *, rounded: bool) -> str:
    number = exact(text)
    return str(number.round_up(MILLI) if rounded else number)


def canonical(value: Quantity, *, rounded: bool) -> str:
    """Return the text the API server would store: canonical, in a resource list rounded up to milli."""
    return _canonical(value if type(value) is str else str(value), rounded=rounded)


class _Plan(NamedTuple):
    """The fields of one struct class that hold quantities, directly or further down."""

    lists: tuple[tuple[str, str], ...]
    scalars: tuple[tuple[str, str], ...]
    children: tuple[tuple[str, str], ...]
    sequences: tuple[tuple[str, str], ...]

    @property
    def empty(self) -> bool:
        return not any(self)


_SCALAR = set(get_args(Quantity))
_VALUES = get_args(ResourceList)


def _without_none(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(part for part in get_args(annotation) if part is not type(None))
    return (annotation,)


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _is_sequence(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Base)


@cache
def _plan(struct: type[msgspec.Struct]) -> _Plan:
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in _Plan._fields}
    for field in msgspec.structs.fields(struct):
        parts = _without_none(field.type)
        names = (field.name, field.encode_name)
        only, origin, args = parts[0], get_origin(parts[0]), get_args(parts[0])
        if set(parts) == _SCALAR:
            found["scalars"].append(names)
        elif _is_mapping(origin) and args == _VALUES:
            found["lists"].append(names)
        elif _is_struct(only) and not _plan(only).empty:
            found["children"].append(names)
        elif _is_sequence(origin) and _is_struct(args[0]) and not _plan(args[0]).empty:
            found["sequences"].append(names)
    return _Plan(**{name: tuple(fields) for name, fields in found.items()})


class _BadQuantityError(ValueError):
    """A quantity that does not parse, with the path below the struct where it was met."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def below(self, name: str) -> "_BadQuantityError":
        return _BadQuantityError(f"{name}.{self.path}", self.reason)


def _canonical_list(values: ResourceList, name: str, *, rounded: bool) -> ResourceList:
    changed: dict[str, Quantity] | None = None
    for key, value in values.items():
        try:
            text = canonical(value, rounded=rounded)
        except ValueError as error:
            raise _BadQuantityError(f"{name}[{key}]", str(error)) from None
        if text is not value and text != value:
            changed = changed or dict(values)
            changed[key] = text
    return values if changed is None else changed


def _normalise(struct: msgspec.Struct, *, rounded: bool) -> None:
    plan = _plan(type(struct))
    for name, wire in plan.lists:
        values = getattr(struct, name)
        if values:
            after = _canonical_list(values, wire, rounded=rounded)
            if after is not values:
                setattr(struct, name, after)
    for name, wire in plan.scalars:
        value = getattr(struct, name)
        if value is not None:
            try:
                setattr(struct, name, canonical(value, rounded=False))
            except ValueError as error:
                raise _BadQuantityError(wire, str(error)) from None
    for name, wire in plan.children:
        child = getattr(struct, name)
        if child is not None:
            try:
                _normalise(child, rounded=rounded)
            except _BadQuantityError as bad:
                raise bad.below(wire) from None
    for name, wire in plan.sequences:
        for index, item in enumerate(getattr(struct, name)):
            try:
                _normalise(item, rounded=rounded)
            except _BadQuantityError as bad:
                raise bad.below(f"{wire}[{index}]") from None


def normalise(struct: msgspec.Struct, *, rounded: bool) -> None:
    """Write every quantity in an object canonically, in place; ``rounded`` rounds resource lists to milli.

    Raises InputError with the path of the first text that is no quantity.
    """
    try:
        _normalise(struct, rounded=rounded)
    except _BadQuantityError as bad:
        raise InputError(f"{bad.path}: {bad.reason}") from None
