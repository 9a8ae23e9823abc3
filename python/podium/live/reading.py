"""Reads a live cluster once, without ever writing: for ``explain``, ``simulate`` and ``dump``."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from podium.api import BY_NAME, Kind
from podium.cluster.kube.client import KubeClient, path_of
from podium.cluster.kube.connection import Connection
from podium.cluster.kube.discovery import served
from podium.cluster.kube.kinds import ALWAYS, OPTIONAL, SELECTORS

#: What admission of new pods needs beside what scheduling reads.
_ADMISSION: Final = tuple(
    BY_NAME[key]
    for key in (
        ("v1", "LimitRange"),
        ("scheduling.k8s.io/v1", "PriorityClass"),
        ("node.k8s.io/v1", "RuntimeClass"),
    )
)
_METRICS: Final = tuple(BY_NAME["metrics.k8s.io/v1beta1", kind] for kind in ("NodeMetrics", "PodMetrics"))

Object = Mapping[str, Any]
"""Plain data as the API server has it, with apiVersion and kind, without managedFields."""


class _List(msgspec.Struct):
    items: list[dict[str, Any]] = []


def read(connection: Connection) -> dict[Kind, Sequence[Object]]:
    """Return all objects that scheduling and admission read, by kind, nodes first, pods last.

    Raises:
        ApiError: something may not be read; the message names the verb and the resource.
        Unreachable: there is no answer.

    """
    return asyncio.run(_read(connection))


async def _read(connection: Connection) -> dict[Kind, Sequence[Object]]:
    async with KubeClient(connection) as client:
        optional = await served(client, (*OPTIONAL, *_METRICS))
        extra = tuple(kind for kind in (*OPTIONAL, *_METRICS) if kind in optional)
        kinds = (*ALWAYS[:-1], *_ADMISSION, *extra, ALWAYS[-1])
        found = await asyncio.gather(*(_objects(client, kind) for kind in kinds))
    return dict(zip(kinds, found, strict=True))


async def _objects(client: KubeClient, kind: Kind) -> list[Object]:
    selector = SELECTORS.get(kind.name)
    body = await client.get(path_of(kind), {"fieldSelector": selector} if selector else None)
    items = msgspec.json.decode(body, type=_List).items
    for item in items:
        item.get("metadata", {}).pop("managedFields", None)
    return [{"apiVersion": kind.api_version, "kind": kind.name, **item} for item in items]
