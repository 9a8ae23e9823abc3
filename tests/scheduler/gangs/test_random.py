"""Random arrivals, deletions, node failures, failed binds and restarts: what holds whenever all is quiet."""

import itertools
import random
from collections import Counter

import pytest
from msgspec.structs import replace
from podium.framework import Status

from tests.scheduler.gangs.world import GPU, World, member, node
from tests.scheduler.world import plugin

HELD = "held"

#: What every history must have met, beside what is drawn.
EVERY = ("binds", "failed_binds", "rolled_back", "timed_out", "restarts")

#: Steps within which it must have.
MOST = 200


class Chance:
    """One random history; everything comes from the seed.

    Half of the gangs are a matter of a Python plugin that may let a member wait in Permit until its time is
    over.
    """

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.fail = self.hold = 0.0
        self.names = itertools.count()
        self.met: Counter[str] = Counter()
        self.earlier: Counter[str] = Counter()
        holds = plugin(
            "Holds",
            [],
            points=("permit",),
            permit=self.permit,
            applies_to=lambda _, pod: HELD in pod.metadata.labels,
        )
        machines = [self.machine(number) for number in range(self.chance.randint(1, 6))]
        self.world = World(*machines, bind_fails=self.bind_fails, plugins=[holds])

    def permit(self, *_):
        return Status.wait(5, "hold on") if self.chance.random() < self.hold else None

    def machine(self, number):
        return node(f"n{number}", gpu=str(self.chance.randint(1, 4)), cpu=str(self.chance.randint(2, 8)))

    def bind_fails(self, _uid, _node):
        fails = self.chance.random() < self.fail
        self.met["failed_binds"] += fails
        return "no luck" if fails else ""

    def counts(self):
        """Return what has been met so far; a scheduler that was restarted has forgotten its own."""
        binds = Counter(binds=self.world.log.binds)
        return binds + self.met + self.earlier + self.world.scheduler.gangs.counts

    def arrive(self):
        held = self.chance.random() < 0.5
        size = self.chance.randint(1, 8)
        minimum = self.chance.randint(1, size)
        name = f"g{next(self.names)}x"
        priority = self.chance.choice([0, 0, 10])
        shapes = [(str(self.chance.randint(0, 2)), str(self.chance.randint(1, 3))) for _ in range(2)]
        pods = []
        for number in range(size):
            gpu, cpu = self.chance.choice(shapes)
            pod = member(name, number, minimum, gpu=gpu, cpu=cpu, priority=priority, grace=1)
            pods.append(labelled(pod, HELD) if held else pod)
        self.world.apply(*pods)

    def leave(self):
        pods = list(self.world.cluster.pods())
        if pods:
            self.world.remove(self.chance.choice(pods))

    def finish(self):
        """Let a gang that runs, or waits, go as a whole."""
        groups = list(self.world.scheduler.gangs)
        if groups:
            group = self.chance.choice(groups)
            self.world.remove(*(entry.pod for entry in group.members.values()))

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
        self.met["restarts"] += 1
        self.earlier += self.world.scheduler.gangs.counts
        self.world.restart()

    def run(self, steps):
        """Take so many steps, and more until all of ``EVERY`` was met; then let all come to rest."""
        actions = [self.arrive] * 4 + [self.leave] * 2 + [self.lose_node, self.gain_node, self.restart]
        for step in range(MOST):
            if step >= steps:
                if all(self.counts()[what] for what in EVERY):
                    break
                # Room for newcomers, or there is nothing that could be bound, or fail to be.
                actions = [self.arrive] * 4 + [self.finish] * 6 + [self.gain_node, self.restart]
            self.chance.choice(actions)()
            self.fail = self.chance.choice([0, 0, 0.4, 1])
            self.hold = self.chance.choice([0, 0.2, 0.6])
            if self.chance.random() < 0.6:
                self.world.settle(self.chance.choice([1, 3, None]))
            else:
                self.world.until(self.world.now + self.chance.randint(1, 40))
        self.fail = self.hold = 0
        # Longer than any grace, backoff and stay in the unschedulable pool.
        self.world.until(self.world.now + 500)


def labelled(pod, label):
    labels = {**pod.metadata.labels, label: ""}
    return replace(pod, metadata=replace(pod.metadata, labels=labels))


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


@pytest.mark.parametrize("seed", range(30))
def test_at_rest_gangs_are_whole_and_nothing_that_fits_waits(seed):
    history = Chance(seed)
    history.run(12)
    check(history.world)
    counts = history.counts()
    assert {what: counts[what] for what in EVERY if not counts[what]} == {}
