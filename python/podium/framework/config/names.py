"""Checks of names in a configuration, with the messages of ``k8s.io/apimachinery``."""

import re
from typing import Final

from podium.api import NodeSelectorRequirement, NodeSelectorTerm
from podium.framework.config.problems import Problems, child, index

_KEY_CHARS: Final = "[A-Za-z0-9]"
_KEY: Final = f"({_KEY_CHARS}[-A-Za-z0-9_.]*)?{_KEY_CHARS}"
_KEY_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    f"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_KEY}')"
)
_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    f"regex used for validation is '({_KEY})?')"
)
_DNS_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character "
    f"(e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def label_key_errors(key: str) -> list[str]:
    """Say what is wrong with a label key or qualified resource name; empty when it is fine."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_KEY_RULE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    errors = []
    if slash and not prefix:
        errors.append("prefix part must be non-empty")
    elif slash:
        if len(prefix) > 253:
            errors.append("prefix part must be no more than 253 bytes")
        if not re.fullmatch(_SUBDOMAIN, prefix):
            errors.append(f"prefix part {_SUBDOMAIN_RULE}")
    if not name:
        errors.append("name part must be non-empty")
    elif len(name) > 63:
        errors.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_KEY, name):
        errors.append(f"name part {_KEY_RULE}")
    return errors


def label_value_errors(value: str) -> list[str]:
    """Say what is wrong with a label value; empty when it is fine."""
    errors = ["must be no more than 63 bytes"] if len(value) > 63 else []
    if value and not re.fullmatch(_KEY, value):
        errors.append(_VALUE_RULE)
    return errors


def check_label_key(path: str, key: str, problems: Problems) -> None:
    """Record what is wrong with a label key."""
    for error in label_key_errors(key):
        problems.invalid(path, key, error)


def check_extended_resource(path: str, name: str, problems: Problems) -> None:
    """Record a name that no extended resource can have."""
    errors = label_key_errors(name)
    for error in errors:
        problems.invalid(path, name, error)
    native = "/" not in name or "kubernetes.io/" in name
    if not errors and (native or name.startswith("requests.") or label_key_errors(f"requests.{name}")):
        problems.invalid(path, name, "is an invalid extended resource name")


def check_node_selector_term(path: str, term: NodeSelectorTerm, problems: Problems) -> None:
    """Record the expressions of a node selector term that cannot be parsed."""
    for at, item in enumerate(term.match_expressions):
        _check_expression(index(child(path, "matchExpressions"), at), item, problems)
    for at, item in enumerate(term.match_fields):
        where = index(child(path, "matchFields"), at)
        if item.operator not in {"In", "NotIn"}:
            problems.unsupported(child(where, "operator"), item.operator, ("In", "NotIn"))
        elif len(item.values) != 1:
            problems.invalid(child(where, "values"), list(item.values), "must have one element")


def _check_expression(path: str, item: NodeSelectorRequirement, problems: Problems) -> None:
    if item.operator not in _OPERATORS:
        problems.unsupported(child(path, "operator"), item.operator, _OPERATORS)
        return
    check_label_key(child(path, "key"), item.key, problems)
    where, values = child(path, "values"), list(item.values)
    if item.operator in {"In", "NotIn"} and not values:
        problems.invalid(where, values, "for 'in', 'notin' operators, values set can't be empty")
    elif item.operator in {"Exists", "DoesNotExist"} and values:
        problems.invalid(where, values, "values set must be empty for exists and does not exist")
    elif item.operator in {"Gt", "Lt"}:
        if len(values) != 1:
            problems.invalid(where, values, "for 'Gt', 'Lt' operators, exactly one value is required")
        for at, value in enumerate(values):
            if not _is_int64(value):
                problems.invalid(
                    index(where, at), value, "for 'Gt', 'Lt' operators, the value must be an integer"
                )
    for at, value in enumerate(values):
        for error in label_value_errors(value):
            problems.invalid(index(where, at), value, error)


def _is_int64(text: str) -> bool:
    return re.fullmatch(r"[-+]?[0-9]{1,25}", text, re.ASCII) is not None and -(2**63) <= int(text) < 2**63
