"""Plain values into structs as Go's JSON decoder does it, with its texts.

A policy file is refused with the words that users find in issues and logs, so the rules here are those of
``sigs.k8s.io/json``: names are case-sensitive, ``null`` changes nothing, the first value of a wrong type is
the error, and unknown fields are either collected (lenient) or the error (strict).
"""

import json
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from podium.api import LabelSelector, LabelSelectorRequirement
from podium.errors import InputError
from podium.framework.duration import Duration

T = TypeVar("T", bound=msgspec.Struct)


class GoInt(NamedTuple):
    """A Go integer type, as annotation of an ``int``."""

    name: str
    low: int
    high: int


class GoName(NamedTuple):
    """The Go name of a type that Python spells otherwise."""

    name: str


Uint = Annotated[int, GoInt("uint", 0, 2**64 - 1)]
_ANY_INT = GoInt("int", -(2**63), 2**63 - 1)

Int = Annotated[int, _ANY_INT]
Int32 = Annotated[int, GoInt("int32", -(2**31), 2**31 - 1)]
Int64 = Annotated[int, GoInt("int64", -(2**63), 2**63 - 1)]

#: Structs of ``podium.api`` that arguments contain, with their Go names; others say theirs in ``GO_NAME``.
_STRUCTS: Final[dict[type, str]] = {
    LabelSelector: "v1.LabelSelector",
    LabelSelectorRequirement: "v1.LabelSelectorRequirement",
}


class Raw:
    """Marks a field that is kept as it is in the file, to be decoded later."""


class Decoded(NamedTuple):
    """A struct and the paths of the fields that it does not have."""

    value: Any
    unknown: list[str]


class _Field(NamedTuple):
    attribute: str
    type: Any


class _Mark(NamedTuple):
    """Where the decoder is: the innermost struct, and the fields from the root."""

    struct: str
    path: tuple[str, ...]


def decode(raw: object, kind: type[T]) -> Decoded:
    """Read an object; raises InputError with Go's text for the first value of a wrong type."""
    return _Decoder().run(raw, kind)


class _Decoder:
    def __init__(self) -> None:
        self._error: str | None = None
        self._unknown: list[str] = []

    def run(self, raw: object, kind: type[msgspec.Struct]) -> Decoded:
        value = self._value(raw, kind, _Mark("", ()), "")
        if self._error is not None:
            raise InputError(self._error)
        return Decoded(kind() if value is _UNSET else value, self._unknown)

    def _wrong(self, what: str, kind: Any, mark: _Mark) -> Any:
        """Keep the first complaint; the field keeps its default."""
        if self._error is None:
            into = (
                f"Go struct field {mark.struct}.{'.'.join(mark.path)} of type"
                if mark.path
                else "Go value of type"
            )
            self._error = f"json: cannot unmarshal {what} into {into} {go_type(kind)}"
        return _UNSET

    def _value(self, raw: object, kind: Any, mark: _Mark, at: str) -> Any:
        """Decode one value; ``at`` is its path with indexes, as unknown fields are named."""
        base, note = _unwrap(kind)
        if raw is None:
            return _UNSET
        if note is Raw:
            return raw
        if base is Duration:
            return self._duration(raw, mark)
        if get_origin(base) is list and isinstance(raw, list):
            return self._list(raw, base, mark, at)
        if get_origin(base) is dict and isinstance(raw, Mapping):
            return self._map(raw, base, mark, at)
        if isinstance(base, type) and issubclass(base, msgspec.Struct) and isinstance(raw, Mapping):
            return self._struct(raw, base, mark, at)
        if base is int and isinstance(raw, int | float) and not isinstance(raw, bool):
            width = note or _ANY_INT  # a plugin from elsewhere may say int alone
            in_range = isinstance(raw, int) and width.low <= raw <= width.high
            return raw if in_range else self._wrong(f"number {number_text(raw)}", kind, mark)
        if base is float and isinstance(raw, int | float) and not isinstance(raw, bool):
            return float(raw)
        if base in (str, bool) and type(raw) is base:
            return raw
        return self._wrong(_json_type(raw), kind, mark)

    def _duration(self, raw: object, mark: _Mark) -> Any:
        if not isinstance(raw, str):
            return self._wrong(_json_type(raw), str, mark)
        try:
            return Duration.parse(raw)
        except ValueError as error:
            self._error = self._error or str(error)
            return _UNSET

    def _list(self, raw: list[object], base: Any, mark: _Mark, at: str) -> Any:
        (inner,) = get_args(base)
        items = [self._value(item, inner, mark, f"{at}[{index}]") for index, item in enumerate(raw)]
        return [_zero(inner) if item is _UNSET else item for item in items]

    def _map(self, raw: Mapping[str, object], base: Any, mark: _Mark, at: str) -> Any:
        _, inner = get_args(base)
        items = {key: self._value(item, inner, mark, _child(at, key)) for key, item in raw.items()}
        return {key: _zero(inner) if item is _UNSET else item for key, item in items.items()}

    def _struct(self, raw: Mapping[str, object], base: type[msgspec.Struct], mark: _Mark, at: str) -> Any:
        fields = _fields(base)
        values: dict[str, Any] = {}
        for key, item in raw.items():
            field = fields.get(key)
            if field is None:
                self._unknown.append(_child(at, key))
                continue
            inside = _Mark(_struct_name(base), (*mark.path, key))
            value = self._value(item, field.type, inside, _child(at, key))
            if value is not _UNSET:
                values[field.attribute] = value
        return base(**values)


