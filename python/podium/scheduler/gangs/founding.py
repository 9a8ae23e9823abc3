"""Gangs as they begin, where their first members come whole."""

from collections.abc import Sequence

from podium.api.gangs import LABEL, GangKey
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.descriptions import Descriptions
from podium.scheduler.gangs.whole import WholeGang


def born_whole(
    key: GangKey, handle: int, entries: Sequence[Entry], descriptions: Descriptions, *, alike: bool
) -> WholeGang | None:
    """Return a gang as it is once it was concluded that it is to be tried, None where it must be looked at.

    It has no past, no object and no members on nodes, so there is nothing else to look at.

    Args:
        key: a gang that there was not, and of which no member has ended.
        handle: its number in the core.
        entries: its members, pending and to stay.
        descriptions: hears them.
        alike: whether they differ in name and uid alone.

    """
    if key.way is not LABEL:
        return None
    if alike:
        says, verdict = descriptions.hear_one(key, entries[0].pod)
    else:
        says, verdict = descriptions.hear(key, None, [entry.pod for entry in entries])
    description = verdict.description
    if says is None or description.problem or len(entries) != description.minimum:
        return None
    whole = WholeGang(key, handle, entries, says, verdict)
    for entry in entries:
        entry.gang = whole
    return whole
