"""Finds out which optional kinds a server has."""

from collections.abc import Iterable

import msgspec

from podium.api import Kind
from podium.cluster.kube.client import KubeClient
from podium.errors import ApiError

_NOT_FOUND = 404


class _Resource(msgspec.Struct):
    name: str
    kind: str


class _Resources(msgspec.Struct):
    resources: list[_Resource] = []


async def served(client: KubeClient, kinds: Iterable[Kind]) -> frozenset[Kind]:
    """Return those kinds that the server has."""
    found: set[Kind] = set()
    wanted = list(kinds)
    for version in dict.fromkeys(kind.api_version for kind in wanted):
        try:
            body = await client.get(f"/apis/{version}")
        except ApiError as error:
            if error.status == _NOT_FOUND:
                continue
            raise
        names = {entry.name for entry in msgspec.json.decode(body, type=_Resources).resources}
        found.update(kind for kind in wanted if kind.api_version == version and kind.plural in names)
    return frozenset(found)
