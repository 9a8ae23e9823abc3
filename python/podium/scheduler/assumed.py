"""One pod on its way from a node found to a binding, and the book of all that are on it."""

from enum import Enum
from typing import Final

from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.framework.status import Status
from podium.scheduler.entry import Entry

DEFAULT_BINDER: Final = "DefaultBinder"


class Phase(Enum):
    """How far a pod has come."""

    ASSUMED = "Assumed"
    """It has a node in the snapshot; the scheduling cycle is not over."""
    WAITING = "Waiting"
    PRE_BINDING = "PreBinding"
    BINDING = "Binding"


class Assumed:
    """One pod on its way from a node found to a binding."""

    __slots__ = (
        "binders",
        "calls",
        "entry",
        "epoch",
        "groups",
        "node",
        "phase",
        "refusal",
        "runner",
        "state",
    )

    def __init__(
        self, entry: Entry, node: str, runner: Runner | None = None, state: CycleState | None = None
    ) -> None:
        self.entry = entry
        self.epoch = entry.epoch
        self.node = node
        self.runner = runner
        self.state = state if state is not None else CycleState(concerned=frozenset())
        self.phase = Phase.ASSUMED
        self.groups: list[list[str]] = []
        """PreBind plugins to call, group after group."""
        self.binders = [DEFAULT_BINDER]
        """Bind plugins to ask, one after the other, until one does not skip."""
        self.calls: set[str] = set()
        """Plugins whose answers are awaited."""
        self.refusal: Status | None = None
        """The first bad answer; the others of its group are awaited before the pod is rolled back."""


class Underway:
    """All pods that have a node and are not bound yet."""

    def __init__(self) -> None:
        self._assumed: dict[str, Assumed] = {}
        """Those with a machine, by uid."""
        self._plain: set[str] = set()
        """Those that go the short way."""
        self._busy = 0
        """How many machines do not wait in Permit."""

    @property
    def in_flight(self) -> int:
        """How many pods are being bound; those that wait in Permit do not count."""
        return len(self._plain) + self._busy

    def of(self, uid: str) -> Assumed | None:
        """Return the machine of a pod, None if it has none or goes the short way."""
        return self._assumed.get(uid)

    def holds(self, uid: str) -> bool:
        """Whether a pod has a node here and is not bound yet."""
        return uid in self._plain or uid in self._assumed

    def _enter(self, assumed: Assumed, phase: Phase) -> Assumed:
        self._assumed[assumed.entry.pod.metadata.uid] = assumed
        assumed.phase = phase
        self._busy += phase is not Phase.WAITING
        return assumed

    def _leave(self, assumed: Assumed) -> None:
        uid = assumed.entry.pod.metadata.uid
        self._plain.discard(uid)
        if self._assumed.pop(uid, None) is assumed:
            self._busy -= assumed.phase is not Phase.WAITING
