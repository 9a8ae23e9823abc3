"""The syntax of names, label keys and label values; each check returns what is wrong."""

import re
from collections.abc import Sequence
from functools import lru_cache

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"

_LABEL_RE = re.compile(rf"{_LABEL}\Z")
_SUBDOMAIN_RE = re.compile(rf"{_SUBDOMAIN}\Z")
_LABEL_1035_RE = re.compile(rf"{_LABEL_1035}\Z")
_KEY_RE = re.compile(rf"{_KEY}\Z")
_VALUE_RE = re.compile(rf"{_VALUE}\Z")

_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character"
)
_KEY_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)

NAME_LENGTH = 63
SUBDOMAIN_LENGTH = 253

Problems = Sequence[str]


def _pattern(text: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


def _too_long(value: str, most: int, unit: str = "characters") -> list[str]:
    return [f"must be no more than {most} {unit}"] if len(value.encode()) > most else []


@lru_cache(maxsize=65536)
def dns_label(value: str) -> Problems:
    """Check a name without dots."""
    problems = _too_long(value, NAME_LENGTH)
    if not _LABEL_RE.match(value):
        dotted = _SUBDOMAIN_RE.match(value)
        explained = _pattern(_LABEL_TEXT, _LABEL, "my-name", "123-abc")
        problems.append("must not contain dots" if dotted else explained)
    return problems


@lru_cache(maxsize=65536)
def dns_subdomain(value: str) -> Problems:
    """Check the usual name of an object."""
    problems = _too_long(value, SUBDOMAIN_LENGTH)
    if not _SUBDOMAIN_RE.match(value):
        problems.append(_pattern(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return problems


@lru_cache(maxsize=65536)
def dns_1035_label(value: str) -> Problems:
    """Check the name of a Service."""
    problems = _too_long(value, NAME_LENGTH)
    if not _LABEL_1035_RE.match(value):
        problems.append(_pattern(_LABEL_1035_TEXT, _LABEL_1035, "my-name", "abc-123"))
    return problems


@lru_cache(maxsize=65536)
def label_key(value: str) -> Problems:
    """Check a label key, annotation key or resource name: an optional domain, a slash, a name."""
    domain, slash, name = value.rpartition("/")
    example = _pattern(_KEY_TEXT, _KEY, "MyName", "my.name", "123-abc")
    if "/" in domain:
        return [
            f"a valid label key {example} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    problems: list[str] = []
    if slash and not domain:
        problems.append("prefix part must be non-empty")
    elif slash:
        # The same check as for names, but it counts in bytes.
        too_long = _too_long(domain, SUBDOMAIN_LENGTH, "bytes")
        malformed = [text for text in dns_subdomain(domain) if not text.startswith("must be no more")]
        problems += [f"prefix part {problem}" for problem in (*too_long, *malformed)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > NAME_LENGTH:
        problems.append(f"name part must be no more than {NAME_LENGTH} bytes")
    if not _KEY_RE.match(name):
        problems.append(f"name part {example}")
    return problems


@lru_cache(maxsize=65536)
def label_value(value: str) -> Problems:
    """Check a label value."""
    problems = _too_long(value, NAME_LENGTH, "bytes")
    if not _VALUE_RE.match(value):
        problems.append(_pattern(_VALUE_TEXT, _VALUE, "MyValue", "my_value", "12345"))
    return problems


@lru_cache(maxsize=65536)
def port_name(value: str) -> Problems:
    """Check the name of a port."""
    problems = _too_long(value, 15)
    if not re.match(r"[-a-z0-9]+\Z", value):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        problems.append("must contain at least one letter (a-z)")
    if "--" in value:
        problems.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def percentage(value: str) -> Problems:
    """Check a percentage."""
    if re.match(r"[0-9]+%\Z", value):
        return []
    text = "a valid percent string must be a numeric string followed by an ending '%'"
    return [_pattern(text, "[0-9]+%", "1%", "93%")]


def decimal_integer(value: str) -> Problems:
    """Check the value of a Gt or Lt toleration."""
    if not value:
        return ["must be non-empty"]
    canonical = re.match(r"(0|-?[1-9][0-9]*)\Z", value)
    return [] if canonical else ["must be a valid decimal integer in canonical form"]
