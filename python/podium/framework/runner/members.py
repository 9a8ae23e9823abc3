"""Which plugins of a profile the runner calls at each point, and in which order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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

    def at(self, point: str, state: CycleState) -> Iterator[Member]:
        """Walk over the plugins of a point that concern the pod."""
        return (member for member in self.by_point[point] if concerns(member.name, state))


def concerns(name: str, state: CycleState) -> bool:
    """Whether a plugin concerns the pod of this attempt."""
    return state.concerned is None or name in state.concerned
