import pytest
from podium.errors import PluginError
from podium.framework.status import Code, Status

from tests.framework.runner.conftest import make_plugin

ASKED = []


def gating(name, answer):
    def pre_enqueue(self, pod):
        ASKED.append(name)
        return answer

    return make_plugin(name, pre_enqueue=pre_enqueue)


@pytest.fixture(autouse=True)
def _forget():
    ASKED.clear()


def test_the_first_no_gates(bench, pod):
    runner = bench.runner(gating("A", None), gating("B", Status.unresolvable("wait")), gating("C", None))
    assert runner.pre_enqueue(pod) == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("wait",), "B")
    assert ASKED == ["A", "B"]


def test_who_gated_the_pod_is_asked_first(bench, pod):
    runner = bench.runner(gating("A", None), gating("B", None))
    assert runner.pre_enqueue(pod, gated_by="B").is_success
    assert ASKED == ["B", "A"]


def test_only_concerned_plugins_are_asked(bench, pod):
    runner = bench.runner(gating("A", Status.unschedulable("no")))
    assert runner.pre_enqueue(pod, concerned=frozenset()).is_success


def test_pre_enqueue_errors(bench, pod):
    status = bench.runner(gating("A", Status.wait(1))).pre_enqueue(pod)
    assert status.code is Code.ERROR
    assert status.message == 'running PreEnqueue plugin "A": returned Wait, which is not supported here'
    assert status.plugin == "A"


def test_concerned_asks_every_plugin(bench, pod, caplog):
    def broken(self, pod):
        raise ValueError("boom")

    runner = bench.runner(
        make_plugin("Yes", pre_enqueue=lambda *_: None),
        make_plugin("No", pre_enqueue=lambda *_: None, applies_to=lambda self, pod: False),
        make_plugin("Broken", pre_enqueue=lambda *_: None, applies_to=broken),
    )
    assert runner.concerned(pod) == {"Yes", "Broken"}
    assert "plugin Broken failed at applies_to" in caplog.text


def test_less(bench):
    assert bench.runner(order=["PrioritySort"]).less() is None
    less = bench.runner(make_plugin("A", less=lambda self, a, b: a < b)).less()
    assert less(1, 2)
    assert not less(2, 1)
    junk = bench.runner(make_plugin("A", less=lambda self, a, b: 1)).less()
    with pytest.raises(PluginError, match='plugin "A": less returned int, expected bool'):
        junk(1, 2)
    with pytest.raises(PluginError, match='plugin "A": less raised TypeError'):
        less(1, "x")
