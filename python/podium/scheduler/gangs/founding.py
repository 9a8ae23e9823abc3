"""Gangs by label that come whole: enough members at once, who all say the same. Most gangs are such."""

from collections.abc import Sequence

from podium.api.gangs import GangKey, Way
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.descriptions import Descriptions
from podium.scheduler.gangs.group import Group, Phase
from podium.scheduler.gangs.members import Told, controller_of


def born_whole(
    key: GangKey, handle: int, entries: Sequence[Entry], descriptions: Descriptions
) -> tuple[Group, Told] | None:
    """Return a gang as it is once it was concluded that it is to be tried, and what to tell the core of it.

    It has no past, no object and no members on nodes, so there is nothing else to look at.

    Args:
        key: a gang that there was not, and of which no member has ended.
        handle: its number in the core.
        entries: its members, pending and to stay.
        descriptions: hears them.

    Returns:
        None for any other gang.

    """
    if key.way is not Way.LABEL:
        return None
    says, verdict = descriptions.hear(key, None, [entry.pod for entry in entries])
    description = verdict.description
    if says is None or description.problem or len(entries) < description.minimum:
        return None
    name = str(key)
    group = Group(
        key,
        name,
        handle,
        name,
        description=description,
        signature=says,
        phase=Phase.QUEUED,
        members={entry.pod.metadata.uid: entry for entry in entries},
        owner=controller_of(entries[0].pod),
        queued=True,
    )
    for entry in entries:
        entry.group = group
    return group, verdict.told
