"""What the watches have told: objects by name and pods by uid, turned into the scheduler's events.

A list is compared with what is known, so that an object that was deleted, or replaced by another of the same
name, while nobody watched is told as gone. Updates that change nothing the scheduler reads are not told.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from podium.api import BY_TYPE, Kind, Object, Pod
from podium.cluster.kube.reflector import Change
from podium.cluster.port import Applied, Event, Removed

Key = tuple[str, str]
"""Namespace and name."""


def key_of(item: Object) -> Key:
    """Return namespace and name."""
    return item.metadata.namespace, item.metadata.name


class Store:
    """The objects of all kinds.

    Args:
        tell: hears every event.
        admit: prepares an object that was read; what it raises keeps the object out.

    """

    def __init__(self, tell: Callable[[Event], None], admit: Callable[[Object], None]) -> None:
        self._tell = tell
        self._admit = admit
        self._kinds: dict[type[Object], dict[Key, Object]] = {}
        self._pods: dict[str, Pod] = {}
        self._removals: list[set[str]] = []

    def pod(self, uid: str) -> Pod | None:
        """Return a pod as it was last seen, None if it is gone."""
        return self._pods.get(uid)

    def pods(self) -> Iterable[Pod]:
        """Return all pods as they were last seen."""
        return self._pods.values()

    def objects(self, of: type[Object]) -> Iterable[Object]:
        """Return all objects of a kind."""
        return self._kinds.get(of, {}).values()

    def find(self, of: type[Object], namespace: str, name: str) -> Object | None:
        """Return one object, None if there is none."""
        return self._kinds.get(of, {}).get((namespace, name))

    def replace(self, kind: Kind, items: Sequence[Object]) -> None:
        """Take over a list: what is in it is there, everything else is gone."""
        known = self._kinds.setdefault(kind.type, {})
        for key in known.keys() - {key_of(item) for item in items}:
            self._remove(known[key])
        for item in items:
            self.apply(item)

    def change(self, change: Change, item: Object) -> None:
        """Take over one change."""
        if change == "DELETED":
            known = self._kinds.get(type(item), {}).get(key_of(item))
            if known is not None and known.metadata.uid == item.metadata.uid:
                self._remove(known)
        else:
            self.apply(item)

    def apply(self, item: Object) -> None:
        """Take over an object, unless a newer version of it is known."""
        known = self._kinds.setdefault(type(item), {})
        key = key_of(item)
        old = known.get(key)
        if old is not None and old.metadata.uid != item.metadata.uid:
            self._remove(old)
            old = None
        if old is not None and version_of(item) <= version_of(old):
            return
        self._admit(item)
        known[key] = item
        if isinstance(item, Pod):
            self._pods[item.metadata.uid] = item
        if old is None or not _alike(old, item):
            self._tell(Applied(item))

    def answered(self, item: Object) -> None:
        """Take over an object from the answer to a request; it may be older than what was told since.

        An object that is not known any more, or has given its name to another one, is gone for good: its
        answer was on its way for longer than the news of its end.
        """
        known = self.find(type(item), *key_of(item))
        if known is not None and known.metadata.uid == item.metadata.uid:
            self.apply(item)

    @contextmanager
    def noting_removals(self) -> Iterator[set[str]]:
        """Gather the uids of all objects that go while the block runs."""
        gone: set[str] = set()
        self._removals.append(gone)
        try:
            yield gone
        finally:
            self._removals = [each for each in self._removals if each is not gone]

    def _remove(self, item: Object) -> None:
        for gone in self._removals:
            gone.add(item.metadata.uid)
        del self._kinds[type(item)][key_of(item)]
        if isinstance(item, Pod):
            self._pods.pop(item.metadata.uid, None)
        self._tell(Removed(item))

    def forget(self, kind: Kind) -> None:
        """Drop all objects of a kind that is served no more."""
        for item in [*self._kinds.get(kind.type, {}).values()]:
            self._remove(item)

    def sizes(self) -> dict[str, int]:
        """Return the number of objects by kind."""
        return {BY_TYPE[of].name: len(objects) for of, objects in self._kinds.items()}


def version_of(item: Object) -> int:
    """Return the resource version: a number that grows (KEP-5504)."""
    version = item.metadata.resource_version
    return int(version) if version.isdecimal() else 0


def _alike(old: Object, new: Object) -> bool:
    """Whether two versions differ in nothing that was decoded."""
    metadata = msgspec.structs.replace(new.metadata, resource_version=old.metadata.resource_version)
    return bool(metadata == old.metadata and msgspec.structs.replace(new, metadata=metadata) == old)
