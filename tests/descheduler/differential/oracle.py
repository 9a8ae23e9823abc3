"""The real descheduler as a process: a line of JSON in, a line of JSON out, in order."""

import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec


class Oracle:
    """One running oracle; it works on several questions at a time."""

    def __init__(self, binary: Path) -> None:
        self._process = subprocess.Popen([str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def answers(self, requests: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Answer requests in order; they are sent while answers are read."""
        asked = list(requests)
        sender = threading.Thread(target=self._send, args=(asked,), daemon=True)
        sender.start()
        assert self._process.stdout is not None
        for request in asked:
            line = self._process.stdout.readline()
            answer = msgspec.json.decode(line) if line else {"error": "the oracle is gone"}
            assert not answer.get("error"), f"scenario {request['id']}: {answer['error']}"
            yield answer
        sender.join()

    def _send(self, requests: list[dict[str, Any]]) -> None:
        assert self._process.stdin is not None
        for request in requests:
            self._process.stdin.write(msgspec.json.encode(request) + b"\n")
            self._process.stdin.flush()
