import pytest
from podium.api import LabelSelector, LabelSelectorRequirement
from podium.api.matching import selects
from podium.descheduler.policy.selector import parse_selector, selector_problem
from podium.errors import InputError


@pytest.mark.parametrize(
    ("text", "labels", "answer"),
    [
        ("", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a", {"a": ""}, True),
        ("!a", {"a": ""}, False),
        ("a in (b, c),d", {"a": "c", "d": "x"}, True),
        ("a notin (b)", {"a": "b"}, False),
        ("a in ()", {"a": ""}, True),
        ("n > 3", {"n": "4"}, True),
        ("n<3", {"n": "3"}, False),
        ("in=in", {"in": "in"}, True),
    ],
)
def test_matches(text, labels, answer):
    assert selects(parse_selector(text), labels) is answer


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a,", "found '', expected: identifier after ','"),
        ("=b", "found '=', expected: !, identifier, or 'end of string'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("n > x", "values[0]: Invalid value"),
    ],
)
def test_problems(text, problem):
    with pytest.raises(InputError) as error:
        parse_selector(text)
    assert problem in str(error.value)


def requirement(operator, *values):
    return LabelSelector(
        match_expressions=[LabelSelectorRequirement(key="a", operator=operator, values=values)]
    )


@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        (requirement("In", "b"), None),
        (requirement("Within", "b"), '"Within" is not a valid label selector operator'),
        (
            requirement("In"),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            requirement("Exists", "b"),
            'values: Invalid value: ["b"]: values set must be empty for exists and does not exist',
        ),
    ],
)
def test_problems_of_arguments(selector, problem):
    assert selector_problem(selector) == problem
