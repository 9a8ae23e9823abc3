"""Random events through queue, cycle and binding, with random failures: nothing is lost, nothing is twice."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from podium.cluster.port import Bind, Call, Removed
from podium.cluster.simulated import SECOND, Latency, SimulatedCluster
from podium.framework import NODE, Status
from podium.scheduler.loop import Scheduler
from podium.testing import make_node, make_pod

from tests.scheduler.world import Log, config_of, plugin

_POOLS = {"active", "backoff", "unschedulable", "gated", "in_flight"}

#: After so many attempts of a pod all goes well, so that a run comes to rest.
_CALM = 6


class Chaos:
    """One run: a plugin that fails, waits and rejects at random, and a cluster that refuses bindings."""

    def __init__(self, seed, limit):
        self.chance = random.Random(seed)
        self.limit = limit
        self.counts = Counter()
        self.cluster = SimulatedCluster(
            Latency(bind=SECOND // 20, calls={"preBind": SECOND // 20}), self._bind_fails
        )
        wild = plugin(
            "Chaos",
            None,
            points=("pre_enqueue", "filter", "reserve", "unreserve", "permit", "pre_bind", "bind"),
            pre_enqueue=lambda _, pod: self._gate(pod),
            filter=lambda _, state, pod, nodes: nodes.names != self._spurned(pod),
            reserve=lambda _, state, pod, node: self._sometimes(pod, "reserve", 12),
            permit=lambda _, state, pod, node: self._permit(pod),
            pre_bind=lambda _, state, pod, node: self._sometimes(pod, "pre_bind", 12),
            applies_to=lambda _, pod: "calm" not in pod.metadata.labels,
        )
        tame = plugin("Tame", None, points=("filter",), filter=lambda _, s, p, nodes: nodes.pod_count() < 4)
        tame.depends_on = NODE
        self.scheduler = Scheduler(config_of(wild, tame, settings="maxBindsInFlight: 4"), Log())
        self.scheduler.observer.detailed = False
        self.pods, self.nodes, self.made = {}, {}, 0

    def _roll(self, pod, what):
        """Return a number that depends on the pod and its attempt alone, not on the order of calls."""
        entry = self.scheduler.state.entry(pod.metadata.uid)
        attempt = self.scheduler.engine.attempts(entry.handle) if entry is not None else 0
        if attempt > _CALM:
            return -1
        return random.Random(f"{pod.metadata.name}/{attempt}/{what}").randrange(1 << 20)

    def _spurned(self, pod):
        roll = self._roll(pod, "filter")
        return f"n{roll % 7}" if roll >= 0 else ""

    def _sometimes(self, pod, what, often):
        roll = self._roll(pod, what) % often
        if roll == 0:
            raise RuntimeError(what)
        return Status.unschedulable(what) if roll == 1 else None

    def _gate(self, pod):
        """Shut for a fifth of the time, each pod at its own times."""
        roll = self._roll(pod, "gate")
        if roll < 0 or (self.cluster.now() // (100 * SECOND) + len(pod.metadata.name)) % 5:
            return None
        self.counts["held"] += 1
        return Status.unresolvable("gate")

    def _permit(self, pod):
        roll = self._roll(pod, "permit") % 8
        if roll < 2:
            return Status.wait(roll + 1)
        return Status.unschedulable("permit") if roll == 2 else None

    def _bind_fails(self, uid, node):
        entry = self.scheduler.state.entry(uid)
        return "refused" if entry is not None and self._roll(entry.pod, "bind") % 10 == 0 else ""

    def act(self, what):
        chance = self.chance
        if what == "pod" or not self.nodes:
            self.made += 1
            pod = make_pod(f"p{self.made}").request(cpu=str(chance.randrange(1, 4)))
            pod = (
                pod.labels({"calm": ""} if chance.random() < 0.3 else {})
                .priority(chance.randrange(3))
                .build()
            )
            self.pods[pod.metadata.uid] = pod
            self.cluster.apply([pod])
        if what == "node" or len(self.nodes) < 2:
            name = f"n{chance.randrange(9)}"
            node = make_node(name).capacity(cpu=str(chance.randrange(3, 9)), pods="5").build()
            if name not in self.nodes:
                self.nodes[name] = node
                self.cluster.apply([node])
        elif what == "delete" and self.pods:
            pod = self.pods.pop(chance.choice(sorted(self.pods)))
            self.cluster.schedule(self.cluster.now(), Removed(pod))
            self.cluster.advance(self.cluster.now())
        elif what == "decide":
            for held in list(self.scheduler.binder.waiting):
                if chance.random() < 0.5:
                    held.allow("Chaos")
                else:
                    held.reject("Chaos", "decided")
        elif what == "restart":
            self.restart()

    def restart(self):
        """Start a scheduler afresh from what the cluster says."""
        self.counts["restarts"] += 1
        while (due := self.cluster.next_time()) is not None:
            # Answers to requests that are under way go to whoever asked.
            self.cluster.advance(due)
            self.step(0)
        self.cluster.events()
        self._count()
        self.scheduler = Scheduler(self.scheduler.config, Log())
        self.scheduler.observer.detailed = False
        self.cluster.apply(self.nodes.values())
        self.cluster.apply([pod for pod in self.cluster.pods() if pod.metadata.uid in self.pods])

    def _count(self):
        ends = self.scheduler.observer.ends
        self.counts["rolled back"] += sum(end[0] == "rolled back" for end in ends)
        self.counts["timeouts"] += sum("timeout" in end[2] for end in ends)
        bound = Counter(end[1] for end in ends if end[0] == "bound")
        assert all(times == 1 for times in bound.values()), bound
        self.counts["bound"] += len(bound)

    def step(self, limit):
        on_nodes = {pod.metadata.uid for pod in self.cluster.pods() if pod.spec.node_name}
        actions = self.scheduler.step(self.cluster.events(), self.cluster.now(), limit)
        for action in actions:
            if isinstance(action, Bind):
                assert on_nodes.isdisjoint(action.uids), "bound twice"
        self.cluster.perform(actions)
        self.counts["calls"] += sum(isinstance(action, Call) for action in actions)
        return actions

    def run(self, seconds):
        until = self.cluster.now() + seconds * SECOND
        while True:
            before = self.scheduler.tries
            if self.step(self.limit) or self.scheduler.tries != before:
                continue
            self.check()
            due = [t for t in (self.cluster.next_time(), self.scheduler.next_due()) if t is not None]
            if not due or min(due) > until:
                break
            self.cluster.advance(min(due))
        self.cluster.advance(until)

    def check(self):
        """Nobody is lost, nobody is in two pools, no node is overcommitted."""
        scheduler, engine = self.scheduler, self.scheduler.engine
        there = {pod.metadata.uid for pod in self.cluster.pods()}
        for uid in self.pods.keys() - there:
            # A victim of preemption has left by itself.
            del self.pods[uid]
            self.counts["victims"] += 1
        known = 0
        for uid in self.pods:
            entry = scheduler.state.entry(uid)
            assert entry is not None, f"{uid} is lost"
            pool = engine.pool(entry.handle)
            if pool is not None:
                assert pool in _POOLS
                known += 1
            assert (pool in {None, "in_flight"}) == (entry.node is not None), (uid, pool, entry.node)
            assert (pool == "in_flight") == scheduler.binder.holds(uid)
            assert (pool == "gated") == (uid in scheduler.state.gates.held)
        assert sum(engine.queue_counts().values()) == known
        columns, cpu = engine.columns(), engine.resource("cpu")
        assert (columns.requested(cpu) <= columns.allocatable(cpu)).all()
        assert (columns.pod_count() <= columns.allowed_pods()).all()

    def finish(self):
        """Come to rest, then compare with what a scheduler makes of the cluster alone."""
        self.run(6000)
        self._count()
        fresh, rebuilt = Scheduler(self.scheduler.config), SimulatedCluster()
        rebuilt.apply(self.nodes.values())
        rebuilt.apply(self.cluster.pods())
        fresh.step(rebuilt.events(), 0, 0)
        assert fresh.engine.totals() == self.scheduler.engine.totals()
        plugins = next(iter(fresh.profiles)).plugins
        roomy = plugins["Tame"].filter(None, None, plugins["Tame"].handle.snapshot())
        names = set(plugins["Tame"].handle.snapshot().names[roomy])
        for uid in self.pods:
            if self.scheduler.state.entry(uid).node is None:
                fits = names.intersection(fresh.engine.feasible(fresh.state.entry(uid).handle))
                assert not fits, (uid, fits)
                self.counts["pending"] += 1


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["pod"] * 6 + ["node", "delete", "decide", "restart"]), st.sampled_from([0, 1, 3, 70])
    ),
    min_size=10,
    max_size=40,
)
_TOTAL = Counter()


@given(seed=st.integers(0, 2**32), actions=ACTIONS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def _run_everything(seed, actions):
    chaos = Chaos(seed, None)
    for what, seconds in actions:
        chaos.act(what)
        chaos.run(seconds)
    chaos.finish()
    _TOTAL.update(chaos.counts)


def test_nothing_is_lost_and_nothing_is_twice():
    _TOTAL.clear()
    _run_everything()
    happened = ("held", "bound", "rolled back", "timeouts", "restarts", "calls", "victims", "pending")
    assert all(_TOTAL[what] > 0 for what in happened), _TOTAL


@pytest.mark.parametrize("seed", range(3))
def test_slices_change_nothing(seed):
    """However the cycles are cut into steps, the same pods end on the same nodes."""

    def outcome(limit):
        chaos = Chaos(seed, limit)
        for what in ["node"] * 4 + ["pod", "pod", "pod", "delete", "node"] * 6:
            chaos.act(what)
        chaos.run(50)
        placed = {uid: chaos.scheduler.state.entry(uid).node for uid in chaos.pods}
        return placed, chaos.scheduler.observer.ends

    assert outcome(1) == outcome(2) == outcome(None)


def test_columns_are_read_only():
    chaos = Chaos(0, None)
    for _ in range(5):
        chaos.act("node")
    chaos.run(1)
    columns = chaos.scheduler.engine.columns()
    kept = columns.requested(0)
    before = kept.copy()
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
        kept.flags.writeable = True
    chaos.act("pod")
    chaos.run(5)
    assert np.array_equal(kept, before), "a view stays as it was"
