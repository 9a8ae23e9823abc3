"""The Python plugins of the profiles: made once, and asked which pods concern them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from podium.api import Pod
from podium.errors import PluginError
from podium.framework.config import Profile, SchedulerConfig
from podium.framework.events import ClusterEvent
from podium.framework.hints import HintTable
from podium.framework.metrics import FrameworkMetrics
from podium.framework.plugin import Plugin, QueuedPod
from podium.framework.points import POINTS
from podium.framework.registry import Registry, instantiate
from podium.framework.runner import Judges, Runner
from podium.scheduler.entry import Entry
from podium.scheduler.extenders import ExtenderPlugin, Factory
from podium.scheduler.handle import PluginHandle, Services
from podium.scheduler.remembered import Remembered

DEFAULT_PREEMPTION: Final = "DefaultPreemption"

#: Answers of ``applies_to`` kept; beyond that the table starts afresh.
_CLASSES: Final = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class PodClass:
    """What the Python plugins of a profile mean to pods of one class.

    Attributes:
        concerned: those that concern them.
        judges: those whose answers are remembered; None if they must be asked for everything.
        table: where that is.
        kind: a number of its own.

    """

    kind: int
    concerned: frozenset[str]
    judges: Judges | None = None
    table: int | None = None

    @property
    def up_to_node(self) -> bool:
        """Whether the core finds a node by itself, and plugins come after."""
        return self.judges is not None and self.judges.up_to_node


class ProfilePlugins:
    """The Python plugins of one profile."""

    def __init__(
        self,
        profile: Profile,
        registry: Registry,
        services: Services,
        stand_ins: Mapping[str, Any],
        remembered: Remembered,
        extenders: Mapping[str, Factory],
        metrics: FrameworkMetrics | None = None,
    ) -> None:
        handles: list[PluginHandle] = []

        def make(name: str) -> Plugin:
            if name in extenders:
                return extenders[name](PluginHandle(profile.scheduler_name, name, services))
            info = registry.get(name)
            if info is None:
                raise PluginError(f'profile "{profile.scheduler_name}": there is no plugin "{name}"')
            handles.append(PluginHandle(profile.scheduler_name, name, services))
            return instantiate(info, profile.args.get(name), handles[-1])

        self.profile = profile
        self.plugins = {name: make(name) for name in profile.python_plugins()}
        self._stand_ins = frozenset(
            name for name in stand_ins if self.plugins and name in profile.names("postFilter")
        )
        extra = {name: stand_ins[name] for name in self._stand_ins}
        name = profile.scheduler_name
        self.runner = Runner(
            profile,
            {**self.plugins, **extra},
            observer=None if metrics is None else metrics.observer(name),
            timer=None if metrics is None else metrics.timer,
        )
        if metrics is not None:
            metrics.watch(self.runner, name)
        for handle in handles:
            handle.runner = self.runner
        self.hints = HintTable.of(self.plugins)
        cycle = ("preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preEnqueue")
        self.in_cycle = frozenset(
            name for point in cycle for name in self.runner.names(point) if name in self.plugins
        )
        """Plugins that are called in the scheduling cycle."""
        points = [point for point in POINTS if point != "queueSort"]
        self._asked = frozenset(name for point in points for name in self.runner.names(point))
        self._asked -= self._stand_ins
        """Plugins with a say about a pod; whoever only orders the queue has none."""
        self.gates = frozenset(self.runner.names("preEnqueue")) - self._stand_ins
        self.permits = frozenset(self.runner.names("permit"))
        self._in_binding = frozenset(
            name
            for point in ("reserve", "permit", "preBind", "bind", "postBind")
            for name in self.runner.names(point)
        )
        self.extenders = [plugin for plugin in self.plugins.values() if isinstance(plugin, ExtenderPlugin)]
        self._remembered, self._kinds = remembered, remembered.kinds
        self._classes: dict[Any, PodClass] = {}

    def binds(self, concerned: frozenset[str]) -> bool:
        """Whether some of these plugins take part in what follows a node that the core has found."""
        return not concerned.isdisjoint(self._in_binding)

    def class_of(self, pod: Pod, spec: bytes) -> PodClass:
        """Return what the plugins mean to a pod; asked once per class.

        Two pods are of one class if they have the same namespace, labels, annotations, owners' kinds and
        spec; ``spec`` is its encoding.
        """
        meta = pod.metadata
        key = (
            spec,
            meta.namespace,
            tuple(meta.labels.items()) if meta.labels else (),
            tuple(meta.annotations.items()) if meta.annotations else (),
            tuple((owner.kind, owner.controller) for owner in meta.owner_references or ()),
        )
        known = self._classes.get(key)
        if known is None:
            if len(self._classes) >= _CLASSES:
                self._classes.clear()
            concerned = self.runner.concerned(pod) & self._asked
            concerned = concerned | self._stand_ins if concerned else concerned
            # Whoever has a gate is asked there before each attempt.
            plain = concerned and self.gates.isdisjoint(concerned)
            judges = self.runner.judges(concerned) if plain else None
            table = self._remembered.table(self.runner, judges, pod, key) if judges else None
            known = self._classes[key] = PodClass(next(self._kinds), concerned, judges, table)
        return known


class Profiles:
    """All profiles that have Python plugins, by scheduler name."""

    def __init__(
        self,
        config: SchedulerConfig,
        services: Services,
        stand_ins: Mapping[str, Any],
        extenders: Mapping[str, Factory],
        metrics: FrameworkMetrics | None = None,
    ) -> None:
        self.remembered = Remembered(services)
        self._engine = services.state.engine
        self._encoded = services.state.encoded
        self._entering: dict[str, tuple[Pod, PodClass]] = {}
        """What was found out of pods between their gates and the queue."""
        self._by_name = {
            profile.scheduler_name: ProfilePlugins(
                profile, config.registry, services, stand_ins, self.remembered, extenders, metrics
            )
            for profile in config.profiles
            if profile.python_plugins()
        }

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def __iter__(self) -> Iterator[ProfilePlugins]:
        return iter(self._by_name.values())

    def events(self) -> dict[str, tuple[ClusterEvent, ...]]:
        """Return what each Python plugin that can reject a pod has registered, in any profile."""
        events: dict[str, tuple[ClusterEvent, ...]] = {}
        for plugins in self:
            for name, items in plugins.hints.by_plugin.items():
                events[name] = (*events.get(name, ()), *(item.event for item in items))
        return events

    def class_of(self, plugins: ProfilePlugins, pod: Pod) -> PodClass:
        """Return what the plugins of its profile mean to a pod that is about to enter the queue."""
        known = self._entering.get(pod.metadata.uid)
        if known is None or known[0] is not pod:
            known = (pod, plugins.class_of(pod, self._encoded(pod.spec)))
            self._entering[pod.metadata.uid] = known
        return known[1]

    def classify(self, entries: Iterable[Entry]) -> None:
        """Note which plugins concern pods, and tell the core what that means for their cycles."""
        alike: dict[int, tuple[PodClass, list[int]]] = {}
        for entry in entries:
            plugins = self.of(entry.pod)
            if plugins is None:
                continue
            its = self.class_of(plugins, entry.pod)
            entry.concerned = its.concerned
            known = alike.get(its.kind)
            if known is None:
                known = alike[its.kind] = (its, [])
            known[1].append(entry.handle)
        self._entering.clear()
        for its, handles in alike.values():
            pods = np.array(handles, np.uint32)
            self._engine.set_concern(pods, its.kind, bool(its.concerned), its.table, its.up_to_node)

    def less(self) -> Callable[[QueuedPod, QueuedPod], bool] | None:
        """Return the order of the queue, None if it is native; it is the same in all profiles."""
        return next((less for plugins in self if (less := plugins.runner.less()) is not None), None)

    def of(self, pod: Pod) -> ProfilePlugins | None:
        """Return the plugins that are responsible for a pod, None if its profile is native."""
        return self._by_name.get(pod.spec.scheduler_name)
