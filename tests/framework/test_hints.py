import pytest
from podium.errors import PluginError
from podium.framework.events import Action, ClusterEvent, EventRegistration, Hint, Resource
from podium.framework.hints import HintTable
from podium.testing import FakeHandle, make_pod

from tests.framework.runner.conftest import make_plugin

NODE_ADD = ClusterEvent(Resource.NODE, Action.ADD)
POD_DELETE = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)


def table(**events):
    made = {
        name: make_plugin(
            name, filter=lambda *_: None, events_to_register=lambda self, answer=answer: answer
        )(None, FakeHandle())
        for name, answer in events.items()
    }
    return HintTable.of(made)


def on(event, hint=None):
    return EventRegistration(event, hint)


def test_only_plugins_that_can_reject_are_read():
    def broken(self):
        raise AssertionError("must not be read")

    scorer = make_plugin("S", score=lambda *_: None, events_to_register=broken)(None, FakeHandle())
    assert HintTable.of({"S": scorer}).by_plugin == {}


def test_interest_and_answers():
    pod = make_pod().build()
    asked = []

    def hint(pod, old, new):
        asked.append((pod, old, new))
        return Hint.QUEUE if new == "big" else Hint.SKIP

    hints = table(A=[on(NODE_ADD, hint)], B=[on(NODE_ADD)], C=[on(POD_DELETE)], D=None, E=())
    assert hints.interested(NODE_ADD) == {"A", "B", "D"}
    assert hints.ask("A", NODE_ADD, pod, (None, "small")) is Hint.SKIP
    assert hints.ask("A", NODE_ADD, pod, (None, "big")) is Hint.QUEUE
    assert asked[1] == (pod, None, "big")
    assert hints.ask("B", NODE_ADD, pod, (None, "small")) is Hint.QUEUE
    assert hints.ask("C", NODE_ADD, pod, (None, "small")) is Hint.SKIP
    assert hints.ask("D", POD_DELETE, pod, ("x", None)) is Hint.QUEUE
    assert hints.ask("Unknown", NODE_ADD, pod, (None, None)) is Hint.SKIP


def test_any_matching_registration_is_enough():
    skip, queue = (lambda *_: Hint.SKIP), (lambda *_: Hint.QUEUE)
    hints = table(A=[on(NODE_ADD, skip), on(ClusterEvent(Resource.NODE, Action.ALL), queue)])
    assert hints.ask("A", NODE_ADD, make_pod().build(), (None, None)) is Hint.QUEUE


def test_a_broken_hint_queues(caplog):
    def broken(pod, old, new):
        raise ValueError("boom")

    hints = table(A=[on(NODE_ADD, broken)])
    assert hints.ask("A", NODE_ADD, make_pod().build(), (None, None)) is Hint.QUEUE
    assert "queueing hint of plugin A failed for NodeAdd" in caplog.text


def test_registrations_are_checked_at_the_start():
    with pytest.raises(PluginError, match='plugin "A": events_to_register must return EventRegistration'):
        table(A=[NODE_ADD])

    def broken(self):
        raise ValueError("boom")

    plugin = make_plugin("A", filter=lambda *_: None, events_to_register=broken)(None, FakeHandle())
    with pytest.raises(PluginError, match='plugin "A": events_to_register raised ValueError: boom'):
        HintTable.of({"A": plugin})
