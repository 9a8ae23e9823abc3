"""What a plugin answers: a code that says what happens next, and the reasons.

Codes, their order and the message rule are those of ``k8s.io/kube-scheduler/framework`` (``interface.go``).
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Self


class Code(IntEnum):
    """A status code, documented by its consequence."""

    SUCCESS = 0
    """Go on. Returning ``None`` means the same."""

    ERROR = 1
    """Unexpected. The cycle ends, no plugin is blamed, and the pod is retried after its backoff without
    waiting for an event. From Filter on any one node it ends the whole cycle."""

    UNSCHEDULABLE = 2
    """Rejected, and removing other pods may help. PreFilter: the remaining plugins still run, then every node
    is out. Filter: the node is out, preemption may consider it. PostFilter: nothing done, the next plugin
    runs. Reserve, Permit, PreBind, Bind: the pod is rolled back. The pod waits for an event that its plugins
    registered, then for its backoff."""

    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    """Rejected, and removing other pods cannot help. PreFilter: stop at once, every node is out. Filter: the
    node is out for preemption too. PostFilter: stop."""

    WAIT = 4
    """Permit only: hold the pod, once the remaining Permit plugins ran and none rejected it."""

    SKIP = 5
    """PreFilter: the plugin's Filter, add_pod and remove_pod are not called this cycle. PreScore: its Score
    is not called and the plugin has no score. Bind: the next binder is asked. Pre-flight: its PreBind is not
    called."""

    PENDING = 6
    """Rejected, but the attempt was useful (something was set in motion). When a hint of this plugin says so
    the pod returns at once, without backoff."""

    def __str__(self) -> str:
        return _NAMES[self]

    @property
    def is_rejected(self) -> bool:
        """Whether the pod was judged unschedulable, as opposed to an error or a success."""
        return self in _REJECTED


_NAMES: Final = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}
_REJECTED: Final = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})


@dataclass(frozen=True, slots=True)
class Status:
    """A code with its reasons; ``plugin`` is filled in by the framework.

    ``cause`` is the exception behind an ERROR; ``timeout`` is how many seconds a WAIT may last.
    """

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    cause: BaseException | None = None
    timeout: float | None = None

    @classmethod
    def success(cls) -> Self:
        """Go on."""
        return cls()

    @classmethod
    def error(cls, cause: BaseException | str) -> Self:
        """Something unexpected happened."""
        if isinstance(cause, BaseException):
            return cls(Code.ERROR, cause=cause)
        return cls(Code.ERROR, (cause,))

    @classmethod
    def unschedulable(cls, *reasons: str) -> Self:
        """Reject; removing other pods may help."""
        return cls(Code.UNSCHEDULABLE, reasons)

    @classmethod
    def unresolvable(cls, *reasons: str) -> Self:
        """Reject; removing other pods cannot help."""
        return cls(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)

    @classmethod
    def wait(cls, timeout: float, *reasons: str) -> Self:
        """Hold the pod in Permit for at most ``timeout`` seconds, then reject it."""
        return cls(Code.WAIT, reasons, timeout=timeout)

    @classmethod
    def skip(cls) -> Self:
        """Say that the plugin has nothing to do with the pod."""
        return cls(Code.SKIP)

    @classmethod
    def pending(cls, *reasons: str) -> Self:
        """Reject, but bring the pod back without backoff."""
        return cls(Code.PENDING, reasons)

    @property
    def is_success(self) -> bool:
        """Whether the code is SUCCESS."""
        return self.code is Code.SUCCESS

    @property
    def is_rejected(self) -> bool:
        """Whether the code is one of the rejections."""
        return self.code in _REJECTED

    @property
    def message(self) -> str:
        """The cause, if any, and the reasons, joined with commas."""
        reasons = self.reasons if self.cause is None else (str(self.cause), *self.reasons)
        return ", ".join(reasons)

    def by(self, plugin: str) -> Self:
        """Return this status, attributed to a plugin."""
        if self.plugin == plugin:
            return self
        return type(self)(self.code, self.reasons, plugin, self.cause, self.timeout)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else str(self.code)


#: The status that ``None`` stands for.
SUCCESS: Final = Status()
