"""The usual way to bring scores into 0..100."""

import numpy as np
from numpy.typing import NDArray

from podium.framework.plugin import MAX_SCORE


def default_normalize(
    scores: NDArray[np.int64],
    candidates: NDArray[np.bool_],
    *,
    reverse: bool = False,
    maximum: int = MAX_SCORE,
) -> NDArray[np.int64]:
    """Scale scores so that the best candidate has ``maximum``, or with ``reverse`` the one with score 0.

    Formula (kube-scheduler's ``DefaultNormalizeScore``): with m the largest score of a candidate, at least 0,
    ``maximum * score / m`` in integers rounded toward zero, and with ``reverse`` ``maximum`` minus that. If m
    is 0 scores stay as they are, and with ``reverse`` all become ``maximum``.

    Args:
        scores: int64, shape (nodes,).
        candidates: bool, shape (nodes,); other rows are computed too but do not count.
        reverse: whether a low score is good.
        maximum: the top of the scale.

    Returns:
        New scores, int64, shape (nodes,).

    """
    top = int(scores[candidates].max(initial=0))
    if top <= 0:
        return np.full_like(scores, maximum) if reverse else scores.copy()
    product = scores * np.int64(maximum)
    scaled = np.where(product < 0, -(-product // top), product // top)
    return maximum - scaled if reverse else scaled
