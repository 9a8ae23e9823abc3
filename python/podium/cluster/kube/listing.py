"""Reads all objects of a kind, decoded into the structs of ``podium.api``."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from podium.api import Kind, Object
from podium.cluster.kube.client import KubeClient, path_of
from podium.cluster.kube.nesting import shallow

#: Objects in one part of a long list.
_PART: Final = 500

Unreadable = Callable[[Kind, str], None]
"""Hears of an object that cannot be read: its kind, and what is wrong."""


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class _RawList(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


class _Meta(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Head(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class Reader:
    """Decodes objects of one kind; what cannot be decoded is told and passed over."""

    def __init__(self, kind: Kind, unreadable: Unreadable) -> None:
        self.kind = kind
        self._unreadable = unreadable
        self._whole = msgspec.json.Decoder(
            msgspec.defstruct("List", [("metadata", _ListMeta), ("items", list[kind.type] | None, None)])  # type: ignore[name-defined]
        )
        self._one = msgspec.json.Decoder(kind.type)

    def items(self, body: bytes) -> tuple[str, Sequence[Object]]:
        """Return resource version and objects of a list."""
        meta, items = self._read(body)
        return meta.resource_version, items

    def part(self, body: bytes) -> tuple[str, Sequence[Object]]:
        """Return the mark at which a list goes on, empty at its end, and the objects of this part."""
        meta, items = self._read(body)
        return meta.continue_, items

    def _read(self, body: bytes) -> tuple[_ListMeta, Sequence[Object]]:
        try:
            listed: Any = self._whole.decode(body)
        except RecursionError:
            return self._read(shallow(body))
        except msgspec.DecodeError:
            raw = msgspec.json.decode(body, type=_RawList)
            found = (self.one(item) for item in raw.items or ())
            return raw.metadata, [item for item in found if item is not None]
        return listed.metadata, listed.items or ()

    def one(self, body: bytes | msgspec.Raw) -> Object | None:
        """Return one object, None if it cannot be read."""
        try:
            return self._one.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            # Most lists have no such object, and the import costs time at the start.
            from podium.api.manifest.decode import without_nulls

            try:
                plain: Any = without_nulls(msgspec.json.decode(body))
                return msgspec.convert(plain, self.kind.type)
            except (msgspec.DecodeError, RecursionError):
                self._unreadable(self.kind, f"{_name(body)}: {error}")
                return None


def _name(body: bytes | msgspec.Raw) -> str:
    try:
        meta = msgspec.json.decode(body, type=_Head).metadata
    except (msgspec.DecodeError, RecursionError):
        return "an object"
    return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name


async def list_kind(
    client: KubeClient,
    kind: Kind,
    query: Mapping[str, str] | None = None,
    unreadable: Unreadable = lambda kind, text: None,  # noqa: ARG005 (looks away)
) -> Sequence[Object]:
    """Return all objects of a kind; ``query`` may have selectors and a resource version."""
    _, items = Reader(kind, unreadable).items(await client.get(path_of(kind), query))
    return items


async def list_in_parts(
    client: KubeClient, kind: Kind, query: Mapping[str, str] | None = None, size: int = _PART
) -> AsyncIterator[Sequence[Object]]:
    """Yield all objects of a kind as they were at one moment, ``size`` at a time: few are held at once.

    Raises:
        ApiError: among others 410, where the server has forgotten that moment before the end.

    """
    reader = Reader(kind, lambda kind, text: None)  # noqa: ARG005 (looks away)
    mark, more = "", True
    while more:
        asked = {**(query or {}), "limit": str(size), **({"continue": mark} if mark else {})}
        mark, items = reader.part(await client.get(path_of(kind), asked))
        yield items
        more = bool(mark)
