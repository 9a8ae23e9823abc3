"""Who may enter the queue: PreEnqueue. Pods that may not are in the core's gated pool until they may.

They are held by their own scheduling gates, or by a Python plugin. A plugin is asked again about those that
it holds when an event comes that it registered, when the pod changes, when somebody wants it activated, and
after a long time without any of these.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol

from podium._core import Engine
from podium.api import Pod
from podium.framework.config import SchedulerConfig
from podium.framework.status import SUCCESS
from podium.scheduler.entry import Concern, Entry, Held

if TYPE_CHECKING:
    from podium.scheduler.profiles import Profiles

#: What to make of most pods.
_CONCERN: Final = Concern()
_FOREIGN: Final = Concern(foreign=True)

#: The object before and after an event, None where there is none.
Change = tuple[Any, Any]


class HintsOfGates(Protocol):
    """Asks the hints of Python plugins about single pods."""

    def help(self, plugin: str, pod: Pod, event: int, change: Change) -> bool:
        """Whether an event, given as bits, may help a pod that a plugin holds."""


class Gates:
    """All pods in the gated pool, and what to make of those that come."""

    def __init__(self, engine: Engine, config: SchedulerConfig) -> None:
        self._engine = engine
        self._responsible = frozenset(profile.scheduler_name for profile in config.profiles)
        self._profiles: Profiles | None = None
        self.registered: dict[str, int] = {}
        """The events, as bits, that Python plugins wait for."""
        self.hints: HintsOfGates | None = None
        self.passed: Callable[[Entry, int], None] | None = None
        """Hears of each pod that is no longer held; it is still in the gated pool."""
        self.held: dict[str, Held] = {}
        """By uid."""
        self._asked: dict[str, int] = {}
        """When the plugin that holds a pod was asked last, by uid: the longest ago comes first."""

    def attend(self, profiles: "Profiles") -> None:
        """Ask the plugins of these profiles from now on."""
        self._profiles = profiles

    def concern(self, pod: Pod) -> Concern:
        """Return what to make of a pod."""
        if pod.spec.scheduler_name not in self._responsible:
            return _FOREIGN
        if pod.spec.scheduling_gates:
            gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
            return Concern(held=f"waiting for scheduling gates: [{gates}]")
        assert self._profiles is not None, "pods come when all parts are there"
        plugins = self._profiles.of(pod)
        if plugins is None or not plugins.gates:
            return _CONCERN
        concerned = self._profiles.class_of(plugins, pod).concerned
        before = self.held.get(pod.metadata.uid) if self.held else None
        status = plugins.runner.pre_enqueue(pod, concerned, "" if before is None else before.by)
        if status is SUCCESS or status.is_success:
            return _CONCERN
        return Concern(held=status.message, by=status.plugin)

    def note(self, entry: Entry, concern: Concern, now: int) -> None:
        """Keep in mind who holds a pod that has just come to the gated pool, or is there still."""
        uid = entry.pod.metadata.uid
        self.held[uid] = Held(entry, concern.held, concern.by)
        self._asked.pop(uid, None)
        if concern.by:
            entry.message = concern.held
            self._asked[uid] = now

    def hold(self, entry: Entry, concern: Concern, now: int) -> None:
        """Move a pod of the queue to the gated pool."""
        self._engine.hold(entry.handle)
        self.note(entry, concern, now)

    def forget(self, uid: str) -> None:
        """Let go of a pod that is bound or gone."""
        if self.held.pop(uid, None) is not None:
            self._asked.pop(uid, None)

    def ask(self, entry: Entry, now: int) -> bool:
        """Ask again about a pod that is held; returns whether it goes on."""
        concern = self.concern(entry.pod)
        if concern.held:
            self.note(entry, concern, now)
            return False
        self.forget(entry.pod.metadata.uid)
        assert self.passed is not None, "pods come when all parts are there"
        self.passed(entry, now)
        return True

    def awaits(self, event: int) -> bool:
        """Whether plugins that hold pods wait for such an event."""
        return bool(self._asked) and any(events & event for events in self.registered.values())

    def happened(self, event: int, change: Change, now: int) -> None:
        """Ask about the pods of plugins that wait for such an event."""
        if not self._asked:
            return
        for held in self._waiting_for(event):
            pod = held.entry.pod
            if self.hints is None or self.hints.help(held.by, pod, event, change):
                self.ask(held.entry, now)

    def _waiting_for(self, event: int) -> list[Held]:
        plugins = {name for name, events in self.registered.items() if events & event}
        if not plugins:
            return []
        return [held for uid in self._asked if (held := self.held[uid]).by in plugins]

    def flush(self, now: int, longest: int) -> None:
        """Ask about pods that nothing has happened to for longer than ``longest``."""
        if self._asked:
            for entry in list(self._overdue(now - longest)):
                self.ask(entry, now)

    def _overdue(self, before: int) -> Iterator[Entry]:
        for uid, asked in self._asked.items():
            if asked >= before:
                return
            yield self.held[uid].entry

    def next_due(self, longest: int) -> int | None:
        """Return when ``flush`` has something to do, None if it never has."""
        first = next(iter(self._asked.values()), None)
        return None if first is None else first + longest + 1
