"""The command line, called in this process: what tests of whole commands share."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest import mock

import msgspec
from podium.cli.root import run


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)


def podium(*arguments: object, stdin: str | bytes = b"") -> Answer:
    """Run ``podium`` with arguments; output is captured, errors that escape fail the test."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(given))
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", source):
        status = run([str(argument) for argument in arguments])
    return Answer(status, out.getvalue(), err.getvalue())


def ask(*arguments: object, stdin: str | bytes = b"") -> Any:
    """Run ``podium … -o json`` and return the answer; any status but 0 fails the test."""
    answer = podium(*arguments, "-o", "json", stdin=stdin)
    assert answer.status == 0, answer.err
    return answer.json
