"""Flags in Go's forms."""

from typing import Any

import click
import pytest
from podium.cli.flags import GoCommand, GoDuration, switch


@click.command(cls=GoCommand)
@click.argument("names", nargs=-1)
@switch("--fast", help="Hurry.")
@click.option("-o", "--output", default="table")
@click.option("--until", type=GoDuration())
def command(**values: Any) -> dict[str, Any]:
    return values


def parse(*arguments: str) -> dict[str, Any]:
    return command.main(arguments, standalone_mode=False)


@pytest.mark.parametrize(
    ("arguments", "fast"),
    [
        ([], False),
        (["--fast"], True),
        (["--fast=true"], True),
        (["--fast=false"], False),
        (["--fast=T"], True),
        (["--fast=0"], False),
        (["--fast", "--fast=false"], False),
    ],
)
def test_a_boolean_stands_alone_or_has_a_value(arguments, fast):
    assert parse(*arguments)["fast"] is fast


def test_a_boolean_that_stands_alone_leaves_the_next_argument():
    assert parse("--fast", "false", "pod")["names"] == ("false", "pod")


def test_nothing_behind_two_dashes_is_a_flag():
    values = parse("--", "--fast", "-o=json")
    assert values["names"] == ("--fast", "-o=json")
    assert values["fast"] is False


@pytest.mark.parametrize(
    "form", [["-o", "json"], ["-o=json"], ["-ojson"], ["--output=json"], ["--output", "json"]]
)
def test_a_short_flag_takes_its_value_in_every_form(form):
    assert parse(*form)["output"] == "json"


@pytest.mark.parametrize(
    ("text", "nanoseconds"), [("0s", 0), ("1m30s", 90_000_000_000), ("2.5ms", 2_500_000)]
)
def test_durations_are_gos(text, nanoseconds):
    assert parse("--until", text)["until"] == nanoseconds


def test_a_bad_boolean_is_bad_usage():
    with pytest.raises(click.UsageError, match="neither true nor false"):
        parse("--fast=perhaps")
