"""Errors about fields, worded as the API server words them."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec


def _quoted(value: Any) -> str:
    if value is None or isinstance(value, str | bool | int):
        return json.dumps(value, ensure_ascii=False)
    return msgspec.json.encode(value).decode()


def _with(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


class Errors(list[str]):
    """Collects errors; a path is written as in ``spec.containers[0].resources.limits[cpu]``."""

    def invalid(self, path: str, value: Any, detail: str) -> None:
        """Add: the value is malformed or out of range."""
        self.append(_with(f"{path}: Invalid value: {_quoted(value)}", detail))

    def invalids(self, path: str, value: Any, details: Iterable[str]) -> None:
        """Add one error per detail."""
        for detail in details:
            self.invalid(path, value, detail)

    def required(self, path: str, detail: str = "") -> None:
        """Add: the value is missing."""
        self.append(_with(f"{path}: Required value", detail))

    def duplicate(self, path: str, value: Any, detail: str = "") -> None:
        """Add: the value must be unique."""
        self.append(_with(f"{path}: Duplicate value: {_quoted(value)}", detail))

    def forbidden(self, path: str, detail: str) -> None:
        """Add: the value is not allowed here."""
        self.append(f"{path}: Forbidden: {detail}")

    def unsupported(self, path: str, value: Any, supported: Iterable[str]) -> None:
        """Add: the value is none of those that exist."""
        values = ", ".join(json.dumps(item) for item in supported)
        self.append(f"{path}: Unsupported value: {_quoted(value)}: supported values: {values}")

    def one_of(self, path: str, value: str | None, supported: Iterable[str]) -> None:
        """Add an error unless the value is absent or one of the supported ones, which are named sorted."""
        known = sorted(supported)
        if value is not None and value not in known:
            self.unsupported(path, value, known)

    def not_negative(self, path: str, value: int | None) -> None:
        """Add an error if a number is below zero."""
        if value is not None and value < 0:
            self.invalid(path, value, NEGATIVE)

    def positive(self, path: str, value: int) -> None:
        """Add an error unless a number is above zero."""
        if value <= 0:
            self.invalid(path, value, NOT_POSITIVE)


NEGATIVE = "must be greater than or equal to 0"
NOT_POSITIVE = "must be greater than zero"
NOT_INTEGER = "must be an integer"


def between(least: int, most: int) -> str:
    """Return the text for a number out of range."""
    return f"must be between {least} and {most}, inclusive"
