"""Which plugins of a profile the runner calls at each point, and in which order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from podium.framework.points import POINTS
from podium.framework.state import CycleState


@dataclass(frozen=True, slots=True)
class Member:
    """A plugin at a point: its place in the profile's list, native plugins included, and its weight there."""

    order: int
    name: str
    plugin: Any
    weight: int


@dataclass(frozen=True, slots=True)
class Members:
    """The plugins that have an instance, by point; the others run in the core."""

    by_point: dict[str, tuple[Member, ...]]
    _chosen: dict[tuple[str, frozenset[str]], tuple[Member, ...]] = field(default_factory=dict)
    """By point and the plugins that concern a pod: there are few such sets, and each pod asks for one."""

    @classmethod
    def of(cls, points: Mapping[str, list[tuple[str, int]]], plugins: Mapping[str, Any]) -> "Members":
        """Pick the plugins of a profile's points that have an instance."""
        return cls(
            {
                point: tuple(
                    Member(order, name, plugins[name], weight)
                    for order, (name, weight) in enumerate(points[point])
                    if name in plugins
                )
                for point in POINTS
            }
        )

    def at(self, point: str, state: CycleState) -> tuple[Member, ...]:
        """Return the plugins of a point that concern the pod, in order."""
        concerned = state.concerned
        return self.by_point[point] if concerned is None else self.of_concerned(point, concerned)

    def of_concerned(self, point: str, concerned: frozenset[str]) -> tuple[Member, ...]:
        """Return those of some plugins that take part in a point, in order."""
        chosen = self._chosen.get((point, concerned))
        if chosen is None:
            members = self.by_point[point]
            chosen = tuple(member for member in members if member.name in concerned)
            self._chosen[point, concerned] = chosen
        return chosen
