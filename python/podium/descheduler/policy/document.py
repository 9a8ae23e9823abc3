"""The text of a policy file as plain values, as ``sigs.k8s.io/yaml`` reads it.

Only the first document counts and a repeated key overrides, as upstream; keys come out sorted, because Go
turns YAML into JSON through a map, and errors name the first field in that order.
"""

import json
from collections.abc import Hashable
from typing import Any

import yaml

from podium.errors import InputError
from podium.framework.config.documents import resolve_scalar

MAX_DEPTH = 100


def parse(text: str) -> Any:
    """Return the first document; raises InputError with what is wrong and the line."""
    if text.lstrip().startswith("{"):
        return _parse_json(text)
    try:
        return _plain(yaml.compose(_first(text), Loader=yaml.CSafeLoader), 0)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise InputError(f"yaml: line {line}: {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"yaml: {' '.join(str(error).split())}") from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"couldn't get version/kind; json parse error: {error}") from None


def _first(text: str) -> str:
    """Return the text up to the end of its first document."""
    events = yaml.parse(text, Loader=yaml.CSafeLoader)
    for event in events:
        if isinstance(event, yaml.DocumentEndEvent):
            return text[: event.end_mark.index] if event.end_mark else text
    return text


def _plain(node: yaml.Node | None, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise InputError(f"yaml: nested more than {MAX_DEPTH} levels deep")
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, depth + 1) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, depth)
    if node is None:
        return None
    return node.value if node.style else resolve_scalar(node.value)  # type: ignore[attr-defined]  # stubs


def _mapping(node: yaml.MappingNode, depth: int) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in node.value:
        plain = _plain(value, depth + 1)
        if isinstance(key, yaml.ScalarNode) and key.value == "<<" and not key.style:
            for source in plain if isinstance(plain, list) else [plain]:
                merged = {**(source if isinstance(source, dict) else {}), **merged}
        else:
            own[_key(_plain(key, depth + 1))] = plain
    return dict(sorted({**merged, **own}.items()))


def _key(value: Hashable) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise InputError("yaml: a key must be a string")
