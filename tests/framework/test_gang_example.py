"""The gang plugin of the usual Go tutorial keeps its shape: Permit waits, the last member allows all."""

import collections

import msgspec
from podium.framework import Plugin, Status
from podium.framework.state import CycleState
from podium.testing import FakeHandle, check_plugin, make_pod

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
