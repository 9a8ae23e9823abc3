import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from podium.api.manifest import yaml_reader
from podium.errors import InputError


def read(text):
    return list(yaml_reader.read(text))


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("1", 1),
        ("-7", -7),
        ("0x10", 16),
        ("010", 8),
        ("0b11", 3),
        ("1_000", 1000),
        ("1.5", 1.5),
        ("1.0", 1),
        ("1e3", 1000),
        ("1e-1", 0.1),
        (".5", 0.5),
        ("18446744073709551615", 2**64 - 1),
        ("yes", True),
        ("off", False),
        ("True", True),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("1:30", "1:30"),
        ("1E", "1E"),
        ("100m", "100m"),
        ("'1'", "1"),
        ('"yes"', "yes"),
        ("!!str 5", "5"),
        ("!!int 5", 5),
    ],
)
def test_reads_scalars_as_kubectl(scalar, value):
    (document,) = read(f"a: {scalar}")
    assert document == {"a": value}
    assert type(document["a"]) is type(value)


def test_leaves_out_what_is_null_but_keeps_keys_of_string_maps():
    text = "a:\nb: ~\nc: null\nlabels: {k: , l: z}\nlist: [~, 1]\n"
    assert read(text) == [{"labels": {"k": "", "l": "z"}, "list": [None, 1]}]


def test_keys_become_text():
    assert read("{1: a, true: b, 1.5: c}") == [{"1": "a", "true": "b", "1.5": "c"}]


def test_anchors_and_merges():
    text = "base: &b {k: 1, l: 2}\none: {<<: *b, l: 3}\ntwo: {<<: [*b, {m: 4}]}\n"
    (document,) = read(text)
    assert document["one"] == {"k": 1, "l": 3}
    assert document["two"] == {"k": 1, "l": 2, "m": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "line 2: "),
        ("a: 1\nb: c: d", "line 2: mapping values are not allowed"),
        ("a: *nobody", "unknown alias"),
        ("a: &x [*x]", "unknown alias"),
        ("a: {<<: 5}", "map merge"),
        ("? [1]\n: 2", "a key must be"),
        ("a: !!int x", "cannot decode"),
        ("a: !!float nope", "cannot decode"),
        ("[" * 5000, "nest"),
        ("a:\n" + "".join("  " * level + "- \n" for level in range(1, 5)) + "\t", "line"),
    ],
)
def test_says_where_it_stops_in_one_line(text, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_aliases_do_not_grow_without_bound():
    lines = ["a0: &a0 [" + ", ".join("x" * 10) + "]"]
    lines += [f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 10) + "]" for level in range(1, 12)]
    with pytest.raises(InputError, match="values in one document"):
        read("\n".join(lines))


# What both formats can carry unescaped; how they escape the rest is PyYAML's business.
TEXT = st.text(st.characters(max_codepoint=0xD7FF, exclude_categories=["Cc", "Zl", "Zp"]), max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def expected(value, name=None):
    if isinstance(value, list):
        return [expected(item) for item in value]
    if not isinstance(value, dict):
        return value
    if name in yaml_reader.STRING_MAPS:
        return {key: "" if item is None else expected(item, key) for key, item in value.items()}
    return {key: expected(item, key) for key, item in value.items() if item is not None}


@given(PLAIN)
def test_reads_what_a_dumper_writes(value):
    # Quoted, because PyYAML does not know that a plain Y is true to kubectl.
    text = yaml.safe_dump(value, allow_unicode=True, default_style='"')
    assert read(text) == [expected(value)]


@given(PLAIN)
def test_reads_json_as_yaml(value):
    text = json.dumps(value)
    assert read(text) == [expected(value)]


@given(st.text(max_size=60))
def test_any_text_reads_or_fails_cleanly(text):
    with contextlib.suppress(InputError):
        read(text)
