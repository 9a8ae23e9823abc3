"""Pods that name a gang, but a schedulerName whose pods do not go with it."""

from dataclasses import dataclass, field
from typing import Final

from podium.api import Pod
from podium.api.gangs import GangKey, gang_of

#: Strays that are named; of others their number is told.
NAMED: Final = 3


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
        named = ", ".join(f"{pod.metadata.name} ({pod.spec.scheduler_name})" for pod in pods[:NAMED])
        more = f" and {len(pods) - NAMED} more" if len(pods) > NAMED else ""
        verb = "names" if len(pods) == 1 else "name"
        return f"{len(pods)} that {verb} another scheduler: {named}{more}"
