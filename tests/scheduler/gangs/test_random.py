"""Random arrivals, deletions, node failures, failed binds and restarts: what holds whenever all is quiet."""

import itertools
import random
from collections import Counter

import pytest
from podium.framework import Status

from tests.scheduler.gangs.world import GPU, World, member, node
from tests.scheduler.world import plugin

TOTALS: Counter[str] = Counter()


class Chance:
    """One random history; everything comes from the seed."""

    def __init__(self, seed, *, held=False):
        """Begin; ``held`` has a plugin that sometimes lets a member wait in Permit until its time is over."""
        self.chance = random.Random(seed)
        self.fail = self.hold = 0.0
        self.names = itertools.count()
        self.shapes = 1 if held else 2
        plugins = [plugin("Holds", [], points=("permit",), permit=self.permit)] if held else []
        machines = [self.machine(number) for number in range(self.chance.randint(1, 6))]
        self.world = World(*machines, bind_fails=self.bind_fails, plugins=plugins)

    def permit(self, *_):
        return Status.wait(5, "hold on") if self.chance.random() < self.hold else None

    def machine(self, number):
        return node(f"n{number}", gpu=str(self.chance.randint(1, 4)), cpu=str(self.chance.randint(2, 8)))

    def bind_fails(self, _uid, _node):
        return "no luck" if self.chance.random() < self.fail else ""

    def arrive(self):
        size = self.chance.randint(1, 8)
        minimum = self.chance.randint(1, size)
        name = f"g{next(self.names)}x"
        priority = self.chance.choice([0, 0, 10])
        shapes = [
            (str(self.chance.randint(0, 2)), str(self.chance.randint(1, 3))) for _ in range(self.shapes)
        ]
        pods = []
        for number in range(size):
            gpu, cpu = self.chance.choice(shapes)
            pods.append(member(name, number, minimum, gpu=gpu, cpu=cpu, priority=priority, grace=1))
        self.world.apply(*pods)

    def leave(self):
        pods = list(self.world.cluster.pods())
        if pods:
            self.world.remove(self.chance.choice(pods))

    def lose_node(self):
        if not self.world.nodes:
            return
        name = self.chance.choice(list(self.world.nodes))
        lost = [pod for pod in self.world.cluster.pods() if pod.spec.node_name == name]
        self.world.remove(self.world.nodes[name], *lost)

    def gain_node(self):
        if len(self.world.nodes) < 6:
            self.world.apply(self.machine(next(self.names) + 10))

    def restart(self):
        TOTALS["restarts"] += 1
        TOTALS.update(self.world.scheduler.gangs.counts)
        self.world.restart()

    def run(self, steps):
        actions = [self.arrive] * 4 + [self.leave] * 2 + [self.lose_node, self.gain_node, self.restart]
        for _ in range(steps):
            self.chance.choice(actions)()
            self.fail = self.chance.choice([0, 0, 0.4])
            self.hold = self.chance.choice([0, 0.2])
            if self.chance.random() < 0.6:
                self.world.settle(self.chance.choice([1, 3, None]))
            else:
                self.world.until(self.world.now + self.chance.randint(1, 40))
        self.fail = self.hold = 0
        # Longer than any grace, backoff and stay in the unschedulable pool.
        self.world.until(self.world.now + 500)


def free_of(world):
    left = {}
    for name, machine in world.nodes.items():
        left[name] = {key: int(machine.status.allocatable[key]) for key in (GPU, "cpu")}
    for pod in world.cluster.pods():
        if pod.spec.node_name:
            for key, amount in pod.spec.containers[0].resources.requests.items():
                left[pod.spec.node_name][key] -= int(amount)
    return left


def fits(members, need, left):
    """Whether ``need`` of the members fit, by trying everything."""
    if need == 0:
        return True
    if len(members) < need:
        return False
    first, rest = members[0], members[1:]
    asks = {key: int(amount) for key, amount in first.items()}
    tried = set()
    for amounts in left.values():
        state = tuple(sorted(amounts.items()))
        if state in tried or any(amounts[key] < ask for key, ask in asks.items()):
            continue
        tried.add(state)
        for key, ask in asks.items():
            amounts[key] -= ask
        found = fits(rest, need - 1, left)
        for key, ask in asks.items():
            amounts[key] += ask
        if found:
            return True
    return fits(rest, need, left)


def check(world):
    left = free_of(world)
    assert all(amount >= 0 for amounts in left.values() for amount in amounts.values()), "overcommitted"
    for group in world.scheduler.gangs:
        bound = {p.metadata.uid for p in world.cluster.pods() if p.spec.node_name} & set(group.members)
        assert group.bound == bound, "counts are those of the pods"
        assert len(bound) == 0 or len(bound) >= group.least, f"{group.name} is partial: {group.phase}"
        pending = list(group.pending())
        if not bound and len(pending) >= group.minimum:
            asks = [entry.pod.spec.containers[0].resources.requests for entry in pending]
            assert not fits(asks, group.minimum, left), f"{group.name} fits but waits: {group.message}"


def see_it_through(history):
    history.run(12)
    check(history.world)
    TOTALS.update(history.world.scheduler.gangs.counts)
    TOTALS["binds"] += history.world.log.binds
    TOTALS["rollbacks"] += history.world.log.rollbacks


@pytest.mark.parametrize("seed", range(25))
def test_at_rest_gangs_are_whole_and_nothing_that_fits_waits(seed):
    see_it_through(Chance(seed))


@pytest.mark.parametrize("seed", range(15))
def test_the_same_where_a_plugin_holds_members_in_permit(seed):
    see_it_through(Chance(seed, held=True))


def test_the_histories_showed_what_they_are_about():
    for what in ("binds", "rollbacks", "restarts", "rolled_back", "evicted", "timed_out"):
        assert TOTALS[what] > 0, what
