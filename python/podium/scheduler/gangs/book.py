"""The gangs there are, and those of which something happened that nobody has concluded from yet."""

from collections import Counter
from dataclasses import dataclass, field

from podium._core import Engine
from podium.api.gangs import GangKey
from podium.cluster.port import Action
from podium.framework.config import GangSettings
from podium.scheduler.gangs.group import GROUP, Group


@dataclass(slots=True)
class Book:
    """What the parts of :class:`~podium.scheduler.gangs.gangs.Gangs` have in common.

    Attributes:
        groups, by_handle: the gangs.
        dirty: those of which conclusions are to be drawn, by handle.
        outbox: what the backend is to do beside what the loop asks of it.
        counts: how often gangs were ``placed``, ``bound``, ``rolled_back``, ``timed_out`` … so far.

    """

    engine: Engine
    settings: GangSettings
    groups: dict[GangKey, Group] = field(default_factory=dict)
    by_handle: dict[int, Group] = field(default_factory=dict)
    dirty: dict[int, Group] = field(default_factory=dict)
    outbox: list[Action] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

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
