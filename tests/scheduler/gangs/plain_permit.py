"""The gang plugin of the usual tutorial: Permit waits, the last member allows all, a time-out rejects all."""

import collections

from msgspec.structs import replace
from podium.cluster.simulated import SECOND, SimulatedCluster
from podium.framework.config import parse_config
from podium.scheduler.assumed import Assumed
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Observer

from tests.scheduler.gangs.world import LABEL, MINIMUM

WITHOUT_GANG = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled: [{name: Gang}]
"""


class PlainPermit(Observer):
    """Pods one by one; those whose gang is not complete are held in Permit with the node they have."""

    def __init__(self, *nodes, timeout):
        self.cluster = SimulatedCluster()
        config = parse_config(WITHOUT_GANG, "test")
        self.scheduler = Scheduler(replace(config), self)
        self.scheduler.follow(self)
        self.timeout = timeout
        self.members = collections.defaultdict(set)
        self.cluster.apply(nodes)

    def run(self, pods, seconds):
        self.cluster.apply(pods)
        end = seconds * SECOND
        self._events()
        while True:
            while self._one():
                pass
            due = [t for t in (self.cluster.next_time(), self.scheduler.next_retry()) if t is not None]
            if not due or min(due) > end:
                return
            self.cluster.advance(max(min(due), self.cluster.now() + 1))
            self._events()

    def _events(self):
        self.cluster.perform(self.scheduler.step(self.cluster.events(), self.cluster.now(), 0))

    def _one(self):
        engine, now, actions = self.scheduler.engine, self.cluster.now(), []
        handle = engine.pop()
        if handle is None:
            return False
        entry = self.scheduler.state.by_handle(handle)
        found = engine.schedule(handle)
        if found.row is None:
            engine.put_back(handle, now, 1)
            return True
        engine.assume(handle, found.row)
        node = engine.node_name(found.row)
        gang = entry.pod.metadata.labels[LABEL]
        members = self.members[gang]
        members.add(entry.pod.metadata.uid)
        complete = len(members) >= int(entry.pod.metadata.annotations[MINIMUM])
        waits = None if complete else {"Plain": self.timeout}
        self.scheduler.binder.begin(Assumed(entry, node), now, actions, waits)
        if complete:
            for held in self.scheduler.binder.waiting:
                if held.pod.metadata.uid in members:
                    held.allow("Plain")
        self.cluster.perform(actions)
        self._events()
        return True

    def rolled_back(self, entry, node, why):
        members = self.members.pop(entry.pod.metadata.labels[LABEL], set())
        for held in list(self.scheduler.binder.waiting):
            if held.pod.metadata.uid in members:
                held.reject("Plain", f"{entry.pod.metadata.name} failed")

    def bound(self):
        return sorted(pod.metadata.name for pod in self.cluster.pods() if pod.spec.node_name)

    def held(self):
        return len(self.scheduler.binder.waiting)
