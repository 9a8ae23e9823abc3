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
        self.out = ""
        """Standard output, after ``stop``."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Make sure that the process is gone, and everything it wrote is in the log."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(5)
        assert self.process.stderr is not None
        assert self.process.stdout is not None
        self.process.stderr.close()
        self.process.stdout.close()

    def stop(self, number: int = signal.SIGTERM, timeout: float = 40.0) -> int:
        """Send a signal; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(timeout)
        self._reader.join(5)
        assert self.process.stdout is not None
        self.out = self.out or self.process.stdout.read()
        return status


@contextmanager
def podium_running(api: Api, *flags: str, log: Path | None = None) -> Iterator[Running]:
    """Run while the block does; the process is killed if it is still there at the end."""
    process = subprocess.Popen(
        _command(api, flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_env()
    )
    running = Running(process)
    try:
        yield running
    finally:
        running.close()
