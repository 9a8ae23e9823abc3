"""Collects what is wrong with a configuration, worded as Kubernetes words field errors.

Source of the wording: ``k8s.io/apimachinery/pkg/util/validation/field``.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from podium.errors import ConfigError
from podium.framework.duration import Duration


def child(path: str, name: str) -> str:
    """Return the path of a field of the object at ``path``."""
    return f"{path}.{name}" if path else name


def index(path: str, at: int) -> str:
    """Return the path of an item of the list at ``path``."""
    return f"{path}[{at}]"


def quote(text: str) -> str:
    """Quote a string as Go's ``%q`` does for printable text."""
    return json.dumps(text, ensure_ascii=False)


def show(value: Any) -> str:
    """Render a bad value: strings quoted, the rest as JSON."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Duration):
        return quote(str(value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


@dataclass(slots=True)
class Problems:
    """The problems found so far, each ``path: text``; ``raise_if_any`` turns them into one error line."""

    found: list[str] = field(default_factory=list)

    def add(self, path: str, text: str) -> None:
        """Record a problem in our own words."""
        self.found.append(f"{path}: {text}" if path else text)

    def unknown(self, path: str) -> None:
        """Record a field that the schema does not have."""
        self.add(path, "unknown field")

    def invalid(self, path: str, value: Any, detail: str) -> None:
        """Record a value that breaks a rule."""
        self.add(path, f"Invalid value: {show(value)}: {detail}")

    def required(self, path: str, detail: str = "") -> None:
        """Record a missing value."""
        self.add(path, f"Required value: {detail}" if detail else "Required value")

    def duplicate(self, path: str, value: Any) -> None:
        """Record a value that must be unique and is not."""
        self.add(path, f"Duplicate value: {show(value)}")

    def unsupported(self, path: str, value: Any, supported: Iterable[str]) -> None:
        """Record a value outside an enumeration."""
        names = ", ".join(quote(name) for name in supported)
        self.add(path, f"Unsupported value: {show(value)}: supported values: {names}")

    def forbidden(self, path: str, detail: str) -> None:
        """Record a field that must not be set here."""
        self.add(path, f"Forbidden: {detail}")

    def raise_if_any(self, source: str = "") -> None:
        """Raise one ``ConfigError`` with every problem on one line, after ``source`` (file, document)."""
        if self.found:
            line = "; ".join(self.found)
            raise ConfigError(f"{source}: {line}" if source else line)
