"""The scheduler's port on a real cluster: watches become events, actions become requests, answers events.

The life of a pod here::

    Pending ──Bind──> Assumed ──201, or the watch shows it──> Bound ──> the watch shows it on its node
       ^                 │ refused, or gone
       └──BindFailed─────┘

An assumed pod never expires by time: its binding is repeated until it is known what became of it
(``binder``). All methods belong to the asyncio loop; the scheduler's step may run elsewhere meanwhile.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final

from podium.api import Pod
from podium.api.features import DEFAULT_GATES, FeatureGates
from podium.api.gated import close
from podium.cluster.kube.binder import Binder
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.following import Following
from podium.cluster.kube.groups import GroupWriter
from podium.cluster.kube.recorder import Recorder
from podium.cluster.kube.store import Store
from podium.cluster.kube.volumes import VolumeBinder
from podium.cluster.kube.writer import StatusWriter, preempt, withdraw
from podium.cluster.port import (
    Action,
    Answer,
    Bind,
    BindFailed,
    BindVolumes,
    Bound,
    Call,
    Emit,
    Event,
    Evict,
    PatchGroup,
    PatchStatus,
    Preempt,
    Returned,
)
from podium.errors import ClusterError

log = logging.getLogger("podium.cluster")

_BIND_TIMEOUT: Final = 600.0


@dataclass(frozen=True, slots=True)
class Clients:
    """One client per purpose, so that none waits for another's rate limit or connections."""

    watch: KubeClient
    write: KubeClient
    events: KubeClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the backend behaves.

    Attributes:
        gates: fields of closed gates are not heeded.
        bind_timeout: seconds that volumes get to be bound, by scheduler name.
        wake: called when there are events to take.

    """

    gates: FeatureGates = DEFAULT_GATES
    bind_timeout: Callable[[str], float] = lambda _name: _BIND_TIMEOUT
    wake: Callable[[], None] = lambda: None


class KubeCluster:
    """A cluster behind an API server.

    Args:
        clients: open clients.
        options: see there.

    """

    def __init__(self, clients: Clients, options: Options | None = None) -> None:
        self.options = options or Options()
        self._clients = clients
        self._inbox: list[Event] = []
        self._bound: list[str] = []
        self.store = Store(self._happen, lambda item: close(item, self.options.gates))
        self.following = Following(clients.watch, self.store, self._gone)
        self._tasks: set[asyncio.Task[None]] = set()
        self._binder = Binder(clients.write, self.store.pod)
        self._volumes = VolumeBinder(clients.write, self.store)
        self.status = StatusWriter(clients.write, self.store.pod, self._complain)
        self._groups = GroupWriter(clients.write, self.store, self._complain)
        self.recorder = Recorder(clients.events, lambda: self.binding, self._complain)
        self._epoch = time.time_ns() - time.monotonic_ns()
        self._binding = 0
        self.bound = 0
        """Pods bound so far."""
        self.leaving: set[str] = set()
        """Victims that are still there."""

    # The port.

    def now(self) -> int:
        """Return nanoseconds since the epoch, on a clock that never jumps."""
        return self._epoch + time.monotonic_ns()

    def events(self) -> Sequence[Event]:
        """Return what happened since the last call."""
        happened, self._inbox = self._inbox, []
        if self._bound:
            happened.append(Bound(self._bound))
            self._bound = []
        return happened

    def perform(self, actions: Sequence[Action]) -> None:
        """Begin to carry out actions."""
        for action in actions:
            if isinstance(action, Bind):
                for uid, node in zip(action.uids, action.nodes, strict=True):
                    self._binding += 1
                    self.status.drop(uid)
                    self._start(self._bind(uid, node))
            elif isinstance(action, BindVolumes):
                self._start(self._bind_volumes(action))
            elif isinstance(action, Call):
                self._start(self._call(action))
            elif isinstance(action, Preempt):
                self._start(self._preempt(action))
            elif isinstance(action, Evict):
                self._start(self._withdraw(action))
            elif isinstance(action, PatchGroup):
                if self._groups.put(action):
                    self._start(self._groups.run(action.group.metadata.uid))
            elif isinstance(action, PatchStatus):
                if self.status.put(action):
                    self._start(self.status.run(action.uid))
            elif isinstance(action, Emit):
                self.recorder.record(action)

    # Life.

    async def run(self) -> None:
        """Follow all kinds and write events until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.following.run())
            group.create_task(self.recorder.run())

    async def synced(self) -> None:
        """Wait until every kind has been listed; before that there are no events."""
        await self.following.synced()
        self.options.wake()

    @property
    def binding(self) -> int:
        """How many bindings are under way."""
        return self._binding

    @property
    def idle(self) -> bool:
        """Whether nothing is under way that may still bring about an event."""
        return not (self.binding or self._tasks or self._inbox or self._bound or self.leaving)

    async def settle(self, seconds: float) -> bool:
        """Wait until all requests have been answered, at most so long; returns whether they have."""
        self.status.hurry()
        if self._tasks:
            await asyncio.wait([*self._tasks], timeout=seconds)
        return not self._tasks

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a request ended in a defect", exc_info=error)
        self.options.wake()

    def _happen(self, event: Event) -> None:
        if not self._inbox:
            self.options.wake()
        self._inbox.append(event)

    def _gone(self, uid: str) -> None:
        self.leaving.discard(uid)
        self.status.forget(uid)
        self.recorder.forget(uid)

    def _complain(self, text: str) -> None:
        log.warning("%s", text)

    # What actions do.

    async def _bind(self, uid: str, node: str) -> None:
        pod = self.store.pod(uid)
        try:
            if pod is None:
                self._happen(BindFailed(uid, "the pod is gone"))
                return
            outcome = await self._binder.bind(pod, node)
            if outcome.pod is not None:
                self.store.answered(outcome.pod)
            if outcome.result == "failed":
                self._happen(BindFailed(uid, f'running Bind plugin "DefaultBinder": {outcome.message}'))
                return
            # Where another scheduler was faster, the event above has moved the pod to its node.
            if not self._bound:
                self.options.wake()
            self._bound.append(uid)
            if outcome.result == "bound":
                self.bound += 1
                self._announce(pod, node)
        finally:
            self._binding -= 1

    def _announce(self, pod: Pod, node: str) -> None:
        meta = pod.metadata
        note = f"Successfully assigned {meta.namespace}/{meta.name} to {node}"
        self.recorder.record(Emit(pod, "Normal", "Scheduled", "Binding", note))

    async def _bind_volumes(self, action: BindVolumes) -> None:
        pod = self.store.pod(action.uid)
        message = "the pod is gone"
        if pod is not None:
            timeout = self.options.bind_timeout(pod.spec.scheduler_name)
            message = await self._volumes.bind(action, timeout)
        self._happen(Returned(action.uid, action.epoch, "preBind", "VolumeBinding", message))

    async def _call(self, action: Call) -> None:
        """Run a plugin of the binding cycle: a coroutine here, anything else on a worker thread."""
        given = action.run() if action.is_async else await asyncio.to_thread(action.run)
        answer: Answer = await given if isinstance(given, Awaitable) else given
        self._happen(Returned(action.uid, action.epoch, action.point, action.plugin, answer=answer))
        if action.point == "bind" and answer.is_success:
            pod = self.store.pod(action.uid)
            if pod is not None:
                self._announce(pod, action.node)

    async def _preempt(self, action: Preempt) -> None:
        victim = action.victim
        self.leaving.add(victim.metadata.uid)
        try:
            await preempt(self._clients.write, action)
        except ClusterError as error:
            self.leaving.discard(victim.metadata.uid)
            self._complain(f"preempting {victim.metadata.namespace}/{victim.metadata.name}: {error}")
            return
        if self.store.pod(victim.metadata.uid) is None:
            self.leaving.discard(victim.metadata.uid)
        note = f"Preempted by pod {action.by.metadata.uid} on node {action.node}"
        self.recorder.record(Emit(victim, "Normal", "Preempted", "Preempting", note, action.by))
        self._inform(action)

    async def _withdraw(self, action: Evict) -> None:
        meta = action.pod.metadata
        self.leaving.add(meta.uid)
        try:
            await withdraw(self._clients.write, action)
        except ClusterError as error:
            self.leaving.discard(meta.uid)
            self._complain(f"withdrawing {meta.namespace}/{meta.name}: {error}")
            return
        if self.store.pod(meta.uid) is None:
            self.leaving.discard(meta.uid)
        log.info("withdrew %s/%s: %s", meta.namespace, meta.name, action.message)

    def _inform(self, action: Preempt) -> None:
        """Tell the log; the victim's owner asks there first."""
        by = action.by.metadata
        victim = action.victim.metadata
        log.info(
            "preempted %s/%s on %s for %s/%s",
            victim.namespace,
            victim.name,
            action.node,
            by.namespace,
            by.name,
        )
