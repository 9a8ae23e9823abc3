"""The gang plugin of the usual Go tutorial keeps its shape: Permit waits, the last member allows all."""

import collections

import msgspec
from podium.framework import Plugin, Status
from podium.framework.state import CycleState
from podium.testing import FakeHandle, check_plugin, make_pod

from tests.scheduler.world import World

LABEL = "gang.example.com/name"
MINIMUM = "gang.example.com/min-available"


class GangExample(Plugin):
    name = "GangExample"

    class Args(msgspec.Struct):
        timeout: float = 60.0

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.members = collections.defaultdict(set)

    def applies_to(self, pod):
        return LABEL in pod.metadata.labels

    def permit(self, state, pod, node_name):
        gang = pod.metadata.labels.get(LABEL)
        members = self.members[gang]
        members.add(pod.metadata.uid)
        if len(members) < int(pod.metadata.annotations.get(MINIMUM, 1)):
            return Status.wait(self.args.timeout, f"waiting for gang {gang}")
        for waiting in self.handle.iterate_over_waiting_pods():
            if waiting.pod.metadata.uid in members:
                waiting.allow(self.name)
        return None

    def unreserve(self, state, pod, node_name):
        members = self.members.pop(pod.metadata.labels.get(LABEL), set())
        for waiting in list(self.handle.iterate_over_waiting_pods()):
            if waiting.pod.metadata.uid in members - {pod.metadata.uid}:
                waiting.reject(self.name, f"gang member {pod.metadata.name} failed")


def member(number, gang="g", minimum="3"):
    return make_pod(f"{gang}-{number}").label(LABEL, gang).annotation(MINIMUM, minimum).build()


def place(plugin, handle, pod):
    status = plugin.permit(CycleState(), pod, "n1")
    return None if status is None else handle.hold(pod, "n1", [plugin.name])


def test_the_last_member_allows_all():
    handle = FakeHandle()
    plugin = GangExample(GangExample.Args(), handle)
    first, second = (place(plugin, handle, member(at)) for at in range(2))
    other = place(plugin, handle, member(0, "h"))
    assert plugin.permit(CycleState(), member(2), "n2") is None
    assert (first.decision, second.decision, other.decision) == ("allowed", "allowed", None)


def test_one_that_fails_takes_the_others_along():
    handle = FakeHandle()
    plugin = GangExample(GangExample.Args(), handle)
    held = [place(plugin, handle, member(at)) for at in range(2)]
    plugin.unreserve(CycleState(), member(0), "n1")
    assert [pod.decision for pod in held] == [None, "gang member g-0 failed"]
    plugin.unreserve(CycleState(), member(0), "n1")


def test_it_keeps_the_contract():
    pods = [member(at) for at in range(3)] + [make_pod("alone").build()]
    assert check_plugin(GangExample, pods=pods).points == ("reserve", "permit")


def gang_world():
    world = World(GangExample, nodes=("n1", "n2"), without=("Gang",))
    world.log.detailed = False
    return world


def test_the_last_member_lets_all_go_in_a_profile_without_the_built_in_gangs():
    world = gang_world()
    world.add(member("a"), member("b")).run(30)
    assert not world.log.ends
    world.add(member("c")).run(31)
    assert sorted(end[:2] for end in world.log.ends) == [("bound", f"g-{name}") for name in "abc"]


def test_members_that_wait_in_vain_go_back_together():
    world = gang_world()
    world.add(member("a"), member("b")).run(60.5)
    assert [end[0] for end in world.log.ends] == ["rolled back"] * 2
    assert "timeout after waiting 1m0s at plugin GangExample" in world.log.ends[0][2]
    world.add(member("c")).run(200)
    assert sorted(end[1] for end in world.log.ends if end[0] == "bound") == ["g-a", "g-b", "g-c"]
