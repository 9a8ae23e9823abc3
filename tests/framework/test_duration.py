import pytest
from hypothesis import given
from hypothesis import strategies as st
from podium.framework.duration import Duration

# Values and spellings: time.ParseDuration and Duration.String of Go.
PAIRS = [
    ("0", 0, "0s"),
    ("5s", 5_000_000_000, "5s"),
    ("-5.6s", -5_600_000_000, "-5.6s"),
    ("1478s", 1_478_000_000_000, "24m38s"),
    (".5s", 500_000_000, "500ms"),
    ("5.s", 5_000_000_000, "5s"),
    ("10ns", 10, "10ns"),
    ("1.1us", 1_100, "1.1µs"),
    ("14ms", 14_000_000, "14ms"),
    ("3h30m", 12_600_000_000_000, "3h30m0s"),
    ("39h9m14.425s", 140_954_425_000_000, "39h9m14.425s"),
    ("600s", 600_000_000_000, "10m0s"),
    ("+60s", 60_000_000_000, "1m0s"),
    ("9223372036854775807ns", 2**63 - 1, "2562047h47m16.854775807s"),
]


@pytest.mark.parametrize(("text", "nanoseconds", "canonical"), PAIRS)
def test_reads_and_prints_like_go(text, nanoseconds, canonical):
    duration = Duration.parse(text)
    assert duration.nanoseconds == nanoseconds
    assert str(duration) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("3", 'time: missing unit in duration "3"'),
        ("-", 'time: invalid duration "-"'),
        ("s", 'time: invalid duration "s"'),
        (".s", 'time: invalid duration ".s"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("1s2", 'time: missing unit in duration "1s2"'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
    ],
)
def test_refuses_what_go_refuses(text, message):
    with pytest.raises(ValueError, match="time: ") as caught:
        Duration.parse(text)
    assert str(caught.value) == message


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_printing_and_reading_are_inverse(nanoseconds):
    assert Duration.parse(str(Duration(nanoseconds))) == Duration(nanoseconds)


def test_orders_and_hashes_by_length():
    assert Duration(1) < Duration(2) <= Duration(2)
    assert {Duration(1), Duration(1)} == {Duration(1)}
    assert Duration(1) != 1
    assert Duration.from_seconds(0.05).seconds == 0.05
