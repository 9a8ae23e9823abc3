"""Reads the YAML or JSON documents of a configuration file into plain Python values.

Plain scalars resolve as in the YAML library of Kubernetes (``yes`` is a boolean, ``010`` is eight, no dates
and no base-60 numbers), a repeated key is an error, and nesting and aliases are bounded, so junk input ends
in one line.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from podium.errors import ConfigError

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 100
MAX_VALUES: Final = 200_000

_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Final[dict[str, Any]] = (
    dict.fromkeys(["", "~", "null", "Null", "NULL"], None)
    | dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True)
    | dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False)
)


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file: its number, counted from 1, and its content (never None)."""

    number: int
    content: Any


def read_documents(text: bytes, source: str) -> list[Document]:
    """Parse every document that is not empty.

    Raises:
        ConfigError: naming ``source`` and the line, when the text is too big, not UTF-8, or not YAML.

    """
    if len(text) > MAX_BYTES:
        raise ConfigError(f"{source}: larger than {MAX_BYTES} bytes, this is no configuration file")
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: not UTF-8 text (byte {error.start})") from None
    try:
        contents = list(_Builder(decoded, source).documents())
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: {_one_line(error)}") from None
    return [Document(number, content) for number, content in enumerate(contents, 1) if content is not None]


def _one_line(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem or error.context or 'not YAML'}"
    return " ".join(str(error).split())


def resolve_scalar(text: str) -> Any:
    """Give a plain (unquoted) scalar its type, as go-yaml v2 does when it decodes into an empty interface."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "+-.0123456789":
        digits = text.replace("_", "")
        if _INT.fullmatch(digits):
            return _integer(digits)
        if _FLOAT.fullmatch(digits):
            return _number(float(digits))
    return text


def _integer(digits: str) -> int | float:
    sign, body = (-1, digits[1:]) if digits[0] == "-" else (1, digits.removeprefix("+"))
    if len(body) > 1 and body[0] == "0" and body[1].isdigit():
        value = int(body, 8)
    elif len(body) > 200:
        return sign * math.inf
    else:
        value = int(body, 0)
    return sign * value


def _number(value: float) -> int | float:
    # On its way through JSON, 10.0 becomes 10, which an integer field accepts.
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


class _Builder:
    """Builds values from the event stream, which libyaml produces without recursion."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0

    def documents(self) -> Iterator[Any]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors.clear()
                self._values = 0
                yield self._value(next(self._events), 0)

    def _fail(self, event: yaml.Event, text: str) -> ConfigError:
        line = event.start_mark.line + 1 if event.start_mark is not None else 0
        return ConfigError(f"{self._source}: line {line}: {text}")

    def _value(self, event: yaml.Event, depth: int) -> Any:
        before = self._values
        self._count(event, 1)
        if depth > MAX_DEPTH:
            raise self._fail(event, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = list(self._items(depth + 1))
        elif isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(event, depth + 1)
        else:
            raise self._fail(event, "not a value")
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._values - before)
        return value

    def _count(self, event: yaml.Event, values: int) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            raise self._fail(event, f"the document has more than {MAX_VALUES} values")

    def _alias(self, event: yaml.AliasEvent) -> Any:
        if event.anchor not in self._anchors:
            raise self._fail(event, f"unknown anchor '{event.anchor}' referenced")
        value, size = self._anchors[event.anchor]
        self._count(event, size)
        return value

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        if event.implicit[0] and not event.style:
            return resolve_scalar(event.value)
        if event.tag in {None, "!", "tag:yaml.org,2002:str"}:
            return event.value
        raise self._fail(event, f"the tag {event.tag} is not supported")

    def _items(self, depth: int) -> Iterator[Any]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._value(event, depth)

    def _mapping(self, start: yaml.Event, depth: int) -> dict[str, Any]:
        explicit: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            is_merge = isinstance(event, yaml.ScalarEvent) and not event.style and event.value == "<<"
            key = self._key(event)
            value = self._value(next(self._events), depth)
            if is_merge:
                self._merge(start, merged, value)
            elif key in explicit:
                raise self._fail(event, f'key "{key}" already set in map')
            else:
                explicit[key] = value
        return merged | explicit

    def _key(self, event: yaml.Event) -> str:
        """Return the key as written: no field is called true or 10, but a tenant may be called ``no``."""
        if not isinstance(event, yaml.ScalarEvent):
            raise self._fail(event, "a key must be a string")
        if self._scalar(event) is None:
            raise self._fail(event, "a key must not be null")
        return str(event.value)

    def _merge(self, start: yaml.Event, into: dict[str, Any], value: Any) -> None:
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, dict):
                raise self._fail(start, "map merge requires map or sequence of maps as the value")
            for key, inherited in item.items():
                into.setdefault(key, inherited)
