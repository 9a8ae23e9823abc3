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

from podium.api import Kind, Object, Pod
from podium.api.features import DEFAULT_GATES, FeatureGates
from podium.api.gated import close
from podium.cluster.kube.binder import Binder
from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.discovery import served
from podium.cluster.kube.kinds import ALWAYS, OPTIONAL, SELECTORS
from podium.cluster.kube.recorder import Recorder
from podium.cluster.kube.reflector import Change, Reflector
from podium.cluster.kube.store import Store
from podium.cluster.kube.volumes import VolumeBinder
from podium.cluster.kube.writer import StatusWriter, preempt
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
    PatchStatus,
    Preempt,
    Returned,
)
from podium.errors import ClusterError

log = logging.getLogger("podium.cluster")

#: Seconds between two looks for optional kinds.
_DISCOVERY: Final = 30.0

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
        gone: called with the uid of a pod that is gone.

    """

    gates: FeatureGates = DEFAULT_GATES
    bind_timeout: Callable[[str], float] = lambda _name: _BIND_TIMEOUT
    wake: Callable[[], None] = lambda: None
    gone: Callable[[str], None] = lambda _uid: None


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
        self.reflectors = {kind: self._reflector(kind) for kind in ALWAYS}
        self._optional: dict[Kind, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._binder = Binder(clients.write, self.store.pod)
        self._volumes = VolumeBinder(clients.write, self.store)
        self.status = StatusWriter(clients.write, self.store.pod, self._complain)
        self.recorder = Recorder(clients.events, lambda: self.binding, self._complain)
        self._held: list[tuple[Kind, Sequence[Object]]] | None = []
        self._epoch = time.time_ns() - time.monotonic_ns()
        self._binding = 0
        self.bound = 0
        """Pods bound so far."""
        self.leaving: set[str] = set()
        """Victims that are still there."""
        self.errors: dict[str, str] = {}
        """Kind to why it could not be read the last time; kinds that can be read are absent."""

    def _reflector(self, kind: Kind) -> Reflector:
        return Reflector(self._clients.watch, kind, self, SELECTORS.get(kind.name, ""))

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
                    self._start(self._bind(uid, node))
            elif isinstance(action, BindVolumes):
                self._start(self._bind_volumes(action))
            elif isinstance(action, Call):
                self._start(self._call(action))
            elif isinstance(action, Preempt):
                self._start(self._preempt(action))
            elif isinstance(action, PatchStatus):
                if self.status.put(action):
                    self._start(self.status.run(action.uid))
            elif isinstance(action, Emit):
                self.recorder.record(action)

    # Life.

    async def run(self) -> None:
        """Follow all kinds and write events until cancelled."""
        async with asyncio.TaskGroup() as group:
            for reflector in self.reflectors.values():
                group.create_task(reflector.run())
            group.create_task(self.recorder.run())
            group.create_task(self._discover())

    async def synced(self) -> None:
        """Wait until every kind has been listed; only then there are events, in an order that makes sense."""
        for reflector in self.reflectors.values():
            await reflector.progress.synced.wait()
        held, self._held = self._held or [], None
        order = {kind: place for place, kind in enumerate((*ALWAYS[:-1], *OPTIONAL, ALWAYS[-1]))}
        for kind, items in sorted(held, key=lambda entry: order[entry[0]]):
            self.store.replace(kind, items)
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

    def _complain(self, text: str) -> None:
        log.warning("%s", text)

    async def caught_up(self, kind: Kind, listed: Sequence[Object], seconds: float = 2.0) -> None:
        """Give the watch of a kind a little time to tell of everything in a list."""
        newest = {(item.metadata.namespace, item.metadata.name): item for item in listed}
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            there = self.store.objects(kind.type)
            if sum(1 for _ in there) == len(newest) and all(self._has(item) for item in listed):
                return
            await asyncio.sleep(0.05)

    def _has(self, item: Object) -> bool:
        meta = item.metadata
        known = self.store.find(type(item), meta.namespace, meta.name)
        return known is not None and int(known.metadata.resource_version) >= int(meta.resource_version)

    # What reflectors tell.

    def replaced(self, kind: Kind, items: Sequence[Object]) -> None:
        """Take over a list."""
        self.errors.pop(kind.name, None)
        if self._held is not None:
            self._held = [entry for entry in self._held if entry[0] is not kind] + [(kind, items)]
        else:
            self.store.replace(kind, items)
            self._tidy()

    def changed(self, kind: Kind, change: Change, item: Object) -> None:
        """Take over a change."""
        if self._held is not None:
            # Not everything is listed yet: the change is a list of one, kept in its place.
            items = next((items for held, items in self._held if held is kind), ())
            at = (item.metadata.namespace, item.metadata.name)
            kept = [old for old in items if (old.metadata.namespace, old.metadata.name) != at]
            self.replaced(kind, kept if change == "DELETED" else [*kept, item])
            return
        self.store.change(change, item)
        if change == "DELETED" and isinstance(item, Pod):
            self.leaving.discard(item.metadata.uid)
            self.status.forget(item.metadata.uid)
            self.options.gone(item.metadata.uid)

    def _tidy(self) -> None:
        """Notice victims that left while nobody watched."""
        self.leaving = {uid for uid in self.leaving if self.store.pod(uid) is not None}

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
                there = await served(self._clients.watch, OPTIONAL)
            except ClusterError as error:
                log.warning("discovery: %s", error)
            else:
                for kind in there - self._optional.keys():
                    log.info("following %s of %s", kind.name, kind.api_version)
                    self._optional[kind] = asyncio.create_task(self._reflector(kind).run())
                for kind in self._optional.keys() - there:
                    log.info("%s of %s is gone", kind.name, kind.api_version)
                    self._optional.pop(kind).cancel()
                    self.store.forget(kind)
            await asyncio.sleep(_DISCOVERY)

    # What actions do.

    async def _bind(self, uid: str, node: str) -> None:
        pod = self.store.pod(uid)
        try:
            if pod is None:
                self._happen(BindFailed(uid, "the pod is gone"))
                return
            outcome = await self._binder.bind(pod, node)
            if outcome.pod is not None:
                self.store.apply(outcome.pod)
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
