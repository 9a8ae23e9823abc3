import pytest
from podium.framework.results import PreFilterResult
from podium.framework.runner import PreFilterStep
from podium.framework.status import Code, Status

from tests.framework.runner.conftest import make_plugin


def answering(name, answer):
    def pre_filter(self, state, pod, nodes):
        CALLED.append(name)
        return answer

    return make_plugin(name, pre_filter=pre_filter)


CALLED = []


@pytest.fixture(autouse=True)
def _forget_calls():
    CALLED.clear()


def narrow(*names):
    return PreFilterResult(frozenset(names))


def test_success_and_none_go_on(bench, state, pod, nodes):
    runner = bench.runner(
        answering("A", None), answering("B", Status.success()), answering("C", PreFilterResult())
    )
    outcome = runner.pre_filter(state, pod, nodes)
    assert outcome.status.is_success
    assert outcome.node_names is None
    assert CALLED == ["A", "B", "C"]
    assert bench.seen == [("PreFilter", name, "Success") for name in "ABC"]


def test_skip_leaves_the_filter_out(bench, state, pod, nodes):
    runner = bench.runner(answering("A", Status.skip()), answering("B", None))
    assert runner.pre_filter(state, pod, nodes).status.is_success
    assert state.skip_filter == {"A"}


def test_unresolvable_stops_at_once(bench, state, pod, nodes):
    runner = bench.runner(answering("A", Status.unresolvable("no")), answering("B", None))
    outcome = runner.pre_filter(state, pod, nodes)
    assert outcome.status == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("no",), "A")
    assert CALLED == ["A"]


def test_unschedulable_lets_the_others_prepare(bench, state, pod, nodes):
    plugins = (
        answering("A", Status.unschedulable("a")),
        answering("B", Status.unschedulable("b")),
        answering("C", Status.skip()),
    )
    outcome = bench.runner(*plugins).pre_filter(state, pod, nodes)
    assert outcome.status == Status(Code.UNSCHEDULABLE, ("b",), "B")
    assert CALLED == ["A", "B", "C"]
    assert state.skip_filter == {"C"}


def test_node_sets_are_intersected(bench, state, pod, nodes):
    runner = bench.runner(
        answering("B", narrow("n1", "n2")), answering("A", narrow("n2", "n3")), answering("C", None)
    )
    outcome = runner.pre_filter(state, pod, nodes)
    assert outcome.status.is_success
    assert outcome.node_names == {"n2"}
    assert outcome.narrowed_by == ("A", "B")


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        ([("A", narrow())], "node(s) didn't satisfy plugin A"),
        (
            [("B", narrow("n1")), ("A", narrow("n2"))],
            "node(s) didn't satisfy plugin(s) [A B] simultaneously",
        ),
    ],
)
def test_no_node_left_is_unresolvable(bench, state, pod, nodes, plugins, message):
    classes = [answering(name, answer) for name, answer in plugins]
    outcome = bench.runner(*classes, answering("Z", None)).pre_filter(state, pod, nodes)
    assert outcome.status == Status.unresolvable(message)
    assert outcome.node_names == frozenset()
    assert "Z" not in CALLED


def raising(self, state, pod, nodes):
    raise ValueError("boom")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (raising, 'running PreFilter plugin "A": ValueError: boom'),
        (lambda *_: 3, 'running PreFilter plugin "A": returned int, expected a Status or None'),
        (
            lambda *_: Status.wait(3),
            'running PreFilter plugin "A": returned Wait, which is not supported here',
        ),
        (lambda *_: Status.error("bad day"), 'running PreFilter plugin "A": bad day'),
        (
            lambda *_: PreFilterResult(["n1"]),
            'running PreFilter plugin "A": returned list as node_names, expected a frozenset of names',
        ),
    ],
)
def test_everything_else_is_an_error_that_names_the_plugin(bench, state, pod, nodes, method, message):
    runner = bench.runner(make_plugin("A", pre_filter=method), answering("B", None))
    outcome = runner.pre_filter(state, pod, nodes)
    assert outcome.status.code is Code.ERROR
    assert outcome.status.message == message
    assert outcome.status.plugin == "A"
    assert CALLED == []


def test_native_answers_are_folded_in_profile_order(bench, state, pod, nodes):
    runner = bench.runner(
        answering("Mine", Status.unresolvable("mine")), order=["NodeAffinity", "Mine", "NodePorts"]
    )
    native = {
        "NodePorts": PreFilterStep(Status.unresolvable("ports")),
        "NodeAffinity": PreFilterStep(Status.skip()),
    }
    outcome = runner.pre_filter(state, pod, nodes, native)
    assert outcome.status.plugin == "Mine"
    assert state.skip_filter == {"NodeAffinity"}

    native["NodeAffinity"] = PreFilterStep(node_names=frozenset())
    outcome = runner.pre_filter(state, pod, nodes, native)
    assert outcome.status.message == "node(s) didn't satisfy plugin NodeAffinity"


def test_plugins_that_do_not_concern_the_pod_are_left_out(bench, state, pod, nodes):
    runner = bench.runner(answering("A", Status.unresolvable("no")), answering("B", None))
    state.concerned = frozenset({"B"})
    assert runner.pre_filter(state, pod, nodes).status.is_success
    assert CALLED == ["B"]


class Extended:
    """Counts pods in the state."""

    def pre_filter(self, state, pod, nodes):
        return None

    def add_pod(self, state, pod, added, node):
        LOG.append((self.name, "+", added.metadata.name, node.name))
        return self.answer

    def remove_pod(self, state, pod, removed, node):
        LOG.append((self.name, "-", removed.metadata.name, node.name))
        return self.answer


LOG = []


def extended(name, answer=None):
    methods = {key: value for key, value in vars(Extended).items() if not key.startswith("__")}
    return make_plugin(name, answer=answer, **methods)


def test_extensions_are_told_unless_skipped(bench, state, pod, nodes):
    LOG.clear()
    runner = bench.runner(extended("A"), extended("B"), answering("C", None))
    state.skip_filter = frozenset({"A"})
    assert runner.add_pod(state, pod, pod, nodes.row(1)).is_success
    assert runner.remove_pod(state, pod, pod, nodes.row(2)).is_success
    assert LOG == [("B", "+", "p", "n1"), ("B", "-", "p", "n2")]
    assert [point for point, _, _ in bench.seen] == [
        "PreFilterExtensionAddPod",
        "PreFilterExtensionRemovePod",
    ]


def test_an_extension_must_succeed(bench, state, pod, nodes):
    runner = bench.runner(extended("A", Status.unschedulable("no")))
    status = runner.add_pod(state, pod, pod, nodes.row(0))
    assert status.code is Code.ERROR
    assert status.message == 'running AddPod on PreFilter plugin "A": no'
