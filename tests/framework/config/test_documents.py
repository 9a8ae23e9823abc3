import pytest
from hypothesis import given
from hypothesis import strategies as st
from podium.errors import ConfigError
from podium.framework.config.documents import MAX_BYTES, read_documents, resolve_scalar


def contents(text):
    return [document.content for document in read_documents(text.encode(), "f")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~", None),
        ("null", None),
        ("yes", True),
        ("off", False),
        ("10", 10),
        ("-10", -10),
        ("010", 8),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("1e3", 1000),
        ("10.0", 10),
        ("0.5", 0.5),
        ("09", 9.0),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        ("-", "-"),
        (".", "."),
        ("1.2.3", "1.2.3"),
        ("60s", "60s"),
    ],
)
def test_plain_scalars_resolve_as_in_kubernetes(text, value):
    resolved = resolve_scalar(text)
    assert resolved == value
    assert type(resolved) is type(value) or value == 9.0


def test_quoted_scalars_are_strings():
    assert contents("a: '10'\nb: \"yes\"\nc: !!str 10") == [{"a": "10", "b": "yes", "c": "10"}]


def test_keys_keep_their_spelling():
    assert contents("{no: 1, 010: 2}") == [{"no": 1, "010": 2}]


def test_documents_are_numbered_and_empty_ones_skipped():
    documents = read_documents(b"a: 1\n---\n---\n# nothing\n---\nb: 2\n", "f")
    assert [(document.number, document.content) for document in documents] == [(1, {"a": 1}), (4, {"b": 2})]


def test_json_is_read():
    assert contents('{"a": [1, null, "x"]}') == [{"a": [1, None, "x"]}]


def test_anchors_and_merge_keys():
    text = "base: &base {a: 1, b: 2}\none: {<<: *base, b: 3}\ntwo: {<<: [{a: 0}, *base]}"
    assert contents(text) == [{"base": {"a": 1, "b": 2}, "one": {"a": 1, "b": 3}, "two": {"a": 0, "b": 2}}]


BOMB = "\n".join(
    ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", 'f: line 2: key "a" already set in map'),
        ("a: {b: 1", "f: line 2: did not find expected ',' or '}'"),
        ("a: b: c", "f: line 1: mapping values are not allowed in this context"),
        ("a: *x", "f: line 1: unknown anchor 'x' referenced"),
        ("? [a]\n: 1", "f: line 1: a key must be a string"),
        ("~: 1", "f: line 1: a key must not be null"),
        ("<<: 3", "f: line 1: map merge requires map or sequence of maps as the value"),
        ("a: !!binary aGk=", "f: line 1: the tag tag:yaml.org,2002:binary is not supported"),
        ("- " * 200 + "x", "f: line 1: nested more than 100 levels deep"),
        (BOMB, "f: line 6: the document has more than 200000 values"),
    ],
)
def test_bad_text_is_one_line_with_its_place(text, message):
    with pytest.raises(ConfigError) as caught:
        contents(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"a: \x00", "control characters are not allowed"),
        (b"[" * (MAX_BYTES + 1), "larger than"),
        (b"[" * MAX_BYTES, "nest"),
    ],
)
def test_junk_is_one_line(text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        read_documents(text, "f")
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=200))
def test_any_bytes_give_documents_or_one_line(data):
    message = ""
    try:
        documents = read_documents(data, "f")
    except ConfigError as error:
        message = str(error)
    else:
        assert all(document.content is not None for document in documents)
    assert len(message.splitlines()) <= 1
    assert not message or message.startswith("f: ")
