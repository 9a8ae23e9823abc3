"""One gang: its members and how far it has come.

    GATED ──> QUEUED ──> PLACED ──> PERMITTED ──> BINDING ──> BOUND
                ^  ^        │                        │          │
                │  └─BACKOFF┴──<── ROLLING_BACK <────┘          │
                └───────── a bound member is lost ──────────────┘

GATED is a gang whose members are missing, BACKOFF one that rests after a member was turned away, and
ROLLING_BACK one whose bound members leave because the others could not follow in time.

The counts are those of the sets of members, keyed by uid; nothing is counted up or down. Every roll-back of
the whole gang starts a new epoch.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec

from podium.api import Object, Pod
from podium.api.gang_status import Standing
from podium.api.gangs import Description, GangKey, role_of
from podium.scheduler.entry import Entry
from podium.scheduler.failures import Refusal

#: The bit that tells a gang's handle in the queue from a pod's.
GROUP: Final = 1 << 31


class Phase(StrEnum):
    """How far a gang has come."""

    GATED = "Gated"
    """Members are missing, or it cannot be a gang."""
    QUEUED = "Queued"
    PLACED = "Placed"
    """All that are needed have places; some are held in Permit."""
    PERMITTED = "Permitted"
    BINDING = "Binding"
    BOUND = "Bound"
    ROLLING_BACK = "RollingBack"
    """Its time was over before enough were bound: those that are leave."""
    BACKOFF = "Backoff"


#: What may follow what, besides GATED, which is wherever members are missing.
FOLLOWS: Final = {
    Phase.GATED: {Phase.QUEUED, Phase.BOUND, Phase.ROLLING_BACK},
    Phase.QUEUED: {Phase.PLACED, Phase.BACKOFF, Phase.BOUND, Phase.ROLLING_BACK},
    Phase.PLACED: {Phase.PERMITTED, Phase.QUEUED, Phase.BACKOFF, Phase.BOUND, Phase.ROLLING_BACK},
    Phase.PERMITTED: {Phase.BINDING},
    Phase.BINDING: {Phase.BOUND, Phase.QUEUED, Phase.BACKOFF, Phase.ROLLING_BACK},
    Phase.BOUND: {Phase.QUEUED, Phase.BINDING, Phase.PLACED, Phase.ROLLING_BACK},
    Phase.ROLLING_BACK: {Phase.QUEUED, Phase.BACKOFF, Phase.BOUND},
    Phase.BACKOFF: {Phase.QUEUED, Phase.PLACED, Phase.BOUND, Phase.ROLLING_BACK},
}


class Group(msgspec.Struct, eq=False):
    """One gang. There may be one for every few pods, so it is a cheap kind of object.

    Attributes:
        name: the gang as ``ns/name``.
        handle: its number in the core.
        uid: that of the object which declares it, else its name.
        signature: what the members say that the description was made of; None: it must be made anew.
        members: pods that are pending or on nodes, by uid.
        placed: members with a node, bound there or about to be, that are to stay.
        leaving: members that are being deleted: their places are taken still, but they count for nothing.
        succeeded: members that ended well after they were bound: their work is done, so once the gang has run
            they need no place.
        owner: uid of the controller of the members that came last.
        floor: the least that must stay bound: the minimum when it was reached, or a lower one since.
        queued: whether the core's queue knows it.
        woken: whether something happened since its last attempt that can help.
        surplus: members beyond the minimum that are queued on their own.
        failures: bindings that failed, by uid.
        binding_failed: whether a binding failed since it was tried last.
        turned_away: why members that waited in Permit went back, all of them: the first word counts.
        deadline: when the members that are bound must leave unless enough are.
        reported: the status that was written last.

    """

    key: GangKey
    name: str
    handle: int
    uid: str
    object: Object | None = None
    epoch: int = 0
    description: Description = Description()
    signature: Any = None
    phase: Phase = Phase.GATED
    members: dict[str, Entry] = {}
    placed: set[str] = set()
    bound: set[str] = set()
    leaving: set[str] = set()
    succeeded: dict[str, Pod] = {}
    failed: set[str] = set()
    owner: str = ""
    floor: int = 0
    queued: bool = False
    woken: bool = False
    surplus: set[str] = set()
    failures: dict[str, int] = {}
    turned_away: Refusal | None = None
    binding_failed: bool = False
    deadline: int | None = None
    message: str = ""
    nearest: str = ""
    error: bool = False
    reported: Any = None

    @property
    def minimum(self) -> int:
        """Members that must be on nodes together."""
        return self.description.minimum

    @property
    def first(self) -> Pod | None:
        """The member that stands for it, None if none is left."""
        entry = next(iter(self.members.values()), None)
        return None if entry is None else entry.pod

    def pending(self) -> Iterator[Entry]:
        """Yield members without a node that are to stay."""
        return (e for uid, e in self.members.items() if uid not in self.placed and uid not in self.leaving)

    @property
    def ready(self) -> int:
        """How many members wait for a node."""
        return len(self.members) - len(self.placed) - len(self.leaving)

    @property
    def live(self) -> int:
        """How many members there are that are to stay."""
        return len(self.members) - len(self.leaving)

    @property
    def done(self) -> int:
        """How many members count though they have ended."""
        return len(self.succeeded) if self.floor else 0

    @property
    def need(self) -> int:
        """How many more members must get a node; roles may ask for more."""
        done = len(self.succeeded) if self.floor else 0
        return max(0, self.description.minimum - done - len(self.placed))

    @property
    def missing(self) -> str:
        """In words, which members must come before enough exist; empty if they do, with places or without."""
        known = self.live + self.done
        if known < self.minimum:
            return f"{known} of {self.minimum} members exist"
        if not self.description.roles:
            return ""
        there = Counter(role_of(e.pod) for uid, e in self.members.items() if uid not in self.leaving)
        there.update(role_of(pod) for pod in (self.succeeded.values() if self.done else ()))
        return ", ".join(
            f"{there[role]} of {least} members of role {role} exist"
            for role, least in self.description.roles.items()
            if there[role] < least
        )

    def begin_anew(self) -> None:
        """Start another life under the same name: what the first one has come to counts for nothing."""
        self.floor, self.deadline, self.reported = 0, None, None
        self.signature = None
        self.succeeded.clear()
        self.failed.clear()
        self.failures.clear()
        self.epoch += 1

    def note_floor(self) -> None:
        """Note that as many have run as must, some or, of one controller, all of which have ended already."""
        has_run = self.bound or self.owner
        if not self.floor and has_run and len(self.bound) + len(self.succeeded) >= self.minimum:
            self.floor = self.minimum

    @property
    def least(self) -> int:
        """How many must stay bound, those that have ended well included."""
        return self.floor or self.minimum

    @property
    def is_broken(self) -> bool:
        """Whether members are bound, but fewer than must be have a node or are about to get it."""
        return bool(self.bound) and len(self.placed) + self.done < self.least

    @property
    def is_whole(self) -> bool:
        """Whether as many are bound as must be, or none."""
        return not self.bound or len(self.bound) + self.done >= self.least

    def move(self, to: Phase) -> None:
        """Go on to another phase."""
        if to is self.phase:
            return
        if to is not Phase.GATED and to not in FOLLOWS[self.phase]:
            raise AssertionError(f"gang {self.name}: {self.phase.value} is never followed by {to.value}")
        self.phase = to

    def standing(self) -> Standing:
        """Return how it stands, for its status."""
        return Standing(
            minimum=self.minimum,
            members=self.live,
            bound=len(self.bound),
            succeeded=len(self.succeeded),
            failed=len(self.failed),
            message=self.message,
            error=self.error,
            epoch=self.epoch,
        )
