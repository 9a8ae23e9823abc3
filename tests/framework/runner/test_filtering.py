import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from podium.framework.results import FilterResult, PostFilterResult
from podium.framework.runner import NativeVerdicts
from podium.framework.state import CycleState
from podium.framework.status import Code, Status
from podium.testing import make_node, make_pod, node_view

from tests.framework.runner.conftest import Bench, make_plugin


def filtering(name, answer):
    def filter_(self, state, pod, nodes):
        SEEN[name] = nodes.candidates.tolist()
        return answer(nodes) if callable(answer) else answer

    return make_plugin(name, filter=filter_)


SEEN = {}


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


def mask(*rejected, nodes=5):
    result = np.ones(nodes, np.bool_)
    result[list(rejected)] = False
    return result


def test_a_mask_rejects_with_a_default_reason(bench, state, pod, nodes):
    outcome = bench.runner(filtering("A", mask(1, 3))).filter(state, pod, nodes)
    assert outcome.status.is_success
    assert outcome.feasible.tolist() == mask(1, 3).tolist()
    assert [(group.status, group.rows.tolist()) for group in outcome.rejected] == [
        (Status(Code.UNSCHEDULABLE, ("node(s) didn't satisfy plugin A",), "A"), [1, 3])
    ]
    assert bench.seen == [("Filter", "A", "Unschedulable")]


def test_reasons_and_codes_per_node(bench, state, pod, nodes):
    result = FilterResult(
        mask(0, 1, 2, 4),
        ("full", "wrong"),
        np.array([1, 0, 1, 9, 0], np.int8),
        np.array([3, 2, 3, 0, 3]),
    )
    outcome = bench.runner(filtering("A", result)).filter(state, pod, nodes)
    groups = [(str(group.status), group.rows.tolist()) for group in outcome.rejected]
    assert groups == [
        ("UnschedulableAndUnresolvable: wrong", [0, 2]),
        ("Unschedulable: full", [1]),
        ("UnschedulableAndUnresolvable: full", [4]),
    ]


def test_several_reasons_for_all(bench, state, pod, nodes):
    result = FilterResult(mask(2), ("a", "b"), code=Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
    (group,) = bench.runner(filtering("A", result)).filter(state, pod, nodes).rejected
    assert group.status.reasons == ("a", "b")


def test_later_filters_see_what_is_left(bench, state, pod, nodes):
    runner = bench.runner(filtering("A", mask(0)), filtering("B", mask(0, 1)), filtering("C", mask()))
    outcome = runner.filter(state, pod, nodes)
    assert {"A": [True] * 5, "B": mask(0).tolist(), "C": mask(0, 1).tolist()} == SEEN
    assert outcome.first.tolist() == [0, 1, -1, -1, -1]


def test_the_first_plugin_in_the_profile_is_blamed_native_or_not(bench, state, pod, nodes):
    runner = bench.runner(filtering("Mine", mask(0, 1, 2)), order=["NodeName", "Mine", "NodePorts"])
    native = np.array([0, 2, -1, 2, -1], np.int16)
    outcome = runner.filter(state, pod, nodes, NativeVerdicts.of(native))
    assert SEEN["Mine"] == [False, True, True, True, True]
    assert outcome.first.tolist() == [0, 1, 1, 2, -1]
    assert [group.rows.tolist() for group in outcome.rejected] == [[1, 2]]
    assert native.tolist() == [0, 2, -1, 2, -1]


def test_nothing_is_called_when_nothing_is_left(bench, state, pod, nodes):
    runner = bench.runner(filtering("A", mask(*range(5))), filtering("B", mask()))
    assert not runner.filter(state, pod, nodes).feasible.any()
    assert list(SEEN) == ["A"]


def test_skipped_and_unconcerned_filters_are_not_called(bench, state, pod, nodes):
    runner = bench.runner(filtering("A", mask(0)), filtering("B", mask(1)))
    state.skip_filter = frozenset({"A"})
    assert runner.filter(state, pod, nodes).first.tolist() == [-1, 1, -1, -1, -1]
    another = CycleState(frozenset({"A"}))
    another.skip_filter = frozenset({"A"})
    assert runner.filter(another, pod, nodes).feasible.all()


def boom(nodes):
    raise KeyError("zone")


def write(nodes):
    nodes.candidates[0] = False


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (boom, "KeyError: 'zone'"),
        (write, "ValueError: assignment destination is read-only"),
        (
            [True] * 5,
            'plugin "A": filter returned list as mask, expected a NumPy array of bool',
        ),
        (None, 'plugin "A": filter returned NoneType as mask, expected a NumPy array of bool'),
        (np.ones(5, np.int64), 'plugin "A": filter returned int64 as mask, expected bool'),
        (np.ones(4, np.bool_), 'plugin "A": filter returned mask of shape (4,), expected (5,)'),
        (np.ones((5, 1), np.bool_), 'plugin "A": filter returned mask of shape (5, 1), expected (5,)'),
        (
            FilterResult(mask(0), reason=np.zeros(5, np.int8)),
            'plugin "A": filter gave reason 0 for row 0, of 0 reasons',
        ),
        (
            FilterResult(mask(3), ("a",), np.full(5, -1)),
            'plugin "A": filter gave reason -1 for row 3, of 1 reasons',
        ),
        (
            FilterResult(mask(0), ("a",), np.zeros(5)),
            'plugin "A": filter returned float64 as reason, expected an integer',
        ),
        (FilterResult(mask(0), "text"), 'plugin "A": filter gave reasons that are not a tuple of strings'),
        (
            FilterResult(mask(0), code=np.full(5, 17)),
            'plugin "A": filter gave 17, which is no status code',
        ),
        (FilterResult(mask(0), code=Code.SKIP), "returned Skip, which is not supported here"),
        (FilterResult(mask(0), ("bad day",), code=Code.ERROR), "bad day"),
    ],
)
def test_junk_ends_the_cycle_with_an_error(bench, state, pod, nodes, answer, message):
    outcome = bench.runner(filtering("A", answer), filtering("B", mask())).filter(state, pod, nodes)
    assert outcome.status.code is Code.ERROR
    assert outcome.status.message == f'running "A" filter plugin: {message}'
    assert outcome.status.plugin == "A"
    assert "B" not in SEEN


