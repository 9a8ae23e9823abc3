import numpy as np
from podium.framework import PerNodeFilter, PerNodeScore, Status
from podium.framework.registry import implemented_points
from podium.framework.runner import NativeVerdicts
from podium.framework.state import CycleState
from podium.testing import FakeHandle, make_node, make_pod, node_view

from tests.framework.runner.conftest import Bench


class Picky(PerNodeFilter):
    name = "Picky"

    def filter_node(self, state, pod, node):
        assert node.name != "n3", "not a candidate"
        if node.allocatable("cpu") < 2000:
            return Status.unresolvable("too small")
        return Status.unschedulable("busy") if node.labels.get("busy") else None


class Big(PerNodeScore):
    name = "Big"

    def score_node(self, state, pod, node):
        return node.allocatable("cpu") // 1000


def nodes():
    made = [make_node(f"n{at}").capacity(cpu=str(at + 1)) for at in range(4)]
    made[2] = made[2].label("busy", "yes")
    return node_view([node.build() for node in made], candidates=[True, True, True, False])


def test_filter_judges_candidates_one_by_one():
    picky = Picky(None, FakeHandle())
    result = picky.filter(CycleState(), make_pod().build(), nodes())
    assert result.mask.tolist() == [False, True, False, True]
    native = NativeVerdicts.of(np.array([-1, -1, -1, 0], np.int16))
    outcome = (
        Bench()
        .runner(picky, order=["NodeName", "Picky"])
        .filter(CycleState(), make_pod().build(), nodes(), native)
    )
    assert outcome.first.tolist() == [1, -1, 1, 0]
    assert [(str(group.status), group.rows.tolist()) for group in outcome.rejected] == [
        ("UnschedulableAndUnresolvable: too small", [0]),
        ("Unschedulable: busy", [2]),
    ]


def test_score_ranks_candidates():
    scores = Big(None, FakeHandle()).score(CycleState(), make_pod().build(), nodes())
    assert scores.tolist() == [1, 2, 3, 0]
    assert scores.dtype == np.int64


def test_points():
    assert implemented_points(Picky) == ("filter",)
    assert implemented_points(Big) == ("score",)
