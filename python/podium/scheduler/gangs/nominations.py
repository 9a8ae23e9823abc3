"""Places that are kept for members by nomination, and given back where nothing can come of it."""

from collections.abc import Iterable
from typing import Final

from podium._core import Engine
from podium.framework.events import Action, Resource
from podium.scheduler.entry import Entry
from podium.scheduler.events import bit

_POD_DELETED: Final = bit(Resource.ASSIGNED_POD, Action.DELETE)


def give_back(engine: Engine, entries: Iterable[Entry], now: int, *, gang: int | None = None) -> None:
    """Take nominations away; whoever waits hears of it as of pods that leave, but a gang whose turn it is."""
    given = [entry for entry in entries if engine.nominated(entry.handle) is not None]
    for entry in given:
        engine.nominate(entry.handle, None)
    for entry in given:
        engine.announce(entry.handle, _POD_DELETED, now, (), gang)
