import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from podium.framework.normalize import default_normalize


def reference(scores, reverse, maximum):
    """DefaultNormalizeScore of kube-scheduler, a node at a time."""
    top = max([0, *scores])
    if top == 0:
        return [maximum] * len(scores) if reverse else list(scores)
    scaled = [int(abs(maximum * score) // top) * (1 if score >= 0 else -1) for score in scores]
    return [maximum - score for score in scaled] if reverse else scaled


@given(st.lists(st.integers(-(10**6), 10**12), min_size=1, max_size=20), st.booleans(), st.integers(1, 100))
def test_equals_upstreams_loop(scores, reverse, maximum):
    array = np.array(scores, np.int64)
    result = default_normalize(array, np.ones(len(scores), np.bool_), reverse=reverse, maximum=maximum)
    assert result.tolist() == reference(scores, reverse, maximum)
    assert result.dtype == np.int64


def test_only_candidates_set_the_scale():
    scores = np.array([10, 1000, 5])
    assert default_normalize(scores, np.array([True, False, True])).tolist()[::2] == [100, 50]
    assert default_normalize(scores, np.zeros(3, np.bool_)).tolist() == scores.tolist()


def test_the_input_is_not_changed():
    scores = np.zeros(3, np.int64)
    result = default_normalize(scores, np.ones(3, np.bool_))
    result[0] = 7
    assert scores.tolist() == [0, 0, 0]
