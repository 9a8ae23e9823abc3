"""The oracle's process: a line of JSON in, a line of JSON out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

Scenario = dict[str, Any]
Answer = dict[str, Any]


class OracleError(Exception):
    """The oracle could not play a scenario, or is gone."""


class Oracle:
    """One running oracle. Not thread-safe: an answer belongs to the scenario sent last."""

    def __init__(self, binary: Path) -> None:
        self._process = subprocess.Popen(
            [str(binary)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # A quarter of its time would go into collecting garbage, and as much into waking threads.
            env={"GOGC": "800", "GOMAXPROCS": "1", **os.environ},
        )
        self._decode = msgspec.json.Decoder().decode

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the process end and wait for it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.wait()

    def answer(self, scenario: Scenario) -> Answer:
        """Answer one scenario; OracleError carries the answer's ``error``."""
        return next(self.answers([scenario]))

    def answers(self, scenarios: Iterable[Scenario]) -> Iterator[Answer]:
        """Answer scenarios in order, one at a time."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise OracleError("the oracle has no pipes")
        for scenario in scenarios:
            stdin.write(msgspec.json.encode(scenario) + b"\n")
            stdin.flush()
            line = stdout.readline()
            if not line:
                raise OracleError(f"the oracle ended at scenario {scenario.get('id')!r}")
            answer = self._decode(line)
            if answer.get("error"):
                raise OracleError(f"scenario {scenario.get('id')!r}: {answer['error']}")
            yield answer
