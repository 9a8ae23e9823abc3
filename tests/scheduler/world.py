"""A small cluster, one scheduler, and plugins that do as they are told."""

import numpy as np
from podium.cluster.port import Emit, Removed
from podium.cluster.simulated import SECOND, SimulatedCluster
from podium.framework import Plugin, Status
from podium.framework.config import parse_config
from podium.framework.registry import Registry
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Observer
from podium.testing import make_node


class Log(Observer):
    """Everything an observer hears, in order."""

    detailed = True

    def __init__(self):
        self.attempts = []
        self.ends = []

    def attempted(self, attempt):
        self.attempts.append(attempt)

    def bound(self, entries):
        self.ends += [("bound", entry.pod.metadata.name, entry.node) for entry in entries]

    def rolled_back(self, entry, node, why):
        self.ends.append(("rolled back", entry.pod.metadata.name, why.message))


#: Point -> what a plugin that was told nothing answers.
_QUIET = {
    "pre_enqueue": lambda *_: None,
    "pre_filter": lambda *_: None,
    "filter": lambda state, pod, nodes: np.ones(len(nodes), np.bool_),
    "post_filter": lambda *_: Status.unschedulable(),
    "pre_score": lambda *_: None,
    "score": lambda state, pod, nodes: np.zeros(len(nodes), np.int64),
    "normalize_score": lambda state, pod, nodes, scores: scores,
    "reserve": lambda *_: None,
    "unreserve": lambda *_: None,
    "permit": lambda *_: None,
    "pre_bind": lambda *_: None,
    "bind": lambda *_: Status.skip(),
    "post_bind": lambda *_: None,
    "add_pod": lambda *_: None,
    "remove_pod": lambda *_: None,
}


def plugin(title, calls, points=tuple(_QUIET), **told):
    """Make a plugin class; ``told`` maps points to functions of (plugin, *arguments)."""

    def method(point):
        def run(self, *args):
            if isinstance(calls, list):
                calls.append((point, title, *[a.metadata.name for a in args if hasattr(a, "metadata")][:1]))
            if point in told:
                return told[point](self, *args)
            return _QUIET[point](*args)

        return run

    body = {point: method(point) for point in points}
    if "bind" in told and getattr(told["bind"], "is_async", False):
        body["bind"] = told["bind"]
    extra = {key: value for key, value in told.items() if key not in _QUIET}
    return type(title, (Plugin,), {"name": title, **body, **extra})


def config_of(*plugins, settings="", more="", without=()):
    registry = Registry.build(installed=())
    for each in plugins:
        registry.register(each)
    enabled = "".join(f"\n      - {{name: {each.name}}}" for each in plugins)
    binders = "".join(f"{{name: {each.name}}}, " for each in plugins if hasattr(each, "bind"))
    text = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:{enabled or " []"}
      disabled: [{", ".join(f"{{name: {name}}}" for name in without)}]
    bind:
      enabled: [{binders}{{name: DefaultBinder}}]
      disabled: [{{name: "*"}}]
{more}
---
apiVersion: podium.dev/v1alpha1
kind: PodiumConfiguration
{settings}
"""
    return parse_config(text.encode(), "test", registry)


class World:
    """Drives one scheduler on one simulated cluster."""

    def __init__(self, *plugins, nodes=("n1", "n2"), settings="", cluster=None, cpu="8", without=()):
        self.cluster = cluster or SimulatedCluster()
        self.log = Log()
        self.scheduler = Scheduler(config_of(*plugins, settings=settings, without=without), self.log)
        self.cluster.apply([make_node(name).capacity(cpu=cpu, pods="99").build() for name in nodes])

    def step(self, limit=None):
        actions = self.scheduler.step(self.cluster.events(), self.cluster.now(), limit)
        self.cluster.perform(actions)
        return actions

    def run(self, until=0.0, limit=None):
        """Run until nothing more happens before ``until`` seconds."""
        while True:
            before = self.scheduler.tries
            if self.step(limit) or self.scheduler.tries != before:
                continue
            due = [t for t in (self.cluster.next_time(), self.scheduler.next_due()) if t is not None]
            if not due or min(due) > until * SECOND:
                break
            self.cluster.advance(min(due))
        self.cluster.advance(round(until * SECOND))
        return self

    def add(self, *pods):
        self.cluster.apply(pods)
        return self

    def remove(self, item):
        self.cluster.schedule(self.cluster.now(), Removed(item))
        self.cluster.advance(self.cluster.now())

    def node_of(self, pod):
        return self.scheduler.state.entry(pod.metadata.uid).node

    def message_of(self, pod):
        return self.scheduler.state.entry(pod.metadata.uid).message

    def pool_of(self, pod):
        return self.scheduler.engine.pool(self.scheduler.state.entry(pod.metadata.uid).handle)

    def events(self):
        return [event.note for event in self.cluster.emitted if isinstance(event, Emit)]
