"""The gangs there are, and those of which something happened that nobody has concluded from yet."""

from collections import Counter
from dataclasses import dataclass, field

from podium._core import Engine
from podium.api.gangs import GangKey
from podium.cluster.port import Action
from podium.framework.config import GangSettings
from podium.scheduler.gangs.ended import Ended
from podium.scheduler.gangs.group import GROUP, Group
from podium.scheduler.gangs.strays import Strays


@dataclass(slots=True)
class Book:
    """What the parts of :class:`~podium.scheduler.gangs.gangs.Gangs` have in common.

    Attributes:
        groups, by_handle: the gangs.
        dirty: those of which conclusions are to be drawn, by handle.
        outbox: what the backend is to do beside what the loop asks of it.
        ended: pods that ended well and still exist.
        strays: pods that name a gang but do not go with it.
        counts: how often gangs were ``placed``, ``bound``, ``rolled_back``, ``timed_out`` … so far.

    """

    engine: Engine
    settings: GangSettings
    groups: dict[GangKey, Group] = field(default_factory=dict)
    by_handle: dict[int, Group] = field(default_factory=dict)
    dirty: dict[int, Group] = field(default_factory=dict)
    outbox: list[Action] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    ended: Ended = field(default_factory=Ended)
    strays: Strays = field(init=False)

    def __post_init__(self) -> None:
        """Begin without strays."""
        self.strays = Strays(self.settings.label)

    def add(self, group: Group) -> None:
        """Note a gang that has its first member."""
        self.groups[group.key] = self.by_handle[group.handle] = group

    def remove(self, group: Group) -> None:
        """Forget a gang that has no members any more."""
        self.engine.remove_group(group.handle)
        del self.groups[group.key]
        del self.by_handle[group.handle]

    def of_queue(self, handle: int) -> Group:
        """Return the gang behind a handle of the queue."""
        return self.by_handle[handle & ~GROUP]
