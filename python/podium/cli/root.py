"""The entry point: the table of subcommands, and what every error becomes: one line and an exit status."""

import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from podium.cli.flags import GoCommand
from podium.errors import PodiumError

if TYPE_CHECKING:
    from typing_extensions import Buffer

#: name -> (module that has ``command``, one line of help). Importing a module costs time, so only the one
#: that runs is imported.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "simulate": ("podium.cli.simulate", "Schedule everything pending on an in-memory cluster."),
    "explain": ("podium.cli.explain", "Say for each pending pod which nodes it could go to, and why."),
    "run": (
        "podium.cli.run",
        "Schedule the pods of a live cluster, in place of kube-scheduler or beside it.",
    ),
    "dump": ("podium.cli.dump", "Write a live cluster as manifests."),
    "deploy": ("podium.cli.deploy", "Print the manifests that install the live scheduler."),
    "deschedule": ("podium.cli.deschedule", "Evict pods so that the scheduler may place them better."),
    "check": ("podium.cli.check", "Say what the API server would refuse of manifests and configuration."),
    "bench": ("podium.cli.bench", "Measure the whole scheduling loop on a generated workload."),
    "plugins": ("podium.cli.plugins", "List the installed plugins and their extension points."),
}

DONE, NO, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

_HELP = """\
A Kubernetes scheduler, with or without the cluster.

Podium decides as kube-scheduler v1.37 decides, on an in-memory cluster or a live one, and says why.

\b
  podium simulate                          watch a bundled sample being scheduled
  podium simulate -f cluster/ -f app.yaml  your own manifests: what goes where, what stays pending
  podium explain -f cluster/ web-0         why this pod is pending, node by node
  podium check -f app.yaml                 what the API server would refuse
  podium bench                             pods per second on this machine

PODIUM COMMAND --help has every flag, with examples.
"""


class _Lazy(click.Group):
    """Imports a subcommand when it is run, and lists all from the table without importing any."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: GoCommand = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:  # noqa: FBT001 (click's form)
    if value:
        from podium._core import __version__

        click.echo(f"podium {__version__}")
        ctx.exit(DONE)


@click.command(
    cls=_Lazy, help=_HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def root() -> None:
    """Group the subcommands."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the answer is no, 2 bad usage or unreadable input."""
    # Python has none where the shell closed it (`>&-`).
    out = sys.stdout
    if out is None:
        out = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (the output until the process ends)
    raw = io.BufferedWriter(_Pipe(out.fileno(), "wb", closefd=False))
    sys.stdout = io.TextIOWrapper(raw, out.encoding, out.errors, line_buffering=raw.isatty())
    sys.exit(run(arguments))


class _Pipe(io.FileIO):
    """Standard output. Whoever reads it may leave early (`| head`): then end as other tools do, wordlessly.

    Only this file: a server that closes its connection must not end the process, so the signal stays ignored.
    """

    def write(self, data: "Buffer") -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.raise_signal(signal.SIGPIPE)
            raise


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. Errors are one line on standard error."""
    try:
        status = root.main(arguments, prog_name="podium", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        return BAD_INPUT
    except click.ClickException as error:
        return _fail(_usage(error))
    except PodiumError as error:
        return _fail(str(error))
    except (click.Abort, KeyboardInterrupt):
        _say("podium: interrupted")
        return INTERRUPTED
    return status if isinstance(status, int) else DONE


def _usage(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    hint = f" (see {ctx.command_path} --help)" if ctx is not None else ""
    return f"{error.format_message().rstrip('.')}{hint}"


def _fail(message: str) -> int:
    _say("podium: " + " ".join(message.split()))
    return BAD_INPUT


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
