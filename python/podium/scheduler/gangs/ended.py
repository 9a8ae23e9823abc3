"""Pods of gangs that ended well and still exist, and in whose life they did.

After a restart nothing else tells of members whose work is done. But a name may be used again: what an
earlier run has left counts for nothing in the next one. Pods of one controller are of one run, whatever comes
between. Pods without one are of one run if some were there together: when none is left the run is over, and
who runs after a restart is of the run of those that had not ended before it came.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from podium.api import Pod
from podium.api.gangs import GangKey
from podium.scheduler.gangs.members import controller_of


@dataclass(slots=True)
class Ended:
    """Those there are, by gang and uid."""

    _of: dict[GangKey, dict[str, Pod]] = field(default_factory=dict)
    _past: set[str] = field(default_factory=set)
    """Uids of those that belong to a run that is over."""

    def __contains__(self, key: GangKey) -> bool:
        """Whether there are any of a gang."""
        return key in self._of

    def note(self, key: GangKey, pod: Pod) -> bool:
        """Keep one in mind; returns whether it is new."""
        own = self._of.setdefault(key, {})
        is_new = pod.metadata.uid not in own
        own[pod.metadata.uid] = pod
        return is_new

    def forget(self, key: GangKey, pod: Pod) -> None:
        """Let go of one that is deleted."""
        own = self._of.get(key)
        if own is None:
            return
        own.pop(pod.metadata.uid, None)
        self._past.discard(pod.metadata.uid)
        if not own:
            del self._of[key]

    def run_over(self, key: GangKey) -> None:
        """Note that none of those that have ended has anything to do with who comes next."""
        self._past.update(self._of.get(key, ()))

    def of_run(self, key: GangKey, members: Sequence[Pod]) -> Iterator[Pod]:
        """Yield those of the run of some members: newcomers of one controller, or pods that run already."""
        own = self._of.get(key)
        if not own:
            return
        controller = controller_of(members[0])
        names = {member.metadata.name for member in members}
        running = [member for member in members if member.spec.node_name]
        for uid, pod in own.items():
            if uid in self._past or controller_of(pod) != controller or pod.metadata.name in names:
                continue
            if controller or any(_together(pod, member) for member in running):
                yield pod


def _together(ended: Pod, other: Pod) -> bool:
    """Whether a pod had not ended before the other came, as far as they say."""
    states = (status.state for status in ended.status.container_statuses)
    ends = [state.terminated.finished_at or "" for state in states if state and state.terminated]
    came = other.metadata.creation_timestamp
    # Both are RFC 3339 in UTC, to the second.
    return not (ends and all(ends) and came and max(ends) < came)
