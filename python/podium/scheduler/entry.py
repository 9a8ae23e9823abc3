"""What the scheduler keeps of each pod, and what it makes of one that is pending."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from podium.api import Pod

if TYPE_CHECKING:
    from podium.scheduler.gangs.whole import Gang


class Entry(msgspec.Struct, eq=False, gc=False):
    """One pod that the scheduler knows. There is one per pod, so it is the cheapest kind of object.

    Attributes:
        node: the node it is on, assumed or bound.
        concerned: the Python plugins of its profile that it concerns.
        gang: its gang, None if it is in none.
        epoch: counts the attempts that were given up; answers to calls of an earlier one are dropped.
        message: why its last attempt failed.
        victims: keys of the pods evicted for it in its last attempt.
        failed_at: when its first attempt failed, where tenants take turns.
        placed_at: when it was bound, where tenants give back or gangs hold places for later.

    """

    pod: Pod
    handle: int
    node: str | None = None
    concerned: frozenset[str] = frozenset()
    gang: "Gang | None" = None
    epoch: int = 0
    message: str = ""
    victims: Sequence[str] = ()
    failed_at: int | None = None
    placed_at: int | None = None


@dataclass(frozen=True, slots=True)
class Concern:
    """What to make of a pending pod.

    Attributes:
        foreign: another scheduler's pod.
        held: why it may not be tried yet; empty if it may.
        by: the Python plugin that holds it; an event that this registered has it asked again.

    """

    foreign: bool = False
    held: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """A pod in the queue's gated pool.

    Attributes:
        why: the reason that was given.
        by: the Python plugin that holds it; empty if its own scheduling gates do.

    """

    entry: Entry
    why: str
    by: str = ""
