"""Flags as kube-scheduler and kubectl users type them: ``--flag=false``, ``--flag`` alone, ``-o=json``."""

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_SHORT_WITH_EQUALS = re.compile(r"-[a-zA-Z]=")


class GoCommand(click.Command):
    """A command whose boolean flags take ``=true`` or ``=false`` and never the argument that follows."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Bring Go's forms into click's."""
        switches = {name for param in self.params for name in param.opts if _is_switch(param)}
        ready: list[str] = []
        for index, arg in enumerate(args):
            if arg == "--":
                ready += args[index:]
                break
            if arg in switches:
                ready.append(f"{arg}=true")
            elif _SHORT_WITH_EQUALS.match(arg):
                ready += [arg[:2], arg[3:]]
            else:
                ready.append(arg)
        return super().parse_args(ctx, ready)


def _is_switch(param: click.Parameter) -> bool:
    return isinstance(param.type, GoBool)


class GoBool(click.ParamType):  # type: ignore[type-arg]  # generic only in the newest click
    """What Go's ``strconv.ParseBool`` reads."""

    name = "bool"
    _WORDS: Final = {
        **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
        **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
    }

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        """Read one value."""
        if isinstance(value, bool):
            return value
        if value not in self._WORDS:
            self.fail(f"{value!r} is neither true nor false", param, ctx)
        return self._WORDS[value]


class Switch(click.Option):
    """A boolean flag."""

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002 (click's form)
        """Show that a value is possible but not needed."""
        return "[=BOOL]"


class GoDuration(click.ParamType):  # type: ignore[type-arg]  # as above
    """A duration in Go's notation; the value is whole nanoseconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read one value."""
        from podium.framework.duration import Duration

        if isinstance(value, int):
            return value
        try:
            nanoseconds = Duration.parse(value).nanoseconds
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if nanoseconds < 0:
            self.fail(f"{value} is negative", param, ctx)
        return nanoseconds


def switch(*names: str, help: str) -> Callable[[F], F]:  # noqa: A002 (click's own word)
    """Return a decorator that adds a boolean flag."""
    return click.option(*names, cls=Switch, type=GoBool(), default=False, help=help)


#: The modes of the descheduler, wherever it runs.
MODES: Final = click.Choice(["compat", "guarded"])

OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What to print; JSON has standard output for itself.",
)
