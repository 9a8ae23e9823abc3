"""Calls one method of one plugin: times it, and turns whatever comes back, or is raised, into a status."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from podium.errors import PluginError
from podium.framework.status import SUCCESS, Code, Status

#: Told about every call: the ``extension_point`` label, the plugin, the code of its answer, and seconds.
Observer = Callable[[str, str, Code, float], None]

log = logging.getLogger("podium.framework")


class Calls:
    """How plugins are called where nobody looks on."""

    __slots__ = ()

    @staticmethod
    def of(observer: Observer | None, timer: Callable[[], float] | None) -> "Calls":
        """Return how to call plugins so that ``observer`` is told, by the clock of ``timer``."""
        return Calls() if observer is None or timer is None else TimedCalls(observer, timer)

    def run(
        self, point: str, plugin: str, body: Callable[..., Any], code: Callable[[Any], Code], *args: Any
    ) -> Any:
        """Run ``body(*args)``; return its answer, or a ``Failure`` if it raised. ``code`` reads its code."""
        del code
        try:
            return body(*args)
        except Exception as error:  # noqa: BLE001 (whatever a plugin raises ends the attempt, not the scheduler)
            return failed(point, plugin, error)

    def status(self, point: str, plugin: str, method: Callable[..., Any], *args: Any) -> Status:
        """Run a method that answers with a status or None."""
        try:
            answer = method(*args)
            return SUCCESS if answer is None else as_status(answer).by(plugin)
        except Exception as error:  # noqa: BLE001 (see run)
            return failed(point, plugin, error).status

    def start(
        self, point: str, plugin: str, method: Callable[..., Any], *args: Any
    ) -> Status | Coroutine[Any, Any, Status]:
        """Run a method that may be ``async def``: return its status, or a coroutine that gives it."""
        try:
            answer = method(*args)
            if answer is None:
                return SUCCESS
            if isinstance(answer, Status) or not inspect.isawaitable(answer):
                return as_status(answer).by(plugin)
        except Exception as error:  # noqa: BLE001 (see run)
            return failed(point, plugin, error).status
        return self._finish(point, plugin, answer)

    async def _finish(self, point: str, plugin: str, answer: Awaitable[Any]) -> Status:
        try:
            return as_status(await answer).by(plugin)
        except Exception as error:  # noqa: BLE001 (see run)
            return failed(point, plugin, error).status


class TimedCalls(Calls):
    """The same, and an observer is told of every call."""

    __slots__ = ("_observer", "_timer")

    def __init__(self, observer: Observer, timer: Callable[[], float]) -> None:
        self._observer = observer
        self._timer = timer

    def run(
        self, point: str, plugin: str, body: Callable[..., Any], code: Callable[[Any], Code], *args: Any
    ) -> Any:
        """See ``Calls``."""
        started = self._timer()
        answer = Calls.run(self, point, plugin, body, code, *args)
        seen = Code.ERROR if isinstance(answer, Failure) else code(answer)
        self._observer(point, plugin, seen, self._timer() - started)
        return answer

    def status(self, point: str, plugin: str, method: Callable[..., Any], *args: Any) -> Status:
        """See ``Calls``."""
        started = self._timer()
        status = Calls.status(self, point, plugin, method, *args)
        self._observer(point, plugin, status.code, self._timer() - started)
        return status

    def start(
        self, point: str, plugin: str, method: Callable[..., Any], *args: Any
    ) -> Status | Coroutine[Any, Any, Status]:
        """See ``Calls``; what a coroutine awaits is part of its time."""
        started = self._timer()
        status = Calls.start(self, point, plugin, method, *args)
        if not isinstance(status, Status):
            return self._timed(point, plugin, status, started)
        self._observer(point, plugin, status.code, self._timer() - started)
        return status

    async def _timed(
        self, point: str, plugin: str, begun: Coroutine[Any, Any, Status], started: float
    ) -> Status:
        status = await begun
        self._observer(point, plugin, status.code, self._timer() - started)
        return status


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer of a method that raised."""

    status: Status


def failed(point: str, plugin: str, error: Exception) -> Failure:
    """Report what a plugin raised."""
    log.error("plugin %s failed at %s", plugin, point, exc_info=error)
    return Failure(Status.error(error).by(plugin))


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
