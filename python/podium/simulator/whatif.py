"""What the scheduler would do if pods were evicted: a second scheduler that everything is taken back from."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from podium.api import Object, Pod
from podium.api.gangs import Description, gang_of
from podium.cluster.port import (
    Action,
    Applied,
    Bind,
    BindVolumes,
    Bound,
    Call,
    Event,
    Preempt,
    Removed,
    Returned,
)
from podium.collector import collector_paused
from podium.descheduler.ports import Landing
from podium.errors import PodiumError
from podium.framework.config import SchedulerConfig
from podium.plugins.load_aware.feed import tell
from podium.plugins.load_aware.sample import LoadReader
from podium.scheduler.loop import Scheduler
from podium.simulator.given_load import plugins_of
from podium.simulator.replacement import Controllers

logger = logging.getLogger(__name__)

Successor = Callable[[Pod], Pod | None]


@dataclass(slots=True)
class _Step:
    """One question: what went, what came, and what the scheduler bound meanwhile."""

    gone: list[Pod]
    came: list[Pod]
    bound: dict[str, str] = field(default_factory=dict)
    preempts: bool = False


class Shadow:
    """A scheduler with the same configuration and the same cluster.

    ``begin`` brings it up to date. Pods that are pending already take part: where an eviction makes room for
    one of them, the successor does not get that room.
    """

    def __init__(self, config: SchedulerConfig, successor: Successor, load: LoadReader | None = None) -> None:
        self._scheduler = Scheduler(config)
        self.gang_label = config.podium.gangs.label
        self._load = load
        self._successor = successor
        self._objects: dict[tuple[type[Object], str, str], Object] = {}
        self._pods: dict[str, Pod] = {}
        self._moves: list[_Step] = []
        self._now = 0

    def begin(self, objects: Iterable[Object], pods: Iterable[Pod], now: int) -> None:
        """Take over the cluster as it is; only differences cost.

        Args:
            objects: all but pods.
            pods: all of them.
            now: the time.

        """
        with collector_paused():
            self._begin(objects, pods, now)

    def _begin(self, objects: Iterable[Object], pods: Iterable[Pod], now: int) -> None:
        self._take_back()
        self._now = now
        events: list[Event] = []
        given = {(type(item), item.metadata.namespace, item.metadata.name): item for item in objects}
        gone = [item for key, item in self._objects.items() if key not in given]
        for key, item in given.items():
            known = self._objects.get(key)
            if known is not item and known != item:
                events.append(Applied(item))
        self._objects = given
        found = {pod.metadata.uid: pod for pod in pods}
        events += [Removed(pod) for uid, pod in self._pods.items() if uid not in found]
        events += [Removed(item) for item in gone]
        known_as = self._pods.get
        if self._pods:
            new = [
                pod for uid, pod in found.items() if (was := known_as(uid)) is not pod and not _same(was, pod)
            ]
        else:
            new = list(found.values())
        events += map(Applied, new)
        self._pods = found
        self._scheduler.step(events, now, 0)
        self._learn()
        self._run(_Step([], []), ())

    def _learn(self) -> None:
        """Let LoadAware know the load before anything moves; without an answer the last one counts."""
        if self._load is None:
            return
        try:
            tell(plugins_of(self._scheduler), self._load)
        except PodiumError as error:
            logger.warning("LoadAware: %s", error)

    def gang(self, pod: Pod) -> Description | None:
        """Return what the gang of a pod asks for, None if the scheduler knows of no such gang."""
        key = gang_of(pod, self.gang_label)
        group = self._scheduler.gangs.book.get(key) if key is not None else None
        return None if group is None or group.description.problem else group.description

    def move(self, pods: Sequence[Pod]) -> list[Landing]:
        """Take pods off their nodes and place their successors, on top of the moves so far."""
        return self._ask(pods)

    def together(self, pods: Sequence[Pod]) -> list[Landing]:
        """Take back all moves, then make these at once."""
        self._take_back()
        return self._ask(pods) if pods else []

    def undo(self) -> None:
        """Take back the last move."""
        step = self._moves.pop()
        events: list[Event] = [Removed(pod) for pod in step.came]
        events += [Applied(pod) for pod in step.gone]
        # Of the pods of the cluster those alone are bound that were pending; the others came in this step.
        others = [self._pods[uid] for uid in step.bound if uid in self._pods]
        events += map(Removed, others)
        events += map(Applied, others)
        self._scheduler.step(events, self._now, 0)

    def _take_back(self) -> None:
        while self._moves:
            self.undo()

    def _ask(self, pods: Sequence[Pod]) -> list[Landing]:
        made = [(pod, self._successor(pod)) for pod in pods]
        step = _Step([pod for pod, _ in made], [new for _, new in made if new is not None])
        events: list[Event] = []
        for pod, new in made:
            events.append(Removed(pod))
            if new is not None:
                events.append(Applied(new))
        self._run(step, events)
        self._moves.append(step)
        return [self._landing(step, new) for _, new in made]

    def _landing(self, step: _Step, new: Pod | None) -> Landing:
        if new is None:
            return Landing(None, successor=False)
        if step.preempts:
            return Landing(None, message="another pod would have to make room")
        node = step.bound.get(new.metadata.uid)
        if node is not None:
            return Landing(node)
        entry = self._scheduler.state.entry(new.metadata.uid)
        return Landing(None, message=entry.message if entry is not None else "no scheduler takes it")

    def _run(self, step: _Step, events: Sequence[Event]) -> None:
        """Let the scheduler act on events until it has nothing to do at this moment."""
        while True:
            actions = self._scheduler.step(events, self._now)
            events = self._answers(step, actions)
            if not events:
                return

    def _answers(self, step: _Step, actions: Sequence[Action]) -> list[Event]:
        """Carry out bindings; whoever would have to be preempted stays."""
        events: list[Event] = []
        for action in actions:
            if isinstance(action, Bind):
                step.bound.update(zip(action.uids, action.nodes, strict=True))
                events.append(Bound(action.uids))
            elif isinstance(action, BindVolumes):
                events.append(Returned(action.uid, action.epoch, "preBind", "VolumeBinding"))
            elif isinstance(action, Call):
                # Plugins of the binding cycle act on the cluster; here nothing is to happen.
                if action.point == "bind":
                    step.bound[action.uid] = action.node
                events.append(Returned(action.uid, action.epoch, action.point, action.plugin))
            elif isinstance(action, Preempt):
                step.preempts = True
        return events


def _same(known: Pod | None, pod: Pod) -> bool:
    """Tell whether the scheduler needs to hear of a pod: the cluster makes a new object per question."""
    if known is None or known.spec.node_name != pod.spec.node_name:
        return False
    return known.metadata is pod.metadata or known.metadata == pod.metadata


def live_shadow(config: SchedulerConfig, load: LoadReader | None = None) -> Shadow:
    """Return a scheduler to ask beside a live cluster; pods come back as their controllers make them."""
    made = Controllers()
    return Shadow(config, lambda pod: made.replace(pod, time.time_ns()), load)
