"""The scheduler's view of the cluster: API objects beside the core's snapshot, in step with it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.api import Node, Object, Pod, PodSpec, kind_of
from podium.cluster.port import Applied, Event, Removed
from podium.framework.events import Action, Resource
from podium.scheduler import changes
from podium.scheduler.arrivals import Arrivals
from podium.scheduler.entries import Entries
from podium.scheduler.entry import Concern, Entry
from podium.scheduler.events import bit
from podium.scheduler.followers import Follower, GangMembers, QueueOrder
from podium.scheduler.gates import Gates
from podium.scheduler.settling import Settling
from podium.scheduler.storage_hints import NOTHING_TO_ADD, Happened, happened
from podium.scheduler.tenants import Tenants

#: New pods that enter the core by one call: few enough to be in the processor's cache all the while.
_TOGETHER = 1024

_ENDED = frozenset({"Succeeded", "Failed"})
_POD_ADDED = bit(Resource.ASSIGNED_POD, Action.ADD)
_POD_DELETED = bit(Resource.ASSIGNED_POD, Action.DELETE)
_NODE_DELETED = bit(Resource.NODE, Action.DELETE)


class _BroughtIn(NamedTuple):
    """Pods that are in the core and may be queued; of ``likes`` see :class:`Arrived`."""

    entries: Sequence[Entry]
    handles: NDArray[np.uint32]
    likes: NDArray[np.int64]


class State:
    """Applies events to the core's snapshot and queue; no decision is made here."""

    def __init__(self, engine: Engine, gates: Gates, tenants: Tenants | None = None) -> None:
        self.engine = engine
        self.tenants = tenants
        self.follower: Follower | None = None
        self.classify: Callable[[Iterable[Entry]], None] | None = None
        """Notes which Python plugins concern new pods; None: no profile has any."""
        self.spared: Callable[[int, tuple[Any, Any]], list[tuple[int, int]]] | None = None
        """Asks the hints of Python plugins; None: there are none."""
        self.nodes_version = 0
        """Grows with every change of a node."""
        self.order: QueueOrder | None = None
        """Where pods stand in the queue, if a Python plugin says so."""
        self.gangs: GangMembers | None = None
        self.gates = gates
        gates.passed = self._passed
        self.nodes: dict[str, Node] = {}
        self._entries = Entries()
        self._pods = self._entries.by_uid
        self._names: list[str] = []
        """By row; that of a node which is gone stays until its row is taken again."""
        self._arrivals = Arrivals(engine)
        self.settling = Settling(engine)
        self._world: dict[tuple[str, str, str], Object] = {}
        self.foreign: dict[str, Pod] = {}
        self._held: dict[str, Concern] = {}
        """What holds pods that are on their way into the core, by uid."""
        self.plugin_bits: Mapping[str, int] = {}
        """Plugins that can reject pods, each as a bit."""

    def entry(self, uid: str) -> Entry | None:
        """Return what is known of a pod, None if it is gone or was never this scheduler's concern."""
        return self._pods.get(uid)

    def entries_of(self, uids: Iterable[str]) -> list[Entry]:
        """Return what is known of pods, without those that are gone."""
        return [entry for entry in map(self._pods.get, uids) if entry is not None]

    def by_handle(self, handle: int) -> Entry:
        """Return the pod behind a handle of the core."""
        return self._entries.by_handle(handle)

    def by_handles(self, handles: Iterable[int]) -> list[Entry]:
        """Return the pods behind handles, in order."""
        return self._entries.by_handles(handles)

    def entries(self) -> Iterable[Entry]:
        """Return all pods that the core knows, in order of arrival."""
        return self._pods.values()

    def names_of(self, rows: Iterable[int]) -> list[str]:
        """Return the names of the nodes on rows of the core."""
        return list(map(self._names.__getitem__, rows))

    def _named(self, row: int, name: str) -> None:
        self._names += [""] * (row + 1 - len(self._names))
        self._names[row] = name

    def pods(self) -> Iterator[Pod]:
        """Return all pods on nodes and all that wait, the held back ones included."""
        return (entry.pod for entry in self._pods.values())

    def world(self, kind: str) -> Iterator[Object]:
        """Return the objects of a kind that is neither Node nor Pod."""
        return (item for (known, _, _), item in self._world.items() if known == kind)

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        """Return one object of a kind that is neither Node nor Pod."""
        return self._world.get((kind, namespace, name))

    def apply(self, events: Sequence[Event], now: int) -> None:
        """Take over what happened. New pods that follow one another enter the core together.

        They are either all pending or all on nodes.
        """
        fresh: dict[str, Pod] = {}
        for start in range(0, len(events), _TOGETHER):
            some = events[start : start + _TOGETHER]
            new = self._all_new(some)
            if new is not None and fresh.keys().isdisjoint(new):
                fresh |= new
                continue
            self._enqueue(fresh, now)
            self._apply_each(some, now)
        self._enqueue(fresh, now)
        self._settle_tenants(now)
        if self.gangs is not None:
            self.gangs.settle(now)

    def _all_new(self, events: Sequence[Event]) -> dict[str, Pod] | None:
        """Return pods by uid if events are of nothing but new ones, which are pending."""
        if {*map(type, events)} != {Applied}:
            return None
        items = [event.object for event in cast("Sequence[Applied]", events)]
        if {*map(type, items)} != {Pod}:
            return None
        pods = {pod.metadata.uid: pod for pod in cast("list[Pod]", items) if not pod.spec.node_name}
        return pods if len(pods) == len(items) and self._pods.keys().isdisjoint(pods) else None

    def _apply_each(self, events: Sequence[Event], now: int) -> None:
        """Take over what happened to objects of all kinds."""
        fresh: dict[str, Pod] = {}
        settled: dict[str, Pod] = {}
        known = self._pods
        for event in events:
            item = event.object if isinstance(event, Applied) else None
            if type(item) is Pod:
                uid = item.metadata.uid
                own, other = (settled, fresh) if item.spec.node_name else (fresh, settled)
                if other:
                    self._enter(fresh, settled, now)
                if uid not in known and uid not in own:
                    own[uid] = item
                    continue
            self._enter(fresh, settled, now)
            if item is not None:
                self._applied(item, now)
            elif isinstance(event, Removed):
                self._removed(event.object, now)
        self._enter(fresh, settled, now)

    def _settle_tenants(self, now: int) -> None:
        """Let changed queues take effect: what they held back is tried again."""
        if self.tenants is not None and self.tenants.settle(self._pods.values):
            self.engine.wake_rejected("DRF", now)

    def _may_enter(self, pod: Pod) -> bool:
        """Set aside pods that are not to be tried; those that are held may enter the core all the same."""
        uid = pod.metadata.uid
        if self.foreign:
            self.foreign.pop(uid, None)
        if pod.status.phase in _ENDED or pod.metadata.deletion_timestamp:
            return False
        concern = self.gates.concern(pod)
        if concern.foreign:
            self.foreign[uid] = pod
            if self.gangs is not None:
                self.gangs.strayed(pod)
            return False
        if concern.held:
            self._held[uid] = concern
        return True

    def _enqueue(self, fresh: dict[str, Pod], now: int) -> None:
        """Let new pending pods, by uid, into the core and its queue, in this order, and empty ``fresh``."""
        if not fresh:
            return
        if self.foreign:
            for uid in fresh:
                self.foreign.pop(uid, None)
        pods = list(fresh.values())
        fresh.clear()
        # The core takes in as few as fit into the processor's cache; gangs are told apart among all of them.
        parts = [self._bring_in(pods[at : at + _TOGETHER], now) for at in range(0, len(pods), _TOGETHER)]
        entries = [entry for part in parts for entry in part.entries]
        handles = np.concatenate([part.handles for part in parts])
        likes = np.concatenate([part.likes for part in parts])
        for run in [entries] if self.gangs is None else self.gangs.take(entries, likes, now):
            if len(run) < len(entries):
                handles = np.asarray([entry.handle for entry in run], dtype=np.uint32)
            created = None
            if self.tenants is not None:
                created = self.tenants.created([entry.pod for entry in run])
            self.engine.enqueue_many(handles, now, created)
            if self.order is not None:
                self.order.enter(run, now)

    def _bring_in(self, some: Sequence[Pod], now: int) -> _BroughtIn:
        """Let new pending pods into the core; those that are held go to the gated pool."""
        pods, handles, likes = self._arrivals.add(some, self._may_enter, each=self.classify is not None)
        entries = list(map(Entry, pods, handles.tolist()))
        self._entries.add(entries)
        if self.classify is not None:
            self.classify(entries)
        if self.tenants is not None:
            self._settle_tenants(now)
            self.tenants.assign_all(handles, pods)
        if self._held:
            places = self._set_aside(entries, now)
            return _BroughtIn([entries[place] for place in places], handles[places], likes[places])
        return _BroughtIn(entries, handles, likes)

    def _enter(self, fresh: dict[str, Pod], settled: dict[str, Pod], now: int) -> None:
        """Let new pods into the core, pending ones and those on nodes, of which one kind is empty."""
        self._enqueue(fresh, now)
        if settled:
            self._settle(list(settled.values()), now)
            settled.clear()

    def _settle(self, pods: Sequence[Pod], now: int) -> None:
        """Let new pods on nodes into the core. Where it may be news to somebody, each is announced."""
        if self.gates.awaits(_POD_ADDED) or self.engine.awaits(_POD_ADDED):
            for pod in pods:
                if self.gangs is not None:
                    self.gangs.observe(pod)
                self._pod_applied(pod, now)
            return
        running = [pod for pod in pods if pod.status.phase not in _ENDED]
        handles = self.settling.add(running).tolist()
        entries = [
            Entry(pod, handle, pod.spec.node_name) for pod, handle in zip(running, handles, strict=True)
        ]
        self._entries.add(entries)
        if self.tenants is not None:
            self._settle_tenants(now)
            self.tenants.assign(entries)
        if self.gangs is not None:
            self.gangs.joined(entries)
            if len(running) < len(pods):
                for pod in pods:
                    self.gangs.observe(pod)

    def _set_aside(self, entries: Iterable[Entry], now: int) -> list[int]:
        """Put those that are held into the gated pool; returns the places of the others."""
        others = []
        for place, entry in enumerate(entries):
            concern = self._held.get(entry.pod.metadata.uid)
            if concern is None:
                others.append(place)
                continue
            created = None if self.tenants is None else int(self.tenants.created([entry.pod])[0])
            self.engine.enqueue(entry.handle, now, gated=True, created=created)
            self.gates.note(entry, concern, now)
            if self.gangs is not None:
                self.gangs.held(entry.pod, concern.held)
        self._held.clear()
        return others

    def _passed(self, entry: Entry, now: int) -> None:
        """Let a pod on from the gated pool: into its gang, or into the queue."""
        if self.gangs is not None and entry.gang is None:
            self.gangs.released(entry.pod)
            alone = any(self.gangs.take([entry], np.array([-1]), now))
            if not alone:
                self.engine.dequeue(entry.handle)
                return
        self.engine.release(entry.handle, now)
        if self.order is not None:
            if self.engine.attempts(entry.handle):
                self.order.changed(entry)
            else:
                self.order.enter([entry], now)

    def _remember(self, pod: Pod, handle: int) -> Entry:
        entry = Entry(pod, handle, pod.spec.node_name or None)
        self._entries.add([entry])
        return entry

    def _assign(self, entry: Entry, now: int) -> None:
        if self.tenants is not None:
            self._settle_tenants(now)
            self.tenants.assign([entry])

    def _applied(self, item: Object, now: int) -> None:
        if self.tenants is not None:
            self.tenants.observe(item)
        if self.gangs is not None:
            self.gangs.observe(item)
        if isinstance(item, Pod):
            self._pod_applied(item, now)
        elif isinstance(item, Node):
            old = self.nodes.get(item.metadata.name)
            self.nodes[item.metadata.name] = item
            self.nodes_version += 1
            self._named(self.engine.set_node(msgspec.json.encode(item)), item.metadata.name)
            self._tell(changes.node_changed(old, item), now, (old, item), node=True)
        elif (kind := kind_of(type(item))) in changes.WORLD_KINDS:
            at = (kind, *changes.key(item))
            before = self._world.get(at)
            self._world[at] = item
            self.engine.set(kind, msgspec.json.encode(item))
            event = changes.world_changed(kind, before is not None)
            self._tell(event, now, (before, item), happened(before, item))

    def _pod_applied(self, pod: Pod, now: int) -> None:
        entry = self._pods.get(pod.metadata.uid)
        if entry is None:
            if pod.spec.node_name and pod.status.phase not in _ENDED:
                entry = self._remember(pod, self.engine.add_pod(msgspec.json.encode(pod)))
                self._assign(entry, now)
                if self.gangs is not None:
                    self.gangs.joined([entry])
                self.announce(entry, _POD_ADDED, now)
            elif not pod.spec.node_name:
                self._enqueue({pod.metadata.uid: pod}, now)
            return
        if pod.status.phase in _ENDED:
            self._forget(entry, now, pod.status.phase)
            return
        old, entry.pod = entry.pod, pod
        self.engine.update_pod(entry.handle, msgspec.json.encode(pod))
        self._assign(entry, now)
        if pod.metadata.uid in self.gates.held:
            self._held_applied(entry, old, now)
            return
        if self.gangs is not None:
            self.gangs.changed(entry, old)
        if pod.spec.node_name:
            self._bound_applied(entry, old, now)
        elif pod.metadata.deletion_timestamp and entry.node is None:
            self.engine.dequeue(entry.handle)
        elif entry.node is None:
            if self.classify is not None:
                self.classify([entry])
            self.engine.requeue(entry.handle, gated=False)
            if self.order is not None:
                self.order.changed(entry)
            self._tell(changes.pod_changed(Resource.TARGET_POD, old, pod), now, (old, pod))

    def _held_applied(self, entry: Entry, old: Pod, now: int) -> None:
        """Look at a pod of the gated pool that has changed."""
        pod = entry.pod
        if self.gangs is not None:
            self.gangs.released(old)
        if pod.spec.node_name:
            self.gates.forget(pod.metadata.uid)
            entry.node = pod.spec.node_name
            if self.gangs is not None and entry.gang is None:
                self.gangs.joined([entry])
            self._bound_applied(entry, old, now)
        elif pod.metadata.deletion_timestamp:
            self.gates.forget(pod.metadata.uid)
            self.engine.dequeue(entry.handle)
        else:
            self.engine.requeue(entry.handle, gated=True)
            goes_on = self.gates.ask(entry, now)
            if self.gangs is not None and not goes_on:
                self.gangs.held(pod, self.gates.held[pod.metadata.uid].why)
            if self.classify is not None:
                self.classify([entry])

    def _bound_applied(self, entry: Entry, old: Pod, now: int) -> None:
        entry.node = entry.pod.spec.node_name
        if old.spec.node_name:
            self._tell(changes.pod_changed(Resource.ASSIGNED_POD, old, entry.pod), now, (old, entry.pod))
        else:
            self.engine.dequeue(entry.handle)
            if self.order is not None:
                self.order.leave(entry.handle)
            self.announce(entry, _POD_ADDED, now)
            if self.follower is not None:
                self.follower.bound_by_another(entry)

    def _removed(self, item: Object, now: int) -> None:
        if self.tenants is not None:
            self.tenants.observe(item, gone=True)
        if self.gangs is not None:
            self.gangs.observe(item, gone=True)
        if isinstance(item, Pod):
            uid = item.metadata.uid
            self.foreign.pop(uid, None)
            entry = self._pods.get(uid)
            if entry is not None:
                self._forget(entry, now)
        elif isinstance(item, Node):
            if self.nodes.pop(item.metadata.name, None) is not None:
                self.nodes_version += 1
                self.engine.remove_node(item.metadata.name)
                self._tell(_NODE_DELETED, now, (item, None), node=True)
        elif (kind := kind_of(type(item))) in changes.WORLD_KINDS:
            namespace, name = changes.key(item)
            if self._world.pop((kind, namespace, name), None) is not None:
                self.engine.remove(kind, namespace, name)
                self._tell(changes.world_removed(kind), now, (item, None), happened(item, None))

    def _forget(self, entry: Entry, now: int, phase: str = "") -> None:
        """Drop a pod that is gone; waiting pods are asked while the core still knows what it was."""
        if self.follower is not None:
            self.follower.abandon(entry)
        if self.gangs is not None:
            self.gangs.left(entry, phase)
        self.gates.forget(entry.pod.metadata.uid)
        leaves_room = entry.node is not None or self.engine.nominated(entry.handle) is not None
        if leaves_room:
            self.engine.forget(entry.handle)
            self.announce(entry, _POD_DELETED, now)
        self.engine.dequeue(entry.handle)
        if self.order is not None:
            self.order.leave(entry.handle)
        self.engine.remove_pod(entry.handle)
        self._entries.remove(entry)

    def encoded(self, spec: PodSpec) -> bytes:
        """Return a spec as JSON."""
        return self._arrivals.encoded(spec)

    def announce(self, entry: Entry, event: int, now: int, *, own: bool = False) -> None:
        """Tell the queue of something that happened to a pod on a node, or that left one.

        ``own``: the pod goes back with its gang, to which that is no reason to be tried again.
        """
        change = (entry.pod, None) if event == _POD_DELETED else (None, entry.pod)
        gang = entry.gang.handle if own and entry.gang is not None else None
        self.engine.announce(entry.handle, event, now, self._spared(event, change), gang)
        self.gates.happened(event, change, now)

    def _tell(
        self,
        event: int,
        now: int,
        change: tuple[Any, Any],
        what: Happened = NOTHING_TO_ADD,
        *,
        node: bool = False,
    ) -> None:
        """Tell the queue of an event; ``node`` if it is about the node that the core was told of last."""
        if not event:
            return
        deaf = sum(self.plugin_bits.get(name, 0) for name in what.deaf)
        self.engine.queue_event(
            event,
            now,
            self._spared(event, change),
            node=node,
            claim=what.claim,
            detached=what.detached,
            deaf=deaf,
        )
        self.gates.happened(event, change, now)

    def _spared(self, event: int, change: tuple[Any, Any]) -> list[tuple[int, int]]:
        """Return what the event is nothing to, by the hints of Python plugins."""
        return [] if self.spared is None else self.spared(event, change)