def test_an_error_on_a_node_that_was_out_already_does_not_count(bench, state, pod, nodes):
    result = FilterResult(mask(0), ("bad day",), code=Code.ERROR)
    outcome = bench.runner(filtering("A", mask(0)), filtering("B", result)).filter(state, pod, nodes)
    assert outcome.status.is_success
    assert outcome.first.tolist() == [0, -1, -1, -1, -1]


answers = st.lists(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=4, max_size=4), min_size=1, max_size=4)


@given(answers, st.lists(st.integers(-1, 4), min_size=4, max_size=4))
def test_equals_judging_node_by_node(reasons, native):
    """``reasons[p][n]`` is why plugin p rejects node n, or -1; ``native[n]`` a native plugin's place."""
    bench = Bench()
    view = node_view([make_node(f"n{at}").build() for at in range(4)])
    classes = [
        filtering(f"P{p}", FilterResult(np.array(why) < 0, ("a", "b", "c"), np.array(why)))
        for p, why in enumerate(reasons)
    ]
    order = ["N0", "P0", "N1", "P1", "N2", "P2", "N3", "P3", "N4"]
    kept = [name for name in order if name[0] == "N" or int(name[1]) < len(reasons)]
    place = {name: at for at, name in enumerate(kept)}
    native_first = np.array([place[f"N{n}"] if n >= 0 else -1 for n in native], np.int16)
    verdicts = NativeVerdicts.of(native_first)
    outcome = bench.runner(*classes, order=kept).filter(CycleState(), make_pod().build(), view, verdicts)
    told = {int(row): group.status for group in outcome.rejected for row in group.rows}
    for node in range(4):
        want = None
        for name in kept:
            number = int(name[1])
            if name[0] == "N" and native[node] == number:
                want = name
            if name[0] == "P" and reasons[number][node] >= 0:
                want = name
            if want:
                break
        assert outcome.first[node] == (place[want] if want else -1)
        if want and want[0] == "P":
            assert told[node].plugin == want
            assert told[node].reasons == ("abc"[reasons[int(want[1])][node]],)
        else:
            assert node not in told


class Statuses:
    def get(self, node_name):
        return Status.unschedulable("x")

    def nodes_with(self, code):
        return []


def after(name, answer):
    def post_filter(self, state, pod, statuses):
        SEEN[name] = statuses.get("n").message
        if isinstance(answer, Exception):
            raise answer
        return answer

    return make_plugin(name, post_filter=post_filter)


def test_post_filter_stops_at_success(bench, state, pod):
    runner = bench.runner(
        after("A", Status.unschedulable("a")), after("B", PostFilterResult("n1")), after("C", None)
    )
    result = runner.post_filter(state, pod, Statuses())
    assert result == PostFilterResult("n1", Status())
    assert list(SEEN) == ["A", "B"]


def test_post_filter_stops_when_nothing_helps(bench, state, pod):
    runner = bench.runner(after("A", Status.unresolvable("never")), after("B", None))
    result = runner.post_filter(state, pod, Statuses())
    assert result.status == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("never",), "A")
    assert list(SEEN) == ["A"]


def test_post_filter_joins_reasons_and_keeps_the_last_nomination(bench, state, pod):
    runner = bench.runner(
        after("A", PostFilterResult(status=Status.unschedulable("a"))),
        after("B", PostFilterResult("", Status.unschedulable("b"))),
        after("C", Status.unschedulable()),
    )
    result = runner.post_filter(state, pod, Statuses())
    assert result == PostFilterResult("", Status(Code.UNSCHEDULABLE, ("a", "b"), "A"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (OSError("down"), "OSError: down"),
        (Status.skip(), "returned Skip, which is not supported here"),
        (7, "returned int, expected a Status or None"),
    ],
)
def test_post_filter_errors(bench, state, pod, answer, message):
    result = bench.runner(after("A", answer), after("B", None)).post_filter(state, pod, Statuses())
    assert result.status.code is Code.ERROR
    assert result.status.message == f'running PostFilter plugin "A": {message}'
    assert list(SEEN) == ["A"]


def test_post_filter_can_be_switched_off(bench, state, pod):
    state.skip_all_post_filter = True
    result = bench.runner(after("A", None)).post_filter(state, pod, Statuses())
    assert result.status == Status.unschedulable("All PostFilter plugins are skipped")
    assert SEEN == {}
    assert bench.runner().post_filter(type(state)(), pod, Statuses()).status == Status.unschedulable()
