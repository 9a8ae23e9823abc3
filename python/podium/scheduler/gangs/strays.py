"""Pods that name a gang, but a schedulerName whose pods do not go with it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from podium.api import Pod
from podium.api.gangs import GangKey, gang_of

#: Pods that are named; of others their number is told.
_NAMED: Final = 3


def named(pods: Sequence[tuple[Pod, str]]) -> str:
    """Name some pods, each with what is to be said of it."""
    texts = ", ".join(f"{pod.metadata.name} ({what})" for pod, what in pods[:_NAMED])
    return f"{texts} and {len(pods) - _NAMED} more" if len(pods) > _NAMED else texts


@dataclass(slots=True)
class Strays:
    """Those there are, by the gang they name. They count for nothing, but a person looks for them."""

    label: str
    _of: dict[GangKey, dict[str, Pod]] = field(default_factory=dict)

    def note(self, pod: Pod) -> GangKey | None:
        """Keep a pod in mind; returns the gang that it names, None if it names none."""
        key = gang_of(pod, self.label)
        if key is not None:
            self._of.setdefault(key, {})[pod.metadata.uid] = pod
        return key

    def forget(self, pod: Pod) -> GangKey | None:
        """Let go of a pod that is gone or has ended; returns the gang that it named."""
        if not self._of:
            return None
        key = gang_of(pod, self.label)
        own = self._of.get(key) if key is not None else None
        if key is None or own is None or own.pop(pod.metadata.uid, None) is None:
            return None
        if not own:
            del self._of[key]
        return key

    def text(self, key: GangKey) -> str:
        """Say who they are, empty if there are none."""
        pods = list(self._of.get(key, {}).values())
        if not pods:
            return ""
        verb = "names" if len(pods) == 1 else "name"
        which = named([(pod, pod.spec.scheduler_name) for pod in pods])
        return f"{len(pods)} that {verb} another scheduler: {which}"
