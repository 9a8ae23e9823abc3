from typing import Any

import msgspec
import pytest
from podium.framework.config.decode import Int32, decode, encode
from podium.framework.config.problems import Problems
from podium.framework.duration import Duration


class Inner(msgspec.Struct, frozen=True, rename="camel"):
    max_size: Int32 = 3
    name: str | None = None


class Outer(msgspec.Struct, frozen=True, rename="camel"):
    items: tuple[Inner, ...] = ()
    by_name: dict[str, float] = {}
    nested: dict[str, Inner] = {}
    wait: Duration = Duration(5)
    raw: Any = None


class Needy(msgspec.Struct, rename="camel"):
    must_have: int


def read(raw, kind=Outer, path="profiles[0].args"):
    problems = Problems()
    return decode(raw, kind, path, problems), problems.found


def test_reads_values_and_defaults():
    value, found = read(
        {"items": [{"maxSize": 1}, {}], "byName": {"a": 1}, "wait": "1m", "raw": {"x": [None]}}
    )
    assert found == []
    assert value == Outer((Inner(1), Inner()), {"a": 1.0}, {}, Duration.parse("60s"), {"x": [None]})


def test_null_is_absent():
    value, found = read({"items": [None, {"maxSize": None}], "wait": None})
    assert found == []
    assert value == Outer((Inner(), Inner()))
    assert read(None)[0] == Outer()


def test_every_unknown_field_is_named():
    value, found = read({"itmes": [], "items": [{"maxsize": 1}], "nested": {"k": {"a": 1}}})
    assert value is None
    assert found == [
        "profiles[0].args.itmes: unknown field",
        "profiles[0].args.items[0].maxsize: unknown field",
        "profiles[0].args.nested.k.a: unknown field",
    ]


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"items": {}}, "items: expected a list, got a map"),
        ({"items": [{"maxSize": "1"}]}, "items[0].maxSize: expected an integer, got a string"),
        ({"items": [{"maxSize": 1.5}]}, "items[0].maxSize: expected an integer, got a number"),
        ({"items": [{"maxSize": 2**31}]}, "items[0].maxSize: expected an integer <= 2147483647"),
        ({"items": [{"name": 1}]}, "items[0].name: expected a string, got an integer"),
        ({"byName": {"a": 1, "b": "x"}}, "byName.b: expected a number, got a string"),
        (
            {"nested": {"a": {}, "b": {"maxSize": True}}},
            "nested[...].maxSize: expected an integer, got a boolean",
        ),
        ({"wait": 5}, "wait: expected a duration such as 10s, got an integer"),
        ({"wait": "5"}, 'wait: time: missing unit in duration "5"'),
    ],
)
def test_wrong_types_are_named_with_their_path(raw, problem):
    value, found = read(raw)
    assert value is None
    assert found == [f"profiles[0].args.{problem}"]


def test_top_level_paths_have_no_prefix():
    assert read({"wait": 1}, path="")[1] == ["wait: expected a duration such as 10s, got an integer"]
    assert read([], path="args")[1] == ["args: expected a map, got a list"]


def test_missing_required_field():
    assert read({}, Needy)[1] == ["profiles[0].args.mustHave: Required value"]


def test_encode_is_the_inverse_without_absent_fields():
    value = Outer((Inner(1, "x"),), {"a": 0.5}, {}, Duration.parse("90s"))
    plain = encode(value)
    assert plain == {
        "items": [{"maxSize": 1, "name": "x"}],
        "byName": {"a": 0.5},
        "nested": {},
        "wait": "1m30s",
    }
    assert read(plain)[0] == value
