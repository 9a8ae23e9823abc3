"""Writes how gangs stand into the status of their PodGroups, of whichever API."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from podium.api import BY_TYPE, Object, PodGroup
from podium.cluster.kube.client import MERGE, STRATEGIC, KubeClient, path_of
from podium.cluster.kube.nesting import shallow
from podium.cluster.kube.pace import Backoff, persist
from podium.cluster.kube.store import Store
from podium.cluster.port import PatchGroup
from podium.errors import ApiError, Unreachable

_NOT_FOUND, _CONFLICT = 404, 409

#: The longest message of a condition (metav1.Condition).
_LONGEST: Final = 32768

Wire = dict[str, Any]


class GroupWriter:
    """Keeps the status of PodGroups as the scheduler last said; only the newest word about a group is sent.

    Conditions of other types, which others wrote, stay. A group of ``scheduling.k8s.io`` that was scheduled
    once stays so (kube-scheduler's rule: the condition tells of the first success).

    Args:
        client: sends.
        store: the groups as the watch last showed them.
        log: hears of what was refused.

    """

    def __init__(self, client: KubeClient, store: Store, log: Callable[[str], None]) -> None:
        self._client = client
        self._store = store
        self._log = log
        self._next: dict[str, PatchGroup] = {}
        self._running: set[str] = set()

    def put(self, action: PatchGroup) -> bool:
        """Take a word; returns whether ``run`` has to be started for its group."""
        uid = action.group.metadata.uid
        self._next[uid] = action
        if uid in self._running:
            return False
        self._running.add(uid)
        return True

    async def run(self, uid: str) -> None:
        """Send what is to be said of a group until nothing is left."""
        backoff = Backoff(1.0, 30.0)
        try:
            while (action := self._next.pop(uid, None)) is not None:
                try:
                    await self._write(action)
                except Unreachable:
                    self._next.setdefault(uid, action)
                    await backoff.wait()
                except ApiError as error:
                    meta = action.group.metadata
                    self._log(f"status of group {meta.namespace}/{meta.name}: {error}")
        finally:
            self._running.discard(uid)

    async def _write(self, action: PatchGroup) -> None:
        """Send one word; a group that is gone needs none."""
        kind, meta = BY_TYPE[type(action.group)], action.group.metadata

        async def send() -> bytes | None:
            now = self._store.find(kind.type, meta.namespace, meta.name)
            if now is None or now.metadata.uid != meta.uid:
                return None
            if isinstance(now, PodGroup):
                return await _built_in(self._client, now, action.status)
            return await _custom(self._client, now, action.status)

        try:
            answer = await persist(send)
        except ApiError as error:
            if error.status not in {_NOT_FOUND, _CONFLICT}:
                raise
            return
        if answer is not None:
            self._store.answered(msgspec.json.decode(shallow(answer), type=kind.type))


async def _built_in(client: KubeClient, group: PodGroup, status: Mapping[str, Any]) -> bytes | None:
    """Patch a group of the API server's own, which merges conditions by their type."""
    known = {condition.type: condition for condition in group.status.conditions}
    news = []
    for condition in status["conditions"]:
        old = known.get(condition["type"])
        if old is not None:
            if old.status == "True" and condition["status"] != "True":
                continue
            if (old.status, old.reason, old.message) == _said(condition):
                continue
        same = old is not None and old.status == condition["status"]
        news.append(
            {
                **condition,
                "message": condition["message"][:_LONGEST],
                "observedGeneration": group.metadata.generation,
                "lastTransitionTime": old.last_transition_time if same and old is not None else _now(),
            }
        )
    if not news:
        return None
    # The uid makes the server refuse the patch if another group has taken the name.
    patch = {"metadata": {"uid": group.metadata.uid}, "status": {"conditions": news}}
    return await client.patch(_status_path(group), patch, STRATEGIC)


async def _custom(client: KubeClient, group: Object, status: Mapping[str, Any]) -> bytes:
    """Patch a custom resource, whose lists are replaced as a whole: read what others wrote first."""
    body = await client.get(_path(group))
    raw: Wire = msgspec.json.decode(shallow(body))
    said: Wire = dict(status)
    if "conditions" in said:
        said["conditions"] = _merged(raw.get("status", {}).get("conditions") or [], said["conditions"])
    version = raw["metadata"]["resourceVersion"]
    patch = {"metadata": {"uid": group.metadata.uid, "resourceVersion": version}, "status": said}
    return await client.patch(_status_path(group), patch, MERGE)


def _merged(old: Sequence[Wire], new: Sequence[Wire]) -> list[Wire]:
    fresh = {condition["type"]: condition for condition in new}
    before = {condition.get("type"): condition for condition in old}
    for name, condition in fresh.items():
        known = before.get(name, {})
        same = known.get("status") == condition["status"] and known.get("lastTransitionTime")
        condition = {**condition, "lastTransitionTime": known["lastTransitionTime"] if same else _now()}
        fresh[name] = condition
    return [*(c for c in old if c.get("type") not in fresh), *fresh.values()]


def _said(condition: Mapping[str, Any]) -> tuple[str, str, str]:
    return condition["status"], condition["reason"], condition["message"][:_LONGEST]


def _path(group: Object) -> str:
    return path_of(BY_TYPE[type(group)], group.metadata.namespace, group.metadata.name)


def _status_path(group: Object) -> str:
    return f"{_path(group)}/status"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
