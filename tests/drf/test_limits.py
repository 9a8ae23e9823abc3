"""Capability, guarantee and deserved in a tree of queues."""

from __future__ import annotations

import math

import pytest
from podium._core import FairShares
from podium.errors import CoreError


@pytest.fixture
def org() -> tuple[FairShares, dict[str, int]]:
    """org/{eng/{dev, prod}, sci} and guest, on 100 CPUs."""
    shares = FairShares([100])
    handles: dict[str, int] = {}
    for name, parent in [
        ("org", None),
        ("eng", "org"),
        ("dev", "eng"),
        ("prod", "eng"),
        ("sci", "org"),
        ("guest", None),
    ]:
        handles[name] = shares.add(name, handles[parent] if parent else None)
    return shares, handles


def test_capability_of_every_ancestor_binds(org: tuple[FairShares, dict[str, int]]) -> None:
    shares, at = org
    shares.set_limits(at["org"], capability=[50])
    shares.set_limits(at["eng"], capability=[30])
    shares.set_limits(at["dev"], capability=[math.inf])
    shares.charge(at["dev"], [20])
    shares.charge(at["sci"], [15])
    assert shares.admits(at["dev"], [10]) is None
    assert shares.admits(at["prod"], [11]) == ("capability", at["eng"], 0, 30)
    assert shares.admits(at["sci"], [16]) == ("capability", at["org"], 0, 50)
    assert shares.admits(at["guest"], [100]) is None
    shares.set_limits(at["eng"])
    assert shares.admits(at["prod"], [15]) is None


def test_guarantees_of_siblings_are_kept_free_at_every_level(org: tuple[FairShares, dict[str, int]]) -> None:
    shares, at = org
    shares.set_limits(at["guest"], guarantee=[40])
    shares.set_limits(at["sci"], guarantee=[10])
    shares.set_limits(at["prod"], guarantee=[5])
    # 100 less 40 for guest is org's; less 10 for sci is eng's; less 5 for prod is dev's.
    assert shares.admits(at["dev"], [45]) is None
    assert shares.admits(at["dev"], [46]) == ("guarantee", at["dev"], 0, 45)
    assert shares.admits(at["prod"], [50]) is None
    assert shares.admits(at["prod"], [51]) == ("guarantee", at["eng"], 0, 50)
    assert shares.admits(at["sci"], [61]) == ("guarantee", at["org"], 0, 60)
    assert shares.admits(at["guest"], [100]) is None


def test_guarantees_follow_their_queue(org: tuple[FairShares, dict[str, int]]) -> None:
    shares, at = org
    shares.set_limits(at["sci"], guarantee=[10])
    assert shares.admits(at["dev"], [91]) == ("guarantee", at["eng"], 0, 90)
    shares.set_parent(at["sci"], None)
    assert shares.admits(at["dev"], [91]) == ("guarantee", at["org"], 0, 90)
    shares.remove(at["sci"])
    assert shares.admits(at["dev"], [91]) is None


def test_over_committed_guarantees_leave_nothing(org: tuple[FairShares, dict[str, int]]) -> None:
    shares, at = org
    shares.set_limits(at["org"], guarantee=[2**62])
    assert shares.admits(at["guest"], [1]) == ("guarantee", at["guest"], 0, 0)
    assert shares.admits(at["guest"], [0]) is None


def test_reclaim_is_judged_below_the_common_queue(org: tuple[FairShares, dict[str, int]]) -> None:
    shares, at = org
    shares.set_limits(at["eng"], guarantee=[20])
    shares.set_limits(at["dev"], deserved=[5])
    shares.charge(at["dev"], [20])
    assert shares.releases(at["dev"], [15], at["prod"]) is None  # stays in eng
    assert shares.releases(at["dev"], [16], at["prod"]) == ("deserved", at["dev"], 0, 5)
    assert shares.releases(at["dev"], [1], at["sci"]) == ("guarantee", at["eng"], 0, 20)


def test_limits_are_read_back() -> None:
    shares = FairShares([1, 1, 1])
    tenant = shares.add("t")
    assert shares.limits(tenant) == ([], [], [])
    shares.set_limits(tenant, capability=[None, 0, math.inf], guarantee=[0], deserved=[7, None])
    assert shares.limits(tenant) == ([None, 0, math.inf], [0], [7, None])


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"guarantee": [math.inf]}, "an unlimited guarantee cannot be honoured"),
        ({"capability": [0, 0, -1]}, "capability of resource 2 is -1: it must not be negative"),
        ({"deserved": [0] * 4}, "deserved has 4 amounts, but there are 3 resources"),
        ({"deserved": [2**63]}, "deserved of resource 0 is 9223372036854775808: it must be an integer below"),
        ({"capability": [1.5]}, "capability of resource 0 is 1.5: it must be an integer"),
    ],
)
def test_refused_limits(limits: dict[str, list[float]], message: str) -> None:
    shares = FairShares([1, 1, 1])
    tenant = shares.add("t")
    with pytest.raises(CoreError, match=message):
        shares.set_limits(tenant, **limits)
    assert shares.limits(tenant) == ([], [], [])
