"""Documents to typed objects: the table of kinds, nulls, and errors in terms of fields."""

import re
from typing import Any, NamedTuple

import msgspec

from podium.api.kinds import BY_NAME, KINDS, SERVED_GROUPS, Kind
from podium.api.manifest.documents import Document
from podium.api.manifest.yaml_reader import STRING_MAPS
from podium.api.objects.base import Object
from podium.errors import InputError

_REMOVED_GROUPS = frozenset({"extensions"})
"""Groups that are gone; their kinds live on elsewhere, so passing over them would lose workloads."""

_NAMES = {kind.name: kind for kind in KINDS}


class Foreign(NamedTuple):
    """An object of a kind that nothing here reads."""

    kind: str


class Decoded(NamedTuple):
    """An object and the row of its kind."""

    kind: Kind
    item: Object


class _Header(msgspec.Struct):
    kind: Any = None
    apiVersion: Any = None  # noqa: N815 - the wire name, read without renaming
    metadata: Any = None


_HEADER = msgspec.json.Decoder(_Header)
# What kubectl and the API server write first; it spares reading the whole object twice.
_FIRST = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([\w./-]*)"\s*,\s*"kind"\s*:\s*"(\w*)"\s*[,}]')
_DECODERS = {kind.type: msgspec.json.Decoder(kind.type) for kind in KINDS}


def describe(document: Document) -> str:
    """Return "Pod ns/name" for messages, as far as the document tells."""
    try:
        header = _header(document)
    except InputError:
        return ""
    kind = header.kind if isinstance(header.kind, str) else document.kind
    metadata = header.metadata if isinstance(header.metadata, dict) else {}
    name, namespace = metadata.get("name") or metadata.get("generateName"), metadata.get("namespace")
    row = _NAMES.get(kind)
    if row is not None and row.namespaced:
        namespace = namespace or "default"
    path = "/".join(str(part) for part in (namespace, name) if part)
    return f"{kind} {path}".strip()


def _header(document: Document) -> _Header:
    body = document.body
    try:
        if isinstance(body, bytes | msgspec.Raw):
            return _HEADER.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"not an object: {error}") from None
    if not isinstance(body, dict):
        raise InputError(f"not an object but {_type_name(body)}")
    return _Header(body.get("kind"), body.get("apiVersion"), body.get("metadata"))


def _first(body: object) -> _Header | None:
    if not isinstance(body, bytes | msgspec.Raw):
        return None
    match = _FIRST.match(memoryview(body))
    if match is None:
        return None
    version, kind = (group.decode() for group in match.groups())
    return _Header(kind, version)


def _type_name(value: object) -> str:
    names = {list: "a list", str: "a text", bool: "a boolean", type(None): "nothing"}
    return names.get(type(value), "a number")


def decode(document: Document) -> Decoded | Foreign:
    """Return the object of a document; raises InputError naming the field that does not fit."""
    header = _first(document.body) or _header(document)
    kind, version = header.kind or document.kind, header.apiVersion or document.api_version
    for field, value in (("kind", kind), ("apiVersion", version)):
        if not isinstance(value, str) or not value:
            raise InputError(f"{field}: Required value: a Kubernetes object must say its {field}")
    row = BY_NAME.get((version, kind))
    if row is None and kind == "List":
        raise InputError("items: a List must have a list of objects")
    if row is None:
        _refuse_old_version(kind, version)
        return Foreign(kind)
    return Decoded(row, _typed(row, document.body))


def _refuse_old_version(kind: str, version: str) -> None:
    group = version.rpartition("/")[0]
    served = SERVED_GROUPS.get((group, kind))
    if served is None and group in _REMOVED_GROUPS and kind in _NAMES:
        served = _NAMES[kind].api_version
    if served is not None:
        raise InputError(f'no matches for kind "{kind}" in version "{version}"; it is served as {served}')


def _typed(row: Kind, body: Any) -> Object:
    try:
        if not isinstance(body, bytes | msgspec.Raw):
            return msgspec.convert(body, row.type)
        return _DECODERS[row.type].decode(body)
    except msgspec.DecodeError as error:
        found = _without_nulls(row, body)
        if found is None:
            raise InputError(_field_error(str(error))) from None
        return found
    except RecursionError:
        raise InputError("nested too deeply") from None


def _without_nulls(row: Kind, body: Any) -> Object | None:
    """Try again with nulls as absent fields, which are rare enough to be looked for only now."""
    try:
        plain = msgspec.json.decode(body) if isinstance(body, bytes | msgspec.Raw) else body
        return msgspec.convert(without_nulls(plain), row.type)
    except (msgspec.DecodeError, RecursionError):
        return None


def without_nulls(value: Any, name: str | None = None) -> Any:
    """Return plain data without the null entries of maps; in maps of strings they become empty strings."""
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    if not isinstance(value, dict):
        return value
    if name in STRING_MAPS:
        return {key: "" if item is None else item for key, item in value.items()}
    return {key: without_nulls(item, key) for key, item in value.items() if item is not None}


_UNQUOTED = frozenset(f"Expected `str`, got `{kind}`" for kind in ("bool", "int", "float"))
"""What happens to a text that YAML takes for something else, such as ``no`` or ``1``."""

_AT = re.compile(r"(.*) - at `(?:key in )?\$\.?(.*)`\Z", re.DOTALL)


def _field_error(message: str) -> str:
    """Put the path first: "spec.replicas: Expected `int`, got `str`"."""
    match = _AT.match(message)
    if match is None:
        return message
    text, path = match.groups()
    if text in _UNQUOTED:
        text += "; put it in quotes"
    return f"{path}: {text}" if path else text
