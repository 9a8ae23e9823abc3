"""Follows all kinds that scheduling reads: some always, some from when the server has them."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from podium.api import Kind, Object, Pod
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.discovery import served
from podium.cluster.kube.kinds import ALWAYS, OPTIONAL, SELECTORS
from podium.cluster.kube.reflector import Change, Reflector
from podium.cluster.kube.store import Store, key_of
from podium.errors import ClusterError

log = logging.getLogger("podium.cluster")

#: Seconds between two looks for optional kinds.
_DISCOVERY: Final = 10.0


class Following:
    """One reflector per kind; what they tell goes into the store.

    Nothing enters the store before every kind has been listed once. Then it enters in an order that makes
    sense: nodes first, pods last.

    Args:
        client: for lists and watches.
        store: takes everything.
        gone: called with the uid of a pod that is gone.

    """

    def __init__(self, client: KubeClient, store: Store, gone: Callable[[str], None]) -> None:
        self._client = client
        self._store = store
        self._gone = gone
        self._reflectors = [self._reflector(kind) for kind in ALWAYS]
        self._optional: dict[Kind, tuple[Reflector, asyncio.Task[None]]] = {}
        self._looked = asyncio.Event()
        self._held: dict[Kind, Sequence[Object]] | None = {}
        self.errors: dict[str, str] = {}
        """Kind to why it could not be read the last time; kinds that can be read are absent."""

    def _reflector(self, kind: Kind) -> Reflector:
        return Reflector(self._client, kind, self, SELECTORS.get(kind.name, ""))

    async def run(self) -> None:
        """Follow until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for reflector in self._reflectors:
                    group.create_task(reflector.run())
                group.create_task(self._discover())
        finally:
            tasks = [task for _, task in self._optional.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def synced(self) -> None:
        """Wait until every kind has been listed, and let everything into the store.

        Optional kinds that the server has but that may not be read are not waited for.
        """
        for reflector in self._reflectors:
            await reflector.progress.synced.wait()
        await self._looked.wait()
        for reflector, _ in [*self._optional.values()]:
            await reflector.progress.tried.wait()
        held, self._held = self._held or {}, None
        for kind in (*ALWAYS[:-1], *OPTIONAL, ALWAYS[-1]):
            if kind in held:
                self._store.replace(kind, held[kind])

    def kinds(self) -> Sequence[Kind]:
        """Return the kinds that have been listed."""
        optional = (
            kind for kind, (reflector, _) in self._optional.items() if reflector.progress.synced.is_set()
        )
        return (*ALWAYS, *optional)

    # What reflectors tell.

    def replaced(self, kind: Kind, items: Sequence[Object]) -> None:
        """Take over a list."""
        self.errors.pop(kind.name, None)
        if self._held is not None:
            self._held[kind] = items
            return
        before = {pod.metadata.uid for pod in self._store.pods()} if kind.type is Pod else set()
        self._store.replace(kind, items)
        for uid in before:
            if self._store.pod(uid) is None:
                self._gone(uid)

    def changed(self, kind: Kind, change: Change, item: Object) -> None:
        """Take over a change."""
        if self._held is not None:
            kept = [old for old in self._held.get(kind, ()) if key_of(old) != key_of(item)]
            self._held[kind] = kept if change == "DELETED" else [*kept, item]
            return
        self._store.change(change, item)
        if change == "DELETED" and isinstance(item, Pod):
            self._gone(item.metadata.uid)

    def failed(self, kind: Kind, error: ClusterError) -> None:
        """Note that a kind cannot be followed right now; it is tried again."""
        text = str(error)
        if self.errors.get(kind.name) != text:
            log.warning("%s: %s", kind.name, text)
        self.errors[kind.name] = text

    def unreadable(self, kind: Kind, text: str) -> None:
        """Note an object that cannot be read; it is passed over."""
        log.error("%s is passed over: %s", kind.name, text)

    async def _discover(self) -> None:
        """Follow optional kinds while the server has them."""
        while True:
            try:
                there = await served(self._client, OPTIONAL)
            except ClusterError as error:
                log.warning("discovery: %s", error)
            else:
                self._adopt(there)
            self._looked.set()
            await asyncio.sleep(_DISCOVERY)

    def _adopt(self, there: frozenset[Kind]) -> None:
        for kind in there - self._optional.keys():
            log.info("following %s of %s", kind.name, kind.api_version)
            reflector = self._reflector(kind)
            self._optional[kind] = reflector, asyncio.create_task(reflector.run())
        for kind in self._optional.keys() - there:
            log.info("%s of %s is gone", kind.name, kind.api_version)
            self._optional.pop(kind)[1].cancel()
            self.errors.pop(kind.name, None)
            self._store.forget(kind)