#: Stands for "leave the default".
_UNSET: Final = object()


def _child(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, _Field]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        field.encode_name: _Field(field.name, hints[field.name]) for field in msgspec.structs.fields(kind)
    }


def _unwrap(kind: Any) -> tuple[Any, Any]:
    """Return the type without optionality and annotation, and the annotation."""
    note = None
    while True:
        if get_origin(kind) is Annotated:
            kind, note = get_args(kind)[:2]
        elif get_origin(kind) in (Union, types.UnionType):
            kind = next(part for part in get_args(kind) if part is not type(None))
        else:
            return _concrete(kind), note


def _concrete(kind: Any) -> Any:
    """Return ``list[…]`` and ``dict[…]`` for the abstract collections of ``podium.api``."""
    origin = get_origin(kind)
    if origin is None or origin in (list, dict):
        return kind
    args = get_args(kind)
    return dict[args[0], args[1]] if len(args) == 2 else list[args[0]]  # type: ignore[valid-type]


def go_type(kind: Any) -> str:
    """Return what Go calls a type."""
    base, note = _unwrap(kind)
    if note is not None:
        return str(note.name)
    if get_origin(base) is list:
        return f"[]{go_type(get_args(base)[0])}"
    if get_origin(base) is dict:
        key, value = get_args(base)
        return f"map[{go_type(key)}]{go_type(value)}"
    if base in _STRUCTS:
        return _STRUCTS[base]
    named = {str: "string", bool: "bool", float: "float64"}
    return named.get(base) or getattr(base, "GO_NAME", base.__name__)


def _struct_name(base: Any) -> str:
    """Return a struct's name without its package; an anonymous struct has none."""
    name = go_type(base)
    return "" if " " in name else name.rpartition(".")[2]


def _zero(kind: Any) -> Any:
    """Return what Go leaves in an element that is null or of a wrong type."""
    base, _ = _unwrap(kind)
    makers: dict[Any, Callable[[], Any]] = {list: list, dict: dict}
    return makers.get(get_origin(base), base)()


def _json_type(raw: object) -> str:
    match raw:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case Mapping():
            return "object"
    return "array"


def number_text(raw: object) -> str:
    """Return a number as JSON has it."""
    return str(raw) if isinstance(raw, int) else json.dumps(raw)
