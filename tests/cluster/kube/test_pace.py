"""Rates and pauses."""

from __future__ import annotations

import pytest
from podium.cluster.kube.pace import Backoff, TokenBucket


def test_a_burst_then_the_rate():
    now = [0.0]
    bucket = TokenBucket(10, 3, lambda: now[0])
    assert [bucket.take() for _ in range(5)] == [0.0, 0.0, 0.0, pytest.approx(0.1), pytest.approx(0.2)]
    now[0] = 10.0
    assert [bucket.take() for _ in range(4)] == [0.0, 0.0, 0.0, pytest.approx(0.1)]


def test_no_rate_is_no_limit():
    bucket = TokenBucket(0, 1)
    assert {bucket.take() for _ in range(1000)} == {0.0}


def test_pauses_double_up_to_a_limit():
    backoff = Backoff(1.0, 8.0, jitter=0.0)
    assert [backoff.step() for _ in range(5)] == [1.0, 2.0, 4.0, 8.0, 8.0]


def test_jitter_only_lengthens():
    pauses = [Backoff(1.0, 8.0, jitter=0.5).step() for _ in range(200)]
    assert min(pauses) >= 1.0
    assert max(pauses) <= 1.5
    assert len(set(pauses)) > 100
