"""Gangs by label that come whole and get their places without trouble. Most gangs are such.

There may be one for every few pods, so as long as nothing happens to one but that all of its members are put
on nodes and bound there, each time at one go, this is all that is kept of it.
"""

from collections.abc import Sequence

import msgspec

from podium.api import Pod
from podium.api.gangs import GangKey
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.members import Signature, Verdict, controller_of


class WholeGang(msgspec.Struct, eq=False):
    """A gang whose members are exactly its minimum, came together and say the same.

    Attributes:
        handle: its number in the core.
        entries: its members, which are to stay.
        signature: what each of them says.
        phase: QUEUED; BINDING once all of them have nodes; BOUND once that was concluded.
        bound: whether all of them are.

    """

    key: GangKey
    handle: int
    entries: Sequence[Entry]
    signature: Signature
    verdict: Verdict
    phase: Phase = Phase.QUEUED
    bound: bool = False

    @property
    def first(self) -> Pod:
        """The member that stands for it."""
        return self.entries[0].pod

    def group(self) -> Group:
        """Return the same as a gang to which anything may happen, and let its members know."""
        members = {entry.pod.metadata.uid: entry for entry in self.entries}
        name, is_done = str(self.key), self.phase is Phase.BOUND
        group = Group(
            self.key,
            name,
            self.handle,
            name,
            description=self.verdict.description,
            signature=self.signature,
            phase=self.phase,
            members=members,
            placed={uid for uid, entry in members.items() if entry.node is not None},
            bound=set(members) if self.bound else set(),
            owner=controller_of(self.first),
            floor=len(members) if is_done else 0,
            queued=not is_done,
        )
        for entry in self.entries:
            entry.gang = group
        return group


#: What is kept of a gang. Nothing but the book turns the one into the other.
Gang = Group | WholeGang
