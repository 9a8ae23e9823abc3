"""What comes in: events of the backend, and what plugins and other threads have asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from podium._core import Engine
from podium.api.documented import documented
from podium.cluster.port import Action, Applied, Bound, Event, Removed, Returned
from podium.scheduler.binding import Binder
from podium.scheduler.columns import CustomColumns
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.inbox import Inbox
from podium.scheduler.state import State

#: Events about objects.
_OBJECTS: Final = frozenset({Applied, Removed})


@dataclass(frozen=True, slots=True)
class Incoming:
    """Applies it, in order of arrival.

    Attributes:
        strict: whether objects are written so that they mean what is documented.

    """

    engine: Engine
    state: State
    binder: Binder
    gangs: Gangs
    inbox: Inbox
    columns: CustomColumns
    strict: bool

    def apply(self, events: Iterable[Event], now: int, actions: list[Action]) -> None:
        """Apply what happened; objects that follow one another together."""
        binder, start = self.binder, 0
        happened = list(events)
        # Most steps bring objects alone, or answers alone.
        others = enumerate(happened) if not {*map(type, happened)} <= _OBJECTS else ()
        for at, event in others:
            if isinstance(event, Applied | Removed):
                continue
            if start < at:
                self._apply_objects(happened[start:at], now)
            start = at + 1
            if isinstance(event, Returned):
                binder.returned(event, now, actions)
            elif isinstance(event, Bound):
                binder.bound(event.uids, actions)
            else:
                binder.bind_failed(event.uid, event.message, now, actions)
        self._apply_objects(happened[start:], now)

    def _apply_objects(self, events: Sequence[Event], now: int) -> None:
        if self.strict:
            events = [
                Applied(documented(event.object)) if isinstance(event, Applied) else event for event in events
            ]
        self.state.apply(events, now)

    def take_requests(self, now: int, actions: list[Action]) -> None:
        """Apply what came from plugins and other threads."""
        self.gangs.permits.permit()
        self.binder.take_decisions(now, actions)
        changed = self.columns.take_changed()
        if changed:
            rows = (self.engine.row(name) for name in changed)
            self.engine.touch([row for row in rows if row is not None])
        uids, events = self.inbox.take()
        for uid in uids:
            entry = self.state.entry(uid)
            if entry is not None and (uid not in self.state.gates.held or self.state.gates.ask(entry, now)):
                self.engine.activate(entry.handle)
        actions += events
