"""Keeps up with one kind: list, then watch from there, for ever.

::

    list (version "0": any that the server has) ──> watch ──event──> watch … ──end or cut──> watch from the
       ^                                              │               last version seen, after a pause
       └───────────── 410: the version is gone ───────┘

Rules and times are those of client-go's reflector.
"""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import msgspec

from podium.api import Kind, Object
from podium.cluster.kube.client import KubeClient, path_of
from podium.cluster.kube.listing import Reader
from podium.cluster.kube.nesting import shallow
from podium.cluster.kube.pace import Backoff
from podium.errors import ApiError, ClusterError, Unreachable

#: A watch is asked to last a random time between this many seconds and twice that.
_LASTS: Final = 300

#: A watch that ended sooner without a single event counts as a failure.
_SHORT: Final = 1.0

_GONE: Final = 410
_GATEWAY_TIMEOUT: Final = 504
_ANY_VERSION: Final = "0"
_NEWEST: Final = ""

Change = Literal["ADDED", "MODIFIED", "DELETED"]


class Sink(Protocol):
    """Hears what a reflector sees."""

    def replaced(self, kind: Kind, items: Sequence[Object]) -> None:
        """Hear all objects there are."""

    def changed(self, kind: Kind, change: Change, item: Object) -> None:
        """Hear of one change."""

    def failed(self, kind: Kind, error: ClusterError) -> None:
        """Hear that list or watch failed; it is tried again."""

    def unreadable(self, kind: Kind, text: str) -> None:
        """Hear of an object that cannot be read."""


class _Header(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Status(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


@dataclass(slots=True)
class Progress:
    """How a reflector does."""

    version: str = _ANY_VERSION
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    tried: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it was listed, or could not be."""


class Reflector:
    """Follows one kind.

    Args:
        client: not limited in connections by other requests, since a watch holds one for minutes.
        kind: what to follow.
        sink: hears everything, on the same loop.
        selector: a field selector.

    """

    def __init__(self, client: KubeClient, kind: Kind, sink: Sink, selector: str = "") -> None:
        self.kind = kind
        self.progress = Progress()
        self._client = client
        self._sink = sink
        self._path = path_of(kind)
        self._query = {"fieldSelector": selector} if selector else {}
        self._backoff = Backoff()
        self._reader = Reader(kind, sink.unreadable)
        self._event = msgspec.json.Decoder(msgspec.defstruct("Event", [("type", str), ("object", kind.type)]))

    async def run(self) -> None:
        """Follow until cancelled."""
        listed = False
        while True:
            try:
                if not listed:
                    await self._list()
                    listed = True
                await self._watch()
            except ClusterError as error:
                self._sink.failed(self.kind, error)
                self.progress.tried.set()
                if isinstance(error, ApiError) and error.status == _GONE:
                    listed, self.progress.version = False, _NEWEST
                await self._backoff.wait()

    async def _list(self) -> None:
        progress = self.progress
        query = {**self._query, "resourceVersion": progress.version}
        try:
            body = await self._client.get(self._path, query)
        except ApiError as error:
            # This server may not have caught up with what another one told us.
            if error.status != _GATEWAY_TIMEOUT or progress.version == _NEWEST:
                raise
            body = await self._client.get(self._path, {**self._query, "resourceVersion": _NEWEST})
        progress.version, items = self._reader.items(body)
        self._sink.replaced(self.kind, items)
        progress.synced.set()
        progress.tried.set()

    async def _watch(self) -> None:
        """Watch from the last version seen; returns when a new watch can go on from there."""
        progress, loop = self.progress, asyncio.get_running_loop()
        lasts = random.randint(_LASTS, 2 * _LASTS)
        query = {
            **self._query,
            "resourceVersion": progress.version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(lasts),
        }
        started, seen = loop.time(), 0
        try:
            async for line in self._client.watch(self._path, query, quiet=lasts + 30.0):
                self._take(line)
                seen += 1
        except Unreachable as error:
            # The connection broke: everything up to the last event is known, so no new list is needed.
            self._sink.failed(self.kind, error)
        if not seen and loop.time() - started < _SHORT:
            await self._backoff.wait()

    def _take(self, line: bytes) -> None:
        try:
            event: Any = self._event.decode(line)
            change, item = event.type, event.object
        except RecursionError:
            self._take(shallow(line))
            return
        except msgspec.DecodeError:
            header = msgspec.json.decode(line, type=_Header)
            if header.type == "ERROR":
                status = msgspec.json.decode(header.object, type=_Status)
                raise ApiError(status.code, status.reason, status.message) from None
            change, item = header.type, self._reader.one(header.object)
            if item is None:
                return
        self.progress.version = item.metadata.resource_version
        if change != "BOOKMARK":
            self._sink.changed(self.kind, change, item)
