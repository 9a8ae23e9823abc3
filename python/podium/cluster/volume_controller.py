"""What the persistent volume controller and provisioners do, for the cluster in memory."""

from collections.abc import Iterable, Sequence

import msgspec

from podium._core import bind_volumes
from podium.api import Object, PersistentVolume, PersistentVolumeClaim, kind_of
from podium.cluster.port import VolumeWrite

_DECODERS = {
    "PersistentVolume": msgspec.json.Decoder(PersistentVolume),
    "PersistentVolumeClaim": msgspec.json.Decoder(PersistentVolumeClaim),
}


class VolumeController:
    """Holds the objects of storage and binds claims as the real controllers would, at once."""

    KINDS = frozenset({"PersistentVolume", "PersistentVolumeClaim", "StorageClass", "Node"})

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str, str], Object] = {}

    def apply(self, item: Object) -> None:
        """Take over an object that was added or changed."""
        at = (kind_of(type(item)), item.metadata.namespace, item.metadata.name)
        self._objects[at] = item

    def write(self, writes: Sequence[VolumeWrite]) -> list[Object]:
        """Carry out the scheduler's writes and let the controllers act; returns what changed."""
        changed = bind_volumes(self._encoded(), [msgspec.json.encode(write) for write in writes])
        items: list[Object] = [_DECODERS[kind].decode(json) for kind, json in changed]
        for item in items:
            self.apply(item)
        return items

    def settle(self) -> list[Object]:
        """Let the controllers act on what there is: claims that bind immediately."""
        return self.write(())

    def unbound(self, writes: Iterable[VolumeWrite]) -> str:
        """Say which of the claims written to is still not bound; empty if all are."""
        for write in writes:
            claim = self._objects.get(("PersistentVolumeClaim", write.namespace, write.claim))
            if not isinstance(claim, PersistentVolumeClaim) or claim.status.phase != "Bound":
                return f'claim "{write.namespace}/{write.claim}" was not bound'
        return ""

    def _encoded(self) -> list[tuple[str, bytes]]:
        return [(kind, msgspec.json.encode(item)) for (kind, _, _), item in self._objects.items()]
