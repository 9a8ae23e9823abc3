"""Pods that would be members, but may not enter the queue yet: gates, or plugins at PreEnqueue, hold them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from podium.api import Pod
from podium.api.gangs import GangKey
from podium.scheduler.gangs.strays import named


@dataclass(slots=True)
class HeldBack:
    """Those there are, with what holds each, by the gang they name."""

    _of: dict[GangKey, dict[str, tuple[Pod, str]]] = field(default_factory=dict)

    def note(self, key: GangKey, pod: Pod, why: str) -> None:
        """Keep in mind what holds a pod."""
        self._of.setdefault(key, {})[pod.metadata.uid] = (pod, why)

    def forget(self, key: GangKey, pod: Pod) -> bool:
        """Let go of a pod that is held no more, or gone; returns whether it was held."""
        held = self._of.get(key)
        if held is None or held.pop(pod.metadata.uid, None) is None:
            return False
        if not held:
            del self._of[key]
        return True

    def __bool__(self) -> bool:
        return bool(self._of)

    def __iter__(self) -> Iterator[GangKey]:
        return iter(self._of)

    def of(self, key: GangKey) -> list[Pod]:
        """Return the pods that would be members of a gang."""
        return [pod for pod, _ in self._of.get(key, {}).values()]

    def text(self, key: GangKey) -> str:
        """Say who they are and why, empty if there are none."""
        held = list(self._of.get(key, {}).values())
        if not held:
            return ""
        return f"{len(held)} that {'is' if len(held) == 1 else 'are'} held: {named(held)}"
