"""Which plugins of a profile the runner calls at each point, and in which order."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from podium.framework.points import POINT_METHODS, POINTS
from podium.framework.state import CycleState

#: Methods that go with that of a point.
_ALSO: Final = {
    "reserve": "unreserve",
    "score": "normalize_score",
    "preBind": "pre_bind_pre_flight",
}


@dataclass(frozen=True, slots=True)
class Member:
    """A plugin at a point.

    Attributes:
        order: its place in the profile's list, native plugins included.
        weight: its weight there.
        call: the method of the point; ``nothing`` if the plugin has only the one that goes with it.
        also: the method that goes with it, None if the plugin has none.

    """

    order: int
    name: str
    plugin: Any
    weight: int
    call: Callable[..., Any]
    also: Callable[..., Any] | None = None

    @classmethod
    def of(cls, point: str, order: int, plugin: tuple[str, Any], weight: int) -> "Member":
        """Look up the methods once."""
        name, instance = plugin
        methods = POINT_METHODS[point]
        call = getattr(instance, methods[0], None) if methods else None
        also = getattr(instance, _ALSO[point], None) if point in _ALSO else None
        return cls(order, name, instance, weight, call or nothing, also)


def nothing(*_: object) -> None:
    """Stand for a method that a plugin leaves out: ``reserve`` of one that only unreserves."""


def _members_of(point: str, listed: list[tuple[str, int]], plugins: Mapping[str, Any]) -> Iterator[Member]:
    for order, (name, weight) in enumerate(listed):
        if name in plugins:
            member = Member.of(point, order, (name, plugins[name]), weight)
            # Whoever stands for a native plugin may leave out points at which that does nothing here.
            if point == "queueSort" or member.call is not nothing or member.also is not None:
                yield member


#: Plugins by point, in order.
Chosen = Mapping[str, tuple[Member, ...]]


@dataclass(frozen=True, slots=True)
class Members:
    """The plugins that have an instance, by point; the others run in the core."""

    by_point: Chosen
    _chosen: dict[frozenset[str], Chosen] = field(default_factory=dict)
    """By the plugins that concern a pod: there are few such sets."""

    @classmethod
    def of(cls, points: Mapping[str, list[tuple[str, int]]], plugins: Mapping[str, Any]) -> "Members":
        """Pick the plugins of a profile's points that have an instance."""
        return cls({point: tuple(_members_of(point, points[point], plugins)) for point in POINTS})

    def at(self, point: str, state: CycleState) -> tuple[Member, ...]:
        """Return the plugins of a point that concern the pod, in order."""
        chosen = state.members
        if chosen is None:
            concerned = state.concerned
            chosen = self.by_point if concerned is None else self.of_concerned(concerned)
            state.members = chosen
        return chosen[point]  # type: ignore[no-any-return]  # the state does not know what members are

    def of_concerned(self, concerned: frozenset[str]) -> Chosen:
        """Return those of some plugins by point."""
        chosen = self._chosen.get(concerned)
        if chosen is None:
            chosen = self._chosen[concerned] = {
                point: tuple(member for member in members if member.name in concerned)
                for point, members in self.by_point.items()
            }
        return chosen
