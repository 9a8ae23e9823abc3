"""The plugin of docs/writing-a-plugin.md, which has Permit alone, and the built-in gangs, side by side."""

import random

import pytest

from tests.framework.test_gang_example import GangExample
from tests.scheduler.gangs.world import gang, node
from tests.scheduler.world import World

#: Seconds that the plain plugin holds a pod.
HOLD = 60


class Scene:
    """One of both on a cluster, and what it has come to at some time."""

    def __init__(self, plain, machines, pods):
        plugins, without = ([GangExample], ("Gang",)) if plain else ([], ())
        self.world = World(*plugins, nodes=(), without=without)
        self.world.cluster.apply(machines)
        self.world.add(*pods)

    def at(self, seconds):
        self.world.run(until=seconds)
        return self

    def bound(self, prefix=""):
        pods = self.world.cluster.pods()
        return sum(bool(p.spec.node_name) and p.metadata.name.startswith(prefix) for p in pods)

    @property
    def held(self):
        """Pods in Permit: their places are taken, and nobody works there."""
        return len(self.world.scheduler.binder.waiting)

    @property
    def rolled_back(self):
        return sum(end[0] == "rolled back" for end in self.world.log.ends)


def both(machines, pods):
    return Scene(True, machines, pods), Scene(False, machines, pods)


def interleaved(*jobs):
    return [pod for members in zip(*jobs, strict=True) for pod in members]


def test_two_jobs_that_hold_a_half_each_do_so_for_an_hour():
    machines = [node("a", gpu="2"), node("b", gpu="2")]
    plain, ours = both(machines, interleaved(gang("one", 4), gang("two", 4)))
    assert (ours.at(0).bound(), ours.held) == (4, 0)
    assert (plain.at(0).bound(), plain.held) == (0, 4)
    rounds = []
    for minute in range(1, 61):
        plain.at(minute * HOLD + 1)
        assert (plain.bound(), plain.held) == (0, 4), f"minute {minute}"
        rounds.append(plain.rolled_back)
    # Every minute both give up their halves, and take them again.
    assert rounds == [4 * minute for minute in range(1, 61)]
    ours.at(3600)
    assert (ours.bound(), ours.rolled_back) == (4, 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_of_jobs_that_all_hold_a_part(seed):
    machines = [node(f"n{number}", gpu="4") for number in range(3)]
    pods = [pod for number in range(6) for pod in gang(f"job{number}x", 4)]
    random.Random(seed).shuffle(pods)
    plain, ours = both(machines, pods)
    # Three of the six jobs fit: they run at once, whatever the order.
    assert (ours.at(0).bound(), ours.held) == (12, 0)
    assert {ours.bound(f"job{number}x") for number in range(6)} == {0, 4}
    # All nodes are full, of parts of jobs that wait for what other parts hold.
    assert plain.at(HOLD - 1).bound() + plain.held == 12
    assert plain.held >= 8
    assert plain.at(10 * HOLD).bound() + plain.held == 12
    assert plain.held > 0
    assert plain.rolled_back >= 8 * 8


def test_a_job_that_can_never_run_holds_what_others_need():
    machines = [node("a", gpu="4")]
    plain, ours = both(machines, [*gang("large", 5), *gang("small", 2)])
    assert (ours.at(0).bound("small"), ours.held) == (2, 0)
    # The answer is known at once; who only has Permit waits for the time to be over.
    assert (plain.at(HOLD - 1).bound("small"), plain.held) == (0, 4)
    assert plain.at(HOLD + 1).bound("small") == 2
    # And the large one goes on taking what is free.
    assert (plain.at(10 * HOLD).held, ours.at(10 * HOLD).held) == (2, 0)


def test_jobs_that_end_make_room_for_others_only_where_nobody_holds_it():
    machines = [node("a", gpu="2"), node("b", gpu="2")]
    jobs = [gang(f"job{number}x", 4) for number in range(4)]
    plain, ours = both(machines, interleaved(*jobs))
    done = []
    for turn in range(4):
        running = {
            pod.metadata.name[:5] for pod in ours.at(turn * 20).world.cluster.pods() if pod.spec.node_name
        }
        assert len(running) == 1
        done += running
        for pod in [pod for pod in ours.world.cluster.pods() if pod.metadata.name[:5] in running]:
            ours.world.remove(pod)
    assert sorted(done) == ["job0x", "job1x", "job2x", "job3x"]
    assert plain.at(600).bound() == 0
