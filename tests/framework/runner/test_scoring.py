import numpy as np
import pytest
from podium.framework.status import Code, Status

from tests.framework.runner.conftest import make_plugin


def scoring(name, answer, normalized=None, pre_score=None):
    methods = {}

    def score(self, state, pod, nodes):
        return answer(nodes) if callable(answer) else answer

    def normalize_score(self, state, pod, nodes, scores):
        return normalized(scores, nodes) if callable(normalized) else normalized

    if answer is not None:
        methods["score"] = score
    if normalized is not None:
        methods["normalize_score"] = normalize_score
    if pre_score is not None:
        methods["pre_score"] = lambda self, state, pod, nodes: pre_score
    return make_plugin(name, **methods)


SCORES = np.array([0, 25, 50, 75, 100])


def test_scores_are_weighted_and_added(bench, state, pod, nodes):
    runner = bench.runner(
        scoring("A", SCORES), scoring("B", SCORES.astype(np.int8)[::-1].copy()), weights={"A": 3, "B": 2}
    )
    outcome = runner.score(state, pod, nodes)
    assert outcome.status.is_success
    assert outcome.total.dtype == np.int64
    assert outcome.total.tolist() == (3 * SCORES + 2 * SCORES[::-1]).tolist()
    first, second = outcome.plugins
    assert (first.plugin, first.weight, second.plugin, second.weight) == ("A", 3, "B", 2)
    assert first.weighted.tolist() == (3 * SCORES).tolist()
    assert bench.seen == [("Score", "A", "Success"), ("Score", "B", "Success")]


def test_only_feasible_nodes_count(bench, state, pod, nodes):
    view = nodes.with_candidates(np.array([True, False, True, False, True]))
    scores = np.array([1, 1000, 2, -5, 3])
    outcome = bench.runner(scoring("A", scores)).score(state, pod, view)
    assert outcome.status.is_success
    assert outcome.total.tolist() == [1, 0, 2, 0, 3]


def test_normalizing_replaces_the_scores_and_keeps_the_raw_ones(bench, state, pod, nodes):
    raw = SCORES * 10
    runner = bench.runner(scoring("A", raw, lambda scores, nodes: scores // 10))
    (own,) = runner.score(state, pod, nodes).plugins
    assert own.raw.tolist() == raw.tolist()
    assert own.normalized.tolist() == SCORES.tolist()
    assert bench.seen[-1] == ("ScoreExtensionNormalize", "A", "Success")


def test_pre_score_can_skip_the_score(bench, state, pod, nodes):
    runner = bench.runner(
        scoring("A", SCORES, pre_score=Status.skip()), scoring("B", SCORES, pre_score=Status.success())
    )
    assert runner.pre_score(state, pod, nodes, frozenset({"NodeAffinity"})).is_success
    assert state.skip_score == {"A", "NodeAffinity"}
    assert [own.plugin for own in runner.score(state, pod, nodes).plugins] == ["B"]


@pytest.mark.parametrize("answer", [Status.unschedulable("no"), Status.error("no")])
def test_pre_score_must_succeed_or_skip(bench, state, pod, nodes, answer):
    runner = bench.runner(scoring("A", None, pre_score=answer), scoring("B", None, pre_score=Status.skip()))
    status = runner.pre_score(state, pod, nodes)
    assert status.code is Code.ERROR
    assert status.message == 'running PreScore plugin "A": no'
    assert state.skip_score == frozenset()


def boom(*_):
    raise ZeroDivisionError("division by zero")


def overwrite(scores, nodes):
    scores[0] = 1
    return scores


RUNNING = 'running Score plugins: plugin "A" failed with: '
NORMALIZING = 'running Normalize on Score plugins: plugin "A" failed with: '
APPLYING = "applying score defaultWeights on Score plugins: "


@pytest.mark.parametrize(
    ("answer", "normalized", "message"),
    [
        (boom, None, f"{RUNNING}ZeroDivisionError: division by zero"),
        (
            [1] * 5,
            None,
            f'{RUNNING}plugin "A": score returned list as scores, expected a NumPy array of int64',
        ),
        (SCORES * 1.0, None, f'{RUNNING}plugin "A": score returned float64 as scores, expected int64'),
        (np.array([1, 2, np.nan, 4, 5]), None, f'{RUNNING}plugin "A": score returned NaN for row 2'),
        (SCORES > 3, None, f'{RUNNING}plugin "A": score returned bool as scores, expected int64'),
        (SCORES[:4], None, f'{RUNNING}plugin "A": score returned scores of shape (4,), expected (5,)'),
        (
            np.full(5, 2**64 - 1, np.uint64),
            None,
            f'{RUNNING}plugin "A": score returned a score above 2^63-1',
        ),
        (SCORES, boom, f"{NORMALIZING}ZeroDivisionError: division by zero"),
        (SCORES, overwrite, f"{NORMALIZING}ValueError: assignment destination is read-only"),
        (
            SCORES,
            SCORES / 3,
            f'{NORMALIZING}plugin "A": normalize_score returned float64 as scores, expected int64',
        ),
        (
            SCORES + 1,
            None,
            f'{APPLYING}plugin "A" returns an invalid score 101, it should in the range of [0, 100] after '
            "normalizing (row 4)",
        ),
        (
            SCORES,
            SCORES - 1,
            f'{APPLYING}plugin "A" returns an invalid score -1, it should in the range of [0, 100] after '
            "normalizing (row 0)",
        ),
    ],
)
def test_junk_ends_the_cycle_with_an_error(bench, state, pod, nodes, answer, normalized, message):
    outcome = bench.runner(scoring("A", answer, normalized)).score(state, pod, nodes)
    assert outcome.status.code is Code.ERROR
    assert outcome.status.message == message
    assert outcome.plugins == ()
    assert outcome.total.tolist() == [0] * 5


def test_no_plugins_no_scores(bench, state, pod, nodes):
    outcome = bench.runner(order=["ImageLocality"]).score(state, pod, nodes)
    assert outcome.status.is_success
    assert outcome.total.tolist() == [0] * 5
