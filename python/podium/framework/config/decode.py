"""Strict decoding: plain values into msgspec structs; an unknown field is an error with its path.

As in Kubernetes, ``null`` stands for an absent field, names are case-sensitive, and strings are never read as
numbers.
"""

import re
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import inspect

from podium.framework.config.problems import Problems, child, index
from podium.framework.duration import Duration

T = TypeVar("T")

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_MESSAGE = re.compile(r"(?P<text>.*?)(?: - at `(?P<at>[^`]*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_NAMES = {
    "`str`": "a string",
    "`int`": "an integer",
    "`float`": "a number",
    "`bool`": "a boolean",
    "`array`": "a list",
    "`object`": "a map",
    "`null`": "null",
    "`bytes`": "base64 text",
}


def decode(raw: Any, kind: type[T], path: str, problems: Problems) -> T | None:
    """Read ``raw`` as a ``kind``; None after recording every unknown field and the first wrong type."""
    before = len(problems.found)
    raw = _known_fields({} if raw is None else raw, inspect.type_info(kind), path, problems)
    try:
        value = msgspec.convert(raw, kind, strict=True, dec_hook=_read_custom)
    except msgspec.ValidationError as error:
        problems.add(*_explain(str(error), path, raw))
        return None
    return value if len(problems.found) == before else None


def encode(value: Any) -> Any:
    """Turn structs back into plain values under their names in the file; None fields are left out."""
    if isinstance(value, msgspec.Struct):
        info = type(value)
        pairs = zip(info.__struct_encode_fields__, info.__struct_fields__, strict=True)
        return {name: encode(item) for name, at in pairs if (item := getattr(value, at)) is not None}
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return str(value) if isinstance(value, Duration) else value


def _read_custom(kind: type, value: Any) -> Any:
    if kind is not Duration:
        raise NotImplementedError(f"no decoder for {kind.__name__}")
    if not isinstance(value, str):
        text = f"expected a duration such as 10s, got {_NAMES[_type_name(value)]}"
        raise ValueError(text)  # noqa: TRY004 (msgspec adds the path to a ValueError only)
    return Duration.parse(value)


def _known_fields(raw: Any, info: inspect.Type, path: str, problems: Problems) -> Any:
    """Drop nulls and unknown fields of ``raw``, recording the latter; wrong types pass unchanged."""
    info = _without_null(info)
    if isinstance(info, inspect.StructType) and isinstance(raw, dict):
        return _known_struct_fields(raw, info, path, problems)
    if isinstance(info, inspect.DictType) and isinstance(raw, dict):
        return {
            key: _known_fields(item, info.value_type, child(path, key), problems) for key, item in raw.items()
        }
    if isinstance(info, inspect.CollectionType | inspect.VarTupleType) and isinstance(raw, list):
        is_struct = isinstance(info.item_type, inspect.StructType)
        return [
            _known_fields(
                {} if item is None and is_struct else item, info.item_type, index(path, at), problems
            )
            for at, item in enumerate(raw)
        ]
    return raw


def _known_struct_fields(
    raw: dict[str, Any], info: inspect.StructType, path: str, problems: Problems
) -> dict[str, Any]:
    fields = {field.encode_name: field.type for field in info.fields}
    known = {}
    for key, item in raw.items():
        if key not in fields:
            problems.unknown(child(path, key))
        elif item is not None:
            known[key] = _known_fields(item, fields[key], child(path, key), problems)
    return known


def _without_null(info: inspect.Type) -> inspect.Type:
    if isinstance(info, inspect.Metadata):
        return _without_null(info.type)
    if isinstance(info, inspect.UnionType):
        rest = [item for item in info.types if not isinstance(item, inspect.NoneType)]
        return _without_null(rest[0]) if len(rest) == 1 else info
    return info


def _explain(message: str, path: str, raw: Any) -> tuple[str, str]:
    """Split msgspec's message into the path in the file and a text without its notation."""
    match = _MESSAGE.fullmatch(message)
    text, at = (match["text"], match["at"] or "") if match else (message, "")
    at = _name_keys(at.removeprefix("$"), text, raw)
    where = path + at if path else at.removeprefix(".")
    if unknown := _UNKNOWN.fullmatch(text):
        return child(where, unknown[1]), "unknown field"
    if missing := _MISSING.fullmatch(text):
        return child(where, missing[1]), "Required value"
    text = text.replace(" | null`", "`")
    for name, plain in _NAMES.items():
        text = text.replace(name, plain)
    return where, text[:1].lower() + text[1:].replace("`", "")


def _name_keys(at: str, text: str, raw: Any) -> str:
    """Replace the ``[...]`` that msgspec writes for a map's value by the first key that explains it."""
    before, found, after = at.partition("[...]")
    if not found:
        return at
    for part in re.findall(r"[^.\[\]]+", before):
        raw = raw[int(part)] if isinstance(raw, list) else raw[part]
    keys = [key for key, value in raw.items() if text.endswith(f"got {_type_name(value)}")]
    return f"{before}.{keys[0]}{after}" if keys else at


def _type_name(value: Any) -> str:
    names = ((bool, "bool"), (int, "int"), (float, "float"), (str, "str"), (list, "array"), (dict, "object"))
    return next((f"`{name}`" for kind, name in names if isinstance(value, kind)), "`null`")
