"""``podium run`` as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live.objects import Api

_FLAGS = ("--leader-elect=false", "--secure-port=0", "--logging-format=json")


def podium_run(api: Api, *flags: str, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
    """Run until the process ends by itself."""
    return subprocess.run(
        _command(api, flags), capture_output=True, text=True, timeout=timeout, check=False, env=_env()
    )


def _command(api: Api, flags: tuple[str, ...]) -> list[str]:
    own = (
        ()
        if any(flag.startswith("--kubeconfig") for flag in flags)
        else (f"--kubeconfig={api.plane.kubeconfig()}",)
    )
    return [sys.executable, "-c", "from podium.cli import main; main()", "run", *own, *_FLAGS, *flags]


def _env() -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "1"}


class Running:
    """A process that goes on; its log lines are gathered."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def stop(self, number: int = signal.SIGTERM, timeout: float = 40.0) -> int:
        """Send a signal; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(timeout)
        self._reader.join(5)
        return status


@contextmanager
def podium_running(api: Api, *flags: str, log: Path | None = None) -> Iterator[Running]:
    """Run while the block does; the process is killed if it is still there at the end."""
    process = subprocess.Popen(
        _command(api, flags), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=_env()
    )
    running = Running(process)
    try:
        yield running
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
