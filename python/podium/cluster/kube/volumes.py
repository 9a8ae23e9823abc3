"""PreBind of VolumeBinding: writes volumes and claims, then waits until the controllers have bound them."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

import msgspec

from podium.api import BY_NAME, BY_TYPE, PersistentVolume, PersistentVolumeClaim
from podium.cluster.kube.client import MERGE, KubeClient, path_of
from podium.cluster.kube.store import Store
from podium.cluster.port import BindVolumes, VolumeWrite
from podium.errors import ApiError, ClusterError, Unreachable

_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_COMPLETE: Final = "pv.kubernetes.io/bind-completed"
_KINDS: Final = {
    of.__struct_config__.tag: BY_NAME["v1", str(of.__struct_config__.tag)]
    for of in (PersistentVolume, PersistentVolumeClaim)
}

#: Seconds between two looks at what the controllers have done, when nothing says that they have.
_POLL: Final = 0.25

#: Tries of a write whose answer was lost: it carries a resource version, so it is done once at most.
_TRIES: Final = 4


@dataclass(frozen=True, slots=True)
class _Written:
    write: VolumeWrite
    version: int


class VolumeBinder:
    """Carries out ``BindVolumes``."""

    def __init__(self, client: KubeClient, store: Store) -> None:
        self._client = client
        self._store = store

    async def bind(self, action: BindVolumes, timeout: float) -> str:
        """Write and wait; returns why it failed, the empty string on success.

        Args:
            action: the writes.
            timeout: seconds that the controllers get.

        """
        try:
            written = [await self._write(write) for write in action.writes]
        except ClusterError as error:
            return str(error)
        until = time.monotonic() + timeout
        while True:
            try:
                if all(self._is_bound(done) for done in written):
                    return ""
                if self._store.pod(action.uid) is None:
                    return "binding volumes: pod does not exist any more"
            except _Failed as error:
                return f"binding volumes: {error}"
            if time.monotonic() >= until:
                return "binding volumes: context deadline exceeded"
            await asyncio.sleep(_POLL)

    async def _write(self, write: VolumeWrite) -> _Written:
        kind = _KINDS[write.kind]
        path = path_of(kind, write.namespace, write.name)
        for attempt in range(_TRIES):
            try:
                body = await self._client.patch(path, write.patch, MERGE)
            except Unreachable:
                if attempt + 1 == _TRIES:
                    raise
                await asyncio.sleep(0.2 * 2**attempt)
            except ApiError as error:
                if error.status == 409 and attempt and self._has_landed(write):
                    return _Written(write, 0)
                raise
            else:
                item = msgspec.json.decode(body, type=kind.type)
                self._store.answered(item)
                return _Written(write, int(item.metadata.resource_version))
        raise AssertionError("the last try raises")

    def _has_landed(self, write: VolumeWrite) -> bool:
        """Whether the watch shows what an earlier try, whose answer was lost, has written."""
        item = self._store.find(_KINDS[write.kind].type, write.namespace, write.name)
        asked = msgspec.json.decode(write.patch)
        if isinstance(item, PersistentVolume):
            ref = item.spec.claim_ref
            return ref is not None and ref.uid == asked["spec"]["claimRef"]["uid"]
        node = asked["metadata"]["annotations"][_SELECTED_NODE]
        return item is not None and item.metadata.annotations.get(_SELECTED_NODE) == node

    def _is_bound(self, done: _Written) -> bool:
        """Whether the claim of a write is bound for good; raises _Failed if it never will be."""
        write = done.write
        item = self._store.find(_KINDS[write.kind].type, write.namespace, write.name)
        resource = BY_TYPE[_KINDS[write.kind].type].plural[:-1]
        if item is None:
            raise _Failed(f'failed to check binding: {resource} "{write.name}" not found')
        if int(item.metadata.resource_version or 0) < done.version:
            return False
        if isinstance(item, PersistentVolume):
            ref = item.spec.claim_ref
            if ref is None or not ref.uid:
                raise _Failed(f'ClaimRef got reset for pv "{write.name}"')
            return self._is_complete(ref.namespace, ref.name)
        node = msgspec.json.decode(write.patch)["metadata"]["annotations"][_SELECTED_NODE]
        if item.metadata.annotations.get(_SELECTED_NODE) != node:
            raise _Failed(f'provisioning failed for PVC "{write.name}"')
        return self._is_complete(write.namespace, write.name)

    def _is_complete(self, namespace: str, name: str) -> bool:
        claim = self._store.find(PersistentVolumeClaim, namespace, name)
        if not isinstance(claim, PersistentVolumeClaim):
            raise _Failed(f'failed to check binding: persistentvolumeclaim "{name}" not found')
        return bool(claim.spec.volume_name) and _COMPLETE in claim.metadata.annotations


class _Failed(Exception):  # noqa: N818 (never leaves this file)
    """The claims will not be bound."""
