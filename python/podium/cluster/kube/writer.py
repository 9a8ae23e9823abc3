"""Changes pods: the PodScheduled condition and nomination, preemption, and the Eviction subresource."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from podium.api import BY_TYPE, Condition, Pod
from podium.cluster.kube.client import STRATEGIC, KubeClient, path_of
from podium.cluster.kube.pace import persist
from podium.cluster.kube.recorder import REST
from podium.cluster.port import Evict, PatchStatus, Preempt
from podium.errors import ApiError, Unreachable

_PODS: Final = BY_TYPE[Pod]
_NOT_FOUND, _CONFLICT = 404, 409


class _Written(NamedTuple):
    """What was last said of a pod, and when."""

    reason: str
    message: str
    nominated: str | None
    at: float


class StatusWriter:
    """Writes why a pod is pending. A newer word about a pod replaces one that has not been sent yet.

    A new reason or nomination is sent at once, another text only some time after the last.

    Args:
        client: sends.
        seen: returns a pod as the watch last showed it, None if it is gone.
        log: hears of what could not be written.
        rest: the least seconds between two texts.

    """

    def __init__(
        self,
        client: KubeClient,
        seen: Callable[[str], Pod | None],
        log: Callable[[str], None],
        rest: float = REST,
    ) -> None:
        self._client = client
        self._seen = seen
        self._log = log
        self._rest = rest
        self._next: dict[str, PatchStatus] = {}
        self._written: dict[str, _Written] = {}
        self._running: set[str] = set()
        self._resting: dict[str, asyncio.Event] = {}

    @property
    def unwritten(self) -> int:
        """How many words have not been sent."""
        return len(self._next) + len(self._running)

    def put(self, action: PatchStatus) -> bool:
        """Take a word; returns whether ``run`` has to be started for its pod."""
        waiting = self._next.get(action.uid)
        if waiting is not None and action.nominated is None:
            action = PatchStatus(action.uid, action.reason, action.message, waiting.nominated)
        self._next[action.uid] = action
        resting = self._resting.get(action.uid)
        if resting is not None and not self._can_wait(action):
            resting.set()
        return action.uid not in self._running

    def drop(self, uid: str) -> None:
        """Leave unsaid what waits to be said of a pod: it has been given a node since, or is gone."""
        self._next.pop(uid, None)
        if (resting := self._resting.get(uid)) is not None:
            resting.set()

    def hurry(self) -> None:
        """Send what waits, from now on without rests: the process is about to end."""
        self._rest = 0.0
        for resting in self._resting.values():
            resting.set()

    def _can_wait(self, action: PatchStatus) -> bool:
        said = self._written.get(action.uid)
        if said is None or said.reason != action.reason:
            return False
        return action.nominated is None or action.nominated == said.nominated

    async def run(self, uid: str) -> None:
        """Send what is to be said of a pod until nothing is left."""
        self._running.add(uid)
        try:
            while uid in self._next:
                await self._pause(uid)
                action, pod = self._next.pop(uid, None), self._seen(uid)
                if action is None:
                    return
                patch = None if pod is None else self._patch(pod, action)
                if pod is None or patch is None:
                    continue
                if await self._send(pod, patch) and self._seen(uid) is not None:
                    self._written[uid] = _Written(
                        action.reason, action.message, action.nominated, time.monotonic()
                    )
        finally:
            self._running.discard(uid)

    async def _pause(self, uid: str) -> None:
        """Let newer words replace the one that waits, until it is time or one comes that cannot wait."""
        said = self._written.get(uid)
        if said is None or not self._can_wait(self._next[uid]):
            return
        resting = self._resting[uid] = asyncio.Event()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(said.at + self._rest - time.monotonic()):
                await resting.wait()
        del self._resting[uid]

    def forget(self, uid: str) -> None:
        """Hear that a pod is gone."""
        self._written.pop(uid, None)
        self.drop(uid)

    def _patch(self, pod: Pod, action: PatchStatus) -> dict[str, Any] | None:
        """Return a strategic merge patch, None where it would change nothing."""
        if pod.spec.node_name:
            return None
        said = self._written.get(action.uid)
        old = next((c for c in pod.status.conditions if c.type == "PodScheduled"), Condition())
        same = (old.status, old.reason, old.message) == ("False", action.reason, action.message)
        same = same or (said is not None and (said.reason, said.message) == (action.reason, action.message))
        nominated = action.nominated
        stands = nominated is None or nominated == pod.status.nominated_node_name
        if same and stands:
            return None
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": action.reason,
            "message": action.message,
            "lastProbeTime": None,
            "lastTransitionTime": old.last_transition_time if old.status == "False" else now,
        }
        status: dict[str, Any] = {"conditions": [condition]}
        if not stands:
            status["nominatedNodeName"] = nominated or None
        # The uid makes the server refuse the patch if another pod has taken the name.
        return {"metadata": {"uid": action.uid}, "status": status}

    async def _send(self, pod: Pod, patch: dict[str, Any]) -> bool:
        meta = pod.metadata
        path = path_of(_PODS, meta.namespace, meta.name, below="status")
        try:
            await persist(lambda: self._client.patch(path, patch, STRATEGIC))
        except ApiError as error:
            if error.status not in {_NOT_FOUND, _CONFLICT}:
                self._log(f"status of pod {meta.namespace}/{meta.name}: {error}")
            return False
        except Unreachable as error:
            self._log(f"status of pod {meta.namespace}/{meta.name}: {error}")
            return False
        return True


async def preempt(client: KubeClient, action: Preempt) -> None:
    """Make a victim leave: say why in its status, then delete it; one that is gone already is fine.

    Raises:
        ApiError, Unreachable: it stays.

    """
    scheduler = action.by.spec.scheduler_name
    message = f"{scheduler}: preempting to accommodate a higher priority pod"
    await _disrupt(client, action.victim, "PreemptionByScheduler", message)


async def withdraw(client: KubeClient, action: Evict) -> None:
    """Delete a pod whose gang cannot be completed; one that is gone already is fine.

    Raises:
        ApiError, Unreachable: it stays.

    """
    await _disrupt(client, action.pod, "GangIncomplete", action.message)


async def _disrupt(client: KubeClient, pod: Pod, reason: str, message: str) -> None:
    meta = pod.metadata
    path = path_of(_PODS, meta.namespace, meta.name)
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    patch = {"metadata": {"uid": meta.uid}, "status": {"conditions": [condition]}}
    try:
        await persist(lambda: client.patch(f"{path}/status", patch, STRATEGIC))
        # The uid keeps a new pod of the same name alive.
        await persist(lambda: client.delete(path, _delete_options(meta.uid)))
    except ApiError as error:
        if error.status not in {_NOT_FOUND, _CONFLICT}:
            raise


def _delete_options(uid: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}


async def evict(client: KubeClient, pod: Pod, grace_seconds: int | None = None) -> None:
    """Evict a pod through the Eviction subresource, which heeds PodDisruptionBudgets.

    Raises:
        ApiError: with status 429 if a budget forbids it, 404 or 409 if the pod is gone.

    """
    meta = pod.metadata
    options = _delete_options(meta.uid)
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": meta.name, "namespace": meta.namespace},
        "deleteOptions": options,
    }
    path = path_of(_PODS, meta.namespace, meta.name, below="eviction")
    await client.request("POST", path, body=body, tries=1)
