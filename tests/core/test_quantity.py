import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from podium._core import Quantity


@pytest.mark.parametrize(
    ("given_value", "text", "value", "milli"),
    [
        ("100m", "100m", 1, 100),
        ("1.5Gi", "1536Mi", 1610612736, 1610612736000),
        (3, "3", 3, 3000),
        (0.1, "100m", 1, 100),
        (1e6, "1M", 1_000_000, 1_000_000_000),
        ("1E", "1E", 10**18, 0),
        (Quantity("2"), "2", 2, 2000),
    ],
)
def test_reads_what_a_manifest_may_hold(given_value, text, value, milli):
    quantity = Quantity(given_value)
    assert (str(quantity), quantity.value(), quantity.milli_value()) == (text, value, milli)


@pytest.mark.parametrize("text", ["1GB", "", "1 Gi", "1K"])
def test_refuses_with_the_api_servers_text(text):
    with pytest.raises(ValueError, match=r"quantit"):
        Quantity(text)


@pytest.mark.parametrize("value", [True, None, [1], b"1"])
def test_refuses_what_is_no_number(value):
    with pytest.raises(TypeError, match="a quantity is a str, int or float"):
        Quantity(value)


def test_compares_as_a_number_whatever_the_notation():
    assert Quantity("1000m") == Quantity("1")
    assert hash(Quantity("1000m")) == hash(Quantity("1"))
    assert Quantity("1Ki") > Quantity("1k")
    assert sorted(map(Quantity, ["1k", "999", "1Ki"])) == [Quantity("999"), Quantity("1k"), Quantity("1Ki")]
    assert Quantity("1") != "1"


def test_adds_and_subtracts():
    assert str(Quantity("100m") + "900m") == "1"
    assert str(sum([Quantity("1Gi"), Quantity("1Gi")], Quantity("0"))) == "2Gi"
    assert str(Quantity("1") - Quantity("1500m")) == "-500m"
    assert str(2 - Quantity("1500m")) == "500m"
    assert (Quantity("5Ei") + Quantity("5Ei")).value() < 0
    assert not (Quantity("5Ei") + Quantity("5Ei")).fits(0)
    with pytest.raises(TypeError):
        _ = Quantity("1") + object()
    with pytest.raises(ValueError, match="quantit"):
        _ = Quantity("1") + "x"


def test_rounds_up_and_knows_integers():
    assert str(Quantity("33300u").round_up(-3)) == "34m"
    assert Quantity("2000m").is_integer()
    assert not Quantity("1500m").is_integer()
    assert Quantity("-1").sign() == -1
    assert not Quantity("0")
    assert float(Quantity("1500m")) == 1.5


@given(st.integers(min_value=-(2**80), max_value=2**80))
def test_any_integer_survives_pickle(number):
    quantity = Quantity(number)
    assert pickle.loads(pickle.dumps(quantity)) == quantity
    assert str(quantity) == str(Quantity(str(quantity)))
