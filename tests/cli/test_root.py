"""The command as a whole: help, errors as one line, exit statuses, what start-up loads."""

import signal
import subprocess
import sys

import pytest
from podium.cli.root import COMMANDS

from tests.command import podium


def test_help_lists_every_command_with_what_it_does():
    answer = podium("--help")
    assert answer.status == 0
    for name, (_, text) in COMMANDS.items():
        assert f"  {name} " in answer.out
        assert text.split()[0] in answer.out


def test_help_imports_nothing_that_takes_long():
    program = (
        "import sys\nfrom podium.cli.root import run\nrun(['--help'])\n"
        "heavy = {'numpy', 'polars', 'rich', 'yaml', 'podium.api', 'podium.scheduler'} & sys.modules.keys()\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples_or_in_words(name):
    answer = podium(name, "--help")
    assert answer.status == 0
    assert f"Usage: podium {name}" in answer.out
    assert "--output" in answer.out


def test_no_command_shows_the_help_and_is_bad_usage():
    answer = podium()
    assert answer.status == 2
    assert "Commands:" in answer.out


def test_version():
    from podium import __version__

    assert podium("--version").out == f"podium {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["fly"], "No such command 'fly'"),
        (["simulate", "--fly"], "No such option"),
        (["simulate", "--seed", "x"], "'x' is not a valid integer"),
        (["simulate", "--until", "soon"], 'invalid duration "soon"'),
        (["simulate", "--until=-1s"], "is negative"),
        (["simulate", "-o", "xml"], "'xml' is not one of"),
        (["simulate", "extra"], "unexpected extra argument"),
        (["explain"], "-f is needed"),
        (["check"], "nothing to check"),
        (["bench", "--nodes", "0"], "0 is not in the range"),
        (["bench", "--scenario", "nothing"], "there are basic, hetero"),
        (["simulate", "--arrivals", "times"], "'times' is not"),
        (["simulate", "--queue-order", "fair"], "'fair' is not"),
        (["simulate", "--feature-gates", "Nothing=true"], "unrecognized feature gate: Nothing"),
        (["simulate", "--cronjobs=perhaps"], "neither true nor false"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(arguments, text):
    answer = podium(*arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert text in answer.err
    assert answer.err.count("\n") == 1
    assert answer.err.startswith("podium: ")


def test_a_reader_that_leaves_early_is_no_error():
    program = "from podium.cli import main\nmain(['plugins', '-o', 'json'])\n"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == -signal.SIGPIPE


def test_a_closed_output_is_no_error():
    program = "from podium.cli import main\nmain(['plugins', '-o', 'json'])\n"
    command = f"exec '{sys.executable}' -c \"$0\" >&-"
    done = subprocess.run(["sh", "-c", command, program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_connection_that_was_closed_does_not_end_the_process():
    program = """
import socket, sys
from podium.cli import root
from podium.errors import PodiumError

def broken(_arguments):
    ours, theirs = socket.socketpair()
    theirs.close()
    try:
        ours.send(b"x")
    except BrokenPipeError:
        print("heard of it")
    return 0

root.run = broken
root.main([])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard of it\n", "")
