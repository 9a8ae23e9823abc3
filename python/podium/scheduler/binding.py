"""The binding cycle: a state machine for each pod that has been given a node.

    assumed ──(Permit said Wait)──> WAITING ──allowed──┐
       └───────────────────────────────────────────────┴─> PRE_BINDING ──> BINDING ──> bound
    any of them ──a plugin refuses, time runs out, the pod is gone──> rolled back

A machine is keyed by (uid, epoch): the epoch grows when an attempt is given up, so an answer to a call of an
earlier attempt finds nobody. There is one way back, ``roll_back``: Unreserve of every plugin in reverse
order, off the node, back into the queue. Pods without plugins of this cycle go the short way: they are in
``Bind`` as soon as they have a node.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from podium._core import Engine
from podium.cluster.port import Action, Bind, Call, Returned
from podium.framework.events import Action as What
from podium.framework.events import Resource
from podium.framework.state import PODS_TO_ACTIVATE
from podium.framework.status import SUCCESS, Code, Status
from podium.scheduler import volumes
from podium.scheduler.assumed import DEFAULT_BINDER, Assumed, Phase
from podium.scheduler.entry import Entry
from podium.scheduler.events import bit
from podium.scheduler.failures import Failures, Refusal
from podium.scheduler.inbox import Inbox
from podium.scheduler.observer import Observer
from podium.scheduler.state import State
from podium.scheduler.waiting import SECOND, HeldPod
from podium.scheduler.way_back import WayBack

VOLUME_BINDING: Final = "VolumeBinding"

_POD_ADDED: Final = bit(Resource.ASSIGNED_POD, What.ADD)


class Binder(WayBack):
    """Takes pods from a node found to a binding."""

    def __init__(
        self, engine: Engine, state: State, failures: Failures, observers: list[Observer], inbox: Inbox
    ) -> None:
        super().__init__(engine, state, failures, observers)
        self._inbox = inbox
        self._waited: Callable[[str, float], None] | None = None

    def watch_waits(self, waited: Callable[[str, float], None]) -> None:
        """Tell of each wait in Permit how it ended and how many seconds it took."""
        self._waited = waited

    def begin_plain(self, entries: Sequence[Entry], nodes: Sequence[str], actions: list[Action]) -> None:
        """Bind pods that the core has placed and that no plugin of the caller's concerns."""
        for entry, node in zip(entries, nodes, strict=True):
            entry.node = node
        writing = {e.handle for e in entries if e.pod.spec.volumes and self._writes_volumes(e, actions)}
        if writing:
            plain = [(e, node) for e, node in zip(entries, nodes, strict=True) if e.handle not in writing]
            entries, nodes = [entry for entry, _ in plain], [node for _, node in plain]
        if entries:
            uids = [entry.pod.metadata.uid for entry in entries]
            self._plain.update(uids)
            actions.append(Bind(uids, list(nodes)))

    def _writes_volumes(self, entry: Entry, actions: list[Action]) -> bool:
        write = volumes.begin(self._engine, entry)
        if write is None:
            return False
        assumed = self._enter(Assumed(entry, entry.node or ""), Phase.PRE_BINDING)
        assumed.calls.add(VOLUME_BINDING)
        actions.append(write)
        return True

    def begin(
        self,
        assumed: Assumed,
        now: int,
        actions: list[Action],
        waits: Mapping[str, float] | None = None,
    ) -> None:
        """Send a pod that is on its node's books through the binding cycle.

        ``waits`` maps plugins to seconds: the pod is held until each of them has allowed it, or one rejects
        it or its time is over.
        """
        entry = assumed.entry
        entry.node = assumed.node
        self._enter(assumed, Phase.WAITING if waits else Phase.PRE_BINDING)
        if assumed.runner is not None:
            status = assumed.runner.pre_flight(assumed.state, entry.pod, assumed.node)
            if not (status.is_success or status.code is Code.SKIP):
                self.roll_back(assumed, Refusal.while_binding(status), now, actions)
                return
        if waits:
            self.waiting.hold(entry.pod, assumed.node, waits)
        else:
            self._permitted(assumed, now, actions)
        self._activate(assumed)

    def _activate(self, assumed: Assumed) -> None:
        """Ask for the pods that a plugin left in the state to be tried at once."""
        if assumed.state.is_empty:
            return
        pods = assumed.state.get(PODS_TO_ACTIVATE)
        if pods:
            self._inbox.activate(pods.values())
            assumed.state.delete(PODS_TO_ACTIVATE)

    def take_decisions(self, now: int, actions: list[Action]) -> None:
        """Let pods whose wait in Permit is over go on or go back, in the order of the decisions.

        Whoever goes back may take others along, so it goes on until nobody is left that was decided.
        """
        while taken := self.waiting.take():
            self._decided(taken, now, actions)

    def _decided(self, taken: Sequence[HeldPod], now: int, actions: list[Action]) -> None:
        for held in taken:
            assumed = self._assumed.get(held.pod.metadata.uid)
            decision = held.decision
            if decision is not None and self._waited is not None:
                self._waited(str(decision.code), (now - held.since) / SECOND)
            if assumed is None or assumed.phase is not Phase.WAITING or decision is None:
                continue
            if decision.is_success:
                assumed.phase = Phase.PRE_BINDING
                self._busy += 1
                self._permitted(assumed, now, actions)
            else:
                self.roll_back(assumed, _after_waiting(decision), now, actions)

    def _permitted(self, assumed: Assumed, now: int, actions: list[Action]) -> None:
        """Go on after Permit: events mean nothing to the pod from now on."""
        self._engine.settle(assumed.entry.handle)
        self._state.announce(assumed.entry, _POD_ADDED, now)
        if assumed.runner is not None:
            assumed.groups = assumed.runner.pre_bind_groups(assumed.state)
            assumed.binders = assumed.runner.binders(assumed.state)
        if assumed.entry.pod.spec.volumes and self._engine.volume_writes(assumed.entry.handle):
            assumed.groups.insert(0, [VOLUME_BINDING])
        self._go_on(assumed, now, actions)

    def _go_on(self, assumed: Assumed, now: int, actions: list[Action]) -> None:
        if assumed.calls:
            return
        if assumed.refusal is not None:
            self.roll_back(assumed, Refusal.while_binding(assumed.refusal), now, actions)
        elif assumed.groups:
            for plugin in assumed.groups.pop(0):
                self._call(assumed, "preBind", plugin, actions)
        else:
            self._bind(assumed, now, actions)

    def _call(self, assumed: Assumed, point: str, plugin: str, actions: list[Action]) -> None:
        entry, runner = assumed.entry, assumed.runner
        assumed.calls.add(plugin)
        if plugin == VOLUME_BINDING and point == "preBind":
            write = volumes.begin(self._engine, entry)
            assert write is not None, "VolumeBinding is called only where it has something to write"
            actions.append(write)
            return
        assert runner is not None, "only a runner has plugins to call"
        start, is_async = runner.caller(point, plugin)
        pod, node = entry.pod, assumed.node
        run = partial(start, assumed.state, pod, node)
        actions.append(Call(pod.metadata.uid, assumed.epoch, point, plugin, node, run, is_async))

    def _bind(self, assumed: Assumed, now: int, actions: list[Action]) -> None:
        assumed.phase = Phase.BINDING
        if not assumed.binders:
            self.roll_back(assumed, Refusal("error", "every Bind plugin skipped the pod"), now, actions)
            return
        binder = assumed.binders.pop(0)
        if binder == DEFAULT_BINDER:
            _append_bind(assumed.entry.pod.metadata.uid, assumed.node, actions)
        else:
            self._call(assumed, "bind", binder, actions)

    def returned(self, event: Returned, now: int, actions: list[Action]) -> None:
        """Take the answer of a plugin; one to an earlier epoch, or that nobody awaits, is dropped."""
        assumed = self._assumed.get(event.uid)
        if assumed is None or assumed.epoch != event.epoch or event.plugin not in assumed.calls:
            return
        assumed.calls.discard(event.plugin)
        answer = event.answer
        status = answer if isinstance(answer, Status) else self._status(event, assumed.entry)
        if event.point == "preBind":
            if not status.is_success and assumed.refusal is None:
                assumed.refusal = status
            self._go_on(assumed, now, actions)
        elif status.is_success:
            self.bound([event.uid], actions)
        elif status.code is Code.SKIP:
            self._bind(assumed, now, actions)
        else:
            self.roll_back(assumed, Refusal.while_binding(status), now, actions)

    def _status(self, event: Returned, entry: Entry) -> Status:
        message = event.message
        if event.plugin == VOLUME_BINDING and not message:
            message = volumes.problem(self._engine, entry)
        if not message:
            return SUCCESS
        return Status.error(
            f'running {event.point[0].upper()}{event.point[1:]} plugin "{event.plugin}": {message}'
        )

    def bound(self, uids: Sequence[str], actions: list[Action]) -> None:
        """Note bindings that succeeded."""
        self._plain.difference_update(uids)
        for uid in uids if self._assumed else ():
            assumed = self._assumed.get(uid)
            if assumed is not None:
                self._leave(assumed)
                self._after_binding(assumed, actions)
        entries = self._state.entries_of(uids)
        if not entries:
            return
        self._engine.confirm(np.asarray([entry.handle for entry in entries], dtype=np.uint32))
        for observer in self._observers:
            observer.bound(entries)

    def _after_binding(self, assumed: Assumed, actions: list[Action]) -> None:
        if assumed.runner is None:
            return
        for plugin in assumed.runner.concerned_at("postBind", assumed.state):
            self._call(assumed, "postBind", plugin, actions)
        self._activate(assumed)

    def bind_failed(self, uid: str, message: str, now: int, actions: list[Action]) -> None:
        """Roll back a pod whose binding was refused."""
        entry = self._state.entry(uid)
        if entry is None:
            self._plain.discard(uid)
            return
        assumed = self._assumed.get(uid)
        if assumed is None:
            if uid not in self._plain or entry.node is None:
                return
            assumed = Assumed(entry, entry.node)
            assumed.phase = Phase.BINDING
        self.roll_back(assumed, Refusal("error", message), now, actions)


def _after_waiting(decision: Status) -> Refusal:
    if decision.is_rejected:
        return Refusal.on_one_node(decision)
    return Refusal("error", f"waiting on permit for pod: {decision.message}")


def _append_bind(uid: str, node: str, actions: list[Action]) -> None:
    """Ask for a binding, together with the one asked for last if nothing came between."""
    last = actions[-1] if actions else None
    if isinstance(last, Bind) and isinstance(last.uids, list) and isinstance(last.nodes, list):
        last.uids.append(uid)
        last.nodes.append(node)
    else:
        actions.append(Bind([uid], [node]))
