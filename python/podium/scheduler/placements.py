"""From the core's batches to the binding cycle: who goes there with plugins, and who the short way."""

from collections.abc import Sequence

from podium._core import Batch
from podium.cluster.port import Action
from podium.framework.state import CycleState
from podium.scheduler.assumed import Assumed
from podium.scheduler.binding import Binder
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.observer import Observer
from podium.scheduler.profiles import Profiles
from podium.scheduler.state import State


class Placements:
    """Takes pods that are on their nodes' books to the binding cycle."""

    def __init__(
        self,
        state: State,
        binder: Binder,
        profiles: Profiles,
        gangs: Gangs,
        observer: Observer,
    ) -> None:
        self._state = state
        self._binder = binder
        self._profiles = profiles
        self._gangs = gangs
        self._observer = observer

    def begin_batch(self, batch: Batch, now: int, actions: list[Action]) -> None:
        """Bind what a batch has placed."""
        self.begin(batch.pods.tolist(), batch.rows.tolist(), now, actions)

    def begin(self, handles: Sequence[int], rows: Sequence[int], now: int, actions: list[Action]) -> None:
        """Bind pods, by handle, on rows of the core."""
        entries = self._state.by_handles(handles)
        nodes = self._state.names_of(rows)
        self._observer.placed(entries, nodes)
        self._gangs.given_nodes(entries)
        if not self._profiles:
            self._binder.begin_plain(entries, nodes, actions)
            return
        plain: list[tuple[Entry, str]] = []
        for entry, node in zip(entries, nodes, strict=True):
            if not entry.concerned:
                plain.append((entry, node))
                continue
            plugins = self._profiles.of(entry.pod)
            if plugins is None or not plugins.binds(entry.concerned):
                plain.append((entry, node))
                continue
            self._begin_plain(plain, actions)
            state = CycleState(concerned=entry.concerned)
            self._binder.begin(Assumed(entry, node, plugins.runner, state), now, actions)
        self._begin_plain(plain, actions)

    def _begin_plain(self, plain: list[tuple[Entry, str]], actions: list[Action]) -> None:
        """Bind pods that are a matter of the core alone, and empty the list."""
        if plain:
            self._binder.begin_plain([entry for entry, _ in plain], [node for _, node in plain], actions)
            plain.clear()
