"""The gangs there are, and those of which something happened that nobody has concluded from yet."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from podium._core import Engine
from podium.api.gangs import GangKey
from podium.cluster.port import Action
from podium.framework.config import GangSettings
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.ended import Ended
from podium.scheduler.gangs.group import GROUP, Group
from podium.scheduler.gangs.held_back import HeldBack
from podium.scheduler.gangs.strays import Strays
from podium.scheduler.gangs.whole import Gang, WholeGang


@dataclass(slots=True)
class Book:
    """What the parts of :class:`~podium.scheduler.gangs.gangs.Gangs` have in common.

    Attributes:
        dirty: those of which conclusions are to be drawn, by handle.
        outbox: what the backend is to do beside what the loop asks of it.
        ended: pods that ended well and still exist.
        strays: pods that name a gang but do not go with it.
        held_back: pods that would be members if gates or plugins let them enter the queue.
        counts: how often gangs were ``placed``, ``bound``, ``rolled_back``, ``timed_out`` … so far.

    """

    engine: Engine
    settings: GangSettings
    dirty: dict[int, Gang] = field(default_factory=dict)
    outbox: list[Action] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    ended: Ended = field(default_factory=Ended)
    strays: Strays = field(init=False)
    held_back: HeldBack = field(default_factory=HeldBack)
    _gangs: dict[GangKey, Gang] = field(default_factory=dict)
    _by_handle: dict[int, Gang] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin without strays."""
        self.strays = Strays(self.settings.label)

    def __iter__(self) -> Iterator[Group]:
        """Yield all gangs, in order of appearance."""
        return map(self.looked_into, list(self._gangs.values()))

    def __contains__(self, gang: Gang) -> bool:
        """Whether it is what is kept of a gang."""
        return self._by_handle.get(gang.handle) is gang

    def knows(self, key: GangKey) -> bool:
        """Whether there is such a gang."""
        return key in self._gangs

    def known(self, keys: Mapping[GangKey, object]) -> Set[GangKey]:
        """Return those of some keys whose gangs there are."""
        return keys.keys() & self._gangs.keys()

    def get(self, key: GangKey) -> Group | None:
        """Return a gang, None if there is none."""
        gang = self._gangs.get(key)
        return None if gang is None else self.looked_into(gang)

    def of(self, entry: Entry) -> Group | None:
        """Return the gang of a pod, None if it is in none."""
        return None if entry.gang is None else self.looked_into(entry.gang)

    def looked_into(self, gang: Gang) -> Group:
        """Return all that there is to know of a gang, to which anything may happen from now on."""
        if not isinstance(gang, WholeGang):
            return gang
        group = gang.group()
        self.add(group)
        if gang.handle in self.dirty:
            self.dirty[gang.handle] = group
        return group

    def add(self, gang: Gang) -> None:
        """Note a gang that has its first member."""
        self._gangs[gang.key] = self._by_handle[gang.handle] = gang

    def remove(self, group: Group) -> None:
        """Forget a gang that has no members any more."""
        self.engine.remove_group(group.handle)
        del self._gangs[group.key]
        del self._by_handle[group.handle]

    def of_queue(self, handle: int) -> Group:
        """Return the gang behind a handle of the queue."""
        return self.looked_into(self._by_handle[handle & ~GROUP])
