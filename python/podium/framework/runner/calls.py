"""Calls one method of one plugin: times it, and turns whatever comes back, or is raised, into a status."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import cache
from typing import Any

from podium.errors import PluginError
from podium.framework.status import SUCCESS, Code, Status

#: Told about every call: the ``extension_point`` label, the plugin, the code of its answer, and seconds.
Observer = Callable[[str, str, Code, float], None]

log = logging.getLogger("podium.framework")


@dataclass(frozen=True, slots=True)
class Calls:
    """How plugins are called: with whose clock, and who is told. Nothing is timed without an observer."""

    observer: Observer | None = None
    timer: Callable[[], float] | None = None

    def run(
        self, point: str, plugin: str, body: Callable[..., Any], code: Callable[[Any], Code], *args: Any
    ) -> Any:
        """Run ``body(*args)``; return its answer, or a ``Failure`` if it raised. ``code`` reads its code."""
        started = self._now()
        try:
            answer = body(*args)
        except Exception as error:  # noqa: BLE001 (whatever a plugin raises ends the attempt, not the scheduler)
            return self._failed(point, plugin, error, started)
        if self.observer is not None:
            self._tell(point, plugin, code(answer), started)
        return answer

    def status(self, point: str, plugin: str, method: Callable[..., Any], *args: Any) -> Status:
        """Run a method that answers with a status or None."""
        started = self._now()
        try:
            answer = method(*args)
            status = succeeded(plugin) if answer is None else as_status(answer).by(plugin)
        except Exception as error:  # noqa: BLE001 (see run)
            return self._failed(point, plugin, error, started).status
        self._tell(point, plugin, status.code, started)
        return status

    def start(
        self, point: str, plugin: str, method: Callable[..., Any], *args: Any
    ) -> Status | Coroutine[Any, Any, Status]:
        """Run a method that may be ``async def``: return its status, or a coroutine that gives it."""
        started = self._now()
        try:
            answer = method(*args)
            if answer is None or isinstance(answer, Status) or not inspect.isawaitable(answer):
                status = succeeded(plugin) if answer is None else as_status(answer).by(plugin)
                self._tell(point, plugin, status.code, started)
                return status
        except Exception as error:  # noqa: BLE001 (see run)
            return self._failed(point, plugin, error, started).status
        return self._finish(point, plugin, answer, started)

    async def _finish(self, point: str, plugin: str, answer: Awaitable[Any], started: float) -> Status:
        try:
            status = as_status(await answer).by(plugin)
        except Exception as error:  # noqa: BLE001 (see run)
            return self._failed(point, plugin, error, started).status
        self._tell(point, plugin, status.code, started)
        return status

    def _now(self) -> float:
        return self.timer() if self.timer is not None else 0.0

    def _tell(self, point: str, plugin: str, code: Code, started: float) -> None:
        if self.observer is not None:
            self.observer(point, plugin, code, self._now() - started)

    def _failed(self, point: str, plugin: str, error: Exception, started: float) -> "Failure":
        self._tell(point, plugin, Code.ERROR, started)
        log.error("plugin %s failed at %s", plugin, point, exc_info=error)
        return Failure(Status.error(error).by(plugin))


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer of a method that raised."""

    status: Status


@cache
def succeeded(plugin: str) -> Status:
    """Return what None stands for."""
    return SUCCESS.by(plugin)


def as_status(answer: Any) -> Status:
    """Read a status; None is success, anything else is refused."""
    if answer is None:
        return SUCCESS
    if isinstance(answer, Status):
        return answer
    raise PluginError(f"returned {type(answer).__name__}, expected a Status or None")


def explain(status: Status) -> str:
    """Return the text of an error: the reasons, and the kind of an exception that is not ours."""
    if status.code is not Code.ERROR and not status.is_rejected:
        return f"returned {status.code}, which is not supported here"
    cause = status.cause
    if cause is None or isinstance(cause, PluginError):
        return status.message
    text = " ".join(status.message.split())
    return f"{type(cause).__name__}: {text}" if text else type(cause).__name__


def error(text: str, status: Status) -> Status:
    """Turn an unusable status into an error whose message is ``text`` and the explanation."""
    failure = PluginError(f"{text}: {explain(status)}")
    failure.__cause__ = status.cause
    return Status.error(failure).by(status.plugin)
