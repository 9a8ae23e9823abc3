"""YAML text to plain data, as kubectl reads it: YAML 1.1 scalars, string keys, bounded depth and size.

PyYAML's own constructor is not used: it makes dates and base-60 numbers of what kubectl takes for strings,
recurses once per nesting level, and lets aliases grow without bound.
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from podium.errors import InputError

MAX_DEPTH = 200
"""Deepest nesting accepted; the deepest field of a Kubernetes object is at about 20."""

MAX_NODES = 20_000_000
"""Most values one document may have after its aliases are followed."""

_BOOLS = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_TIMESTAMP = re.compile(r"[0-9]{4}-")
_SPECIAL_FLOATS = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_EXACT_FLOAT = 10**21
"""Below this a whole float is written as an integer in JSON."""

STRING_MAPS = frozenset({"labels", "annotations", "nodeSelector", "matchLabels", "parameters"})
"""Fields whose values are strings, so that a missing value is the empty string and not an absent entry."""


def _integer(text: str) -> int | None:
    """Read what Go's ParseInt with base 0 reads: 0x, 0o, 0b, and a leading 0 for octal."""
    digits = text.lstrip("+-")
    if digits[:1] == "0" and digits[1:].isdigit():
        digits = "0o" + digits[1:]
    try:
        magnitude = int(digits, 0)
    except ValueError:
        return None
    number = -magnitude if text.startswith("-") else magnitude
    return number if -(2**63) <= number < 2**64 else None


@lru_cache(maxsize=65536)
def resolve(text: str) -> Any:
    """Return what a plain scalar means."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    first = text[0]
    if not (first.isdigit() or first in "+-."):
        return text
    if _SPECIAL_FLOATS.match(text):
        return float(text.replace(".", "", 1))
    if _TIMESTAMP.match(text):
        return text
    plain = text.replace("_", "")
    if first != ".":
        number = _integer(plain)
        if number is not None:
            return number
    if _FLOAT.match(plain):
        value = float(plain)
        return int(value) if value.is_integer() and abs(value) < _EXACT_FLOAT else value
    return text


def _key(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"
    if isinstance(value, str | int):
        return str(value)
    raise InputError("a key must be a text or a number")


class _Frame:
    """A container that is still open: its value, the key that waits for one, its size so far."""

    __slots__ = ("anchor", "key", "merges", "name", "size", "value", "waiting")

    def __init__(self, value: Any, name: str | None, anchor: str | None) -> None:
        self.value = value
        self.name = name
        self.anchor = anchor
        self.key: str | None = None
        self.waiting = False
        self.merges: list[Any] = []
        self.size = 1

    def add(self, item: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(item)
        elif not self.waiting:
            self.key, self.waiting = _key(item), True
        else:
            self._set(item)
            self.key, self.waiting = None, False

    def _set(self, item: Any) -> None:
        key = self.key or ""
        if item is not None:
            self.value[key] = item
        elif self.name in STRING_MAPS:
            self.value[key] = ""
        else:
            self.value.pop(key, None)

    def close(self) -> Any:
        for merged in self.merges:
            for key, item in merged.items():
                self.value.setdefault(key, item)
        return self.value


class _Anchored(NamedTuple):
    value: Any
    size: int


class _Builder:
    """Builds documents from parse events without recursion."""

    def __init__(self) -> None:
        self.stack: list[_Frame] = []
        self.anchors: dict[str, _Anchored] = {}
        self.root: Any = None

    def scalar(self, event: yaml.ScalarEvent) -> None:
        plain = not event.style and event.implicit[0] and event.tag is None
        value = resolve(event.value) if plain else _tagged(event)
        if plain and event.value == "<<" and self._expects_key():
            self.stack[-1].key, self.stack[-1].waiting = "<<", True
            return
        self._place(value, 1, event.anchor)

    def alias(self, event: yaml.AliasEvent) -> None:
        found = self.anchors.get(event.anchor or "")
        if found is None:
            raise InputError(f"unknown alias *{event.anchor}")
        self._place(found.value, found.size, None)

    def open(self, value: Any, anchor: str | None) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise InputError(f"nested more than {MAX_DEPTH} levels deep")
        parent = self.stack[-1] if self.stack else None
        name = parent.key if parent is not None and isinstance(parent.value, dict) else None
        self.stack.append(_Frame(value, name, anchor))

    def close(self) -> None:
        frame = self.stack.pop()
        self._place(frame.close(), frame.size, frame.anchor)

    def _expects_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and not self.stack[-1].waiting

    def _place(self, value: Any, size: int, anchor: str | None) -> None:
        if anchor:
            self.anchors[anchor] = _Anchored(value, size)
        if not self.stack:
            self.root = value
            return
        frame = self.stack[-1]
        frame.size += size
        if frame.size > MAX_NODES:
            raise InputError(f"more than {MAX_NODES} values in one document")
        if frame.key == "<<" and frame.waiting:
            frame.merges += _mergeable(value)
            frame.key, frame.waiting = None, False
        else:
            frame.add(value)


def _mergeable(value: Any) -> list[dict[str, Any]]:
    maps = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) for item in maps):
        raise InputError("map merge (<<) requires a map or a list of maps")
    return maps


def _tagged(event: yaml.ScalarEvent) -> Any:
    tag = (event.tag or "").removeprefix("tag:yaml.org,2002:")
    if tag in ("", "!", "str", "binary"):
        return event.value
    value = resolve(event.value)
    wanted: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,)}
    if tag == "null" and value is None:
        return None
    if tag not in wanted or not isinstance(value, wanted[tag]):
        raise InputError(f"cannot decode `{event.value}` as a !!{tag}")
    return value


def read(text: str, first_line: int = 0) -> Iterator[Any]:
    """Yield the documents of a text: dicts, lists, strings, numbers, booleans, ``None``.

    Null entries of maps are left out. Raises InputError with the line (counted from ``first_line``) of
    the first error; documents before it have been yielded.
    """
    builder = _Builder()
    event = None
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            handle = _HANDLERS.get(type(event))
            if handle is not None:
                handle(builder, event)
            elif isinstance(event, yaml.DocumentEndEvent):
                yield builder.root
                builder = _Builder()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(_at(first_line, mark, error.problem or "not YAML")) from None
    except yaml.YAMLError as error:
        raise InputError(str(error).replace("\n", " ")) from None
    except InputError as error:
        raise InputError(_at(first_line, event.start_mark if event else None, str(error))) from None


def _at(first_line: int, mark: Any, problem: str) -> str:
    return problem if mark is None else f"line {first_line + mark.line + 1}: {problem}"


_HANDLERS: dict[type, Callable[[_Builder, Any], None]] = {
    yaml.ScalarEvent: _Builder.scalar,
    yaml.AliasEvent: _Builder.alias,
    yaml.SequenceStartEvent: lambda builder, event: builder.open([], event.anchor),
    yaml.MappingStartEvent: lambda builder, event: builder.open({}, event.anchor),
    yaml.SequenceEndEvent: lambda builder, _: builder.close(),
    yaml.MappingEndEvent: lambda builder, _: builder.close(),
}
