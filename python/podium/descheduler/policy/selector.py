"""Label selectors: those written as text, and what is wrong with either kind.

Grammar and texts are those of ``k8s.io/apimachinery/pkg/labels``.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from podium.api import LabelSelector, LabelSelectorRequirement
from podium.api.validation.names import label_key, label_value
from podium.errors import InputError
from podium.framework.config.problems import quote

_TOKEN = re.compile(r"\s*(?:(?P<symbol>==|!=|[=!(),<>])|(?P<word>[^\s=!(),<>]+))")
_OPERATORS: Final = {"=": "In", "==": "In", "in": "In", "!=": "NotIn", "notin": "NotIn", ">": "Gt", "<": "Lt"}
_BINARY = "in, notin, =, ==, !=, gt, lt"
_SETS = ("In", "NotIn")


def parse_selector(text: str) -> LabelSelector:
    """Read ``a=b, c in (d, e), !f``; raises InputError with apimachinery's text."""
    return LabelSelector(match_expressions=list(_Parser(text).requirements()))


def selector_problem(selector: LabelSelector) -> str | None:
    """Return why a selector cannot be used, None if it can."""
    for key, value in selector.match_labels.items():
        problem = _problem(key, "In", [value], allow_many=False)
        if problem:
            return problem
    for item in selector.match_expressions:
        if item.operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            return f"{quote(item.operator)} is not a valid label selector operator"
        problem = _problem(item.key, item.operator, item.values)
        if problem:
            return problem
    return None


def is_everything(selector: LabelSelector | None) -> bool:
    """Tell whether a selector of an argument restricts nothing: absent or empty."""
    return selector is None or not (selector.match_labels or selector.match_expressions)


def _problem(key: str, operator: str, values: Sequence[str], *, allow_many: bool = True) -> str | None:
    found = [f"key: Invalid value: {quote(key)}: {'; '.join(label_key(key))}"] if label_key(key) else []
    shown = json.dumps(list(values) or None, separators=(",", ":"))
    if operator in _SETS and allow_many and not values:
        found.append(
            f"values: Invalid value: {shown}: for 'in', 'notin' operators, values set can't be empty"
        )
    if operator in ("Exists", "DoesNotExist") and values:
        found.append(
            f"values: Invalid value: {shown}: values set must be empty for exists and does not exist"
        )
    found += [_not_integer(at, value) for at, value in enumerate(values) if not _is_fit(operator, value)]
    for at, value in enumerate(values):
        wrong = label_value(value)
        if wrong:
            found.append(f"values[{at}][{key}]: Invalid value: {quote(value)}: {'; '.join(wrong)}")
    return f"[{', '.join(found)}]" if len(found) > 1 else next(iter(found), None)


def _is_fit(operator: str, value: str) -> bool:
    return operator not in ("Gt", "Lt") or re.fullmatch(r"[-+]?[0-9]+", value) is not None


def _not_integer(at: int, value: str) -> str:
    rule = "for 'Gt', 'Lt' operators, the value must be an integer"
    return f"values[{at}]: Invalid value: {quote(value)}: {rule}"


class _Parser:
    """Recursive descent over the tokens; the empty token ends them."""

    def __init__(self, text: str) -> None:
        self._tokens = [match["symbol"] or match["word"] for match in _TOKEN.finditer(text.rstrip())] + [""]
        self._at = 0

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    @property
    def _ahead(self) -> str:
        return self._tokens[self._at]

    def requirements(self) -> Iterator[LabelSelectorRequirement]:
        while True:
            if self._ahead == "":
                return
            if self._ahead != "!" and not _is_word(self._ahead):
                raise InputError(f"found '{self._ahead}', expected: !, identifier, or 'end of string'")
            try:
                yield self._requirement()
            except InputError as error:
                raise InputError(f"unable to parse requirement: {error}") from None
            after = self._next()
            if after == "":
                return
            if after != ",":
                raise InputError(f"found '{after}', expected: ',' or 'end of string'")
            if self._ahead != "!" and not _is_word(self._ahead):
                raise InputError(f"found '{self._ahead}', expected: identifier after ','")

    def _requirement(self) -> LabelSelectorRequirement:
        absent = self._ahead == "!"
        if absent:
            self._next()
        key = self._next()
        if not _is_word(key):
            raise InputError(f"found '{key}', expected: identifier")
        if label_key(key):
            raise InputError(f"<nil>: Invalid value: {quote(key)}: {'; '.join(label_key(key))}")
        if self._ahead in ("", ","):
            return LabelSelectorRequirement(key=key, operator="DoesNotExist" if absent else "Exists")
        word = self._next()
        operator = _OPERATORS.get(word)
        if operator is None:
            raise InputError(f"found '{word}', expected: {_BINARY}")
        values = self._set() if word in ("in", "notin") else [self._value()]
        values = sorted(set(values))
        problem = _problem(key, operator, values)
        if problem:
            raise InputError(problem)
        return LabelSelectorRequirement(key=key, operator=operator, values=values)

    def _value(self) -> str:
        if self._ahead in ("", ","):
            return ""
        value = self._next()
        if not _is_word(value):
            raise InputError(f"found '{value}', expected: identifier")
        return value

    def _set(self) -> list[str]:
        opening = self._next()
        if opening != "(":
            raise InputError(f"found '{opening}' expected: '('")
        values = [self._member()]
        while self._ahead == ",":
            self._next()
            values.append(self._member())
        closing = self._next()
        if closing != ")":
            raise InputError(f"found '{closing}', expected: ',' or ')'")
        return values

    def _member(self) -> str:
        return self._next() if _is_word(self._ahead) else ""


def _is_word(token: str) -> bool:
    return token != "" and token not in ("==", "!=", "=", "!", "(", ")", ",", "<", ">")
