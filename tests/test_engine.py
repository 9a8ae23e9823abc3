"""``podium.Engine`` against a plain model of what its docstring says."""

import doctest

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from podium import engine as module
from podium.engine import Engine

RESOURCES = ["cpu", "memory", "gpu"]


class Model:
    """Places one request at a time, knowing the rules and nothing of the core."""

    def __init__(self, nodes, strategy, weights):
        self.nodes = [list(map(int, node)) for node in nodes]
        self.used = [[0] * len(node) for node in self.nodes]
        self.strategy = strategy
        self.weights = weights

    def room(self, request):
        return [
            all(u + r <= has or r == 0 for has, u, r in zip(node, used, request, strict=True))
            for node, used in zip(self.nodes, self.used, strict=True)
        ]

    def score(self, at, request):
        total = weights = 0
        for has, used, asked, weight in zip(
            self.nodes[at], self.used[at], request, self.weights, strict=True
        ):
            if asked and has:
                part = has - used - asked if self.strategy == "spread" else used + asked
                total += part * 100 // has * weight
                weights += weight
        return total // weights if weights else 0

    def best(self, request):
        room = [at for at, fits in enumerate(self.room(request)) if fits]
        scores = {at: self.score(at, request) for at in room}
        return [at for at in room if scores[at] == max(scores.values())]

    def take(self, at, request):
        self.used[at] = [u + r for u, r in zip(self.used[at], request, strict=True)]


amounts = st.lists(st.integers(0, 20), min_size=3, max_size=3)


@given(
    nodes=st.lists(amounts, min_size=1, max_size=8),
    requests=st.lists(amounts.map(lambda row: [value // 3 for value in row]), max_size=25),
    strategy=st.sampled_from(["spread", "pack"]),
    weights=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    seed=st.integers(0, 3),
)
def test_every_placement_is_one_of_the_models_best(nodes, requests, strategy, weights, seed):
    model = Model(nodes, strategy, weights)
    engine = Engine(
        np.array(nodes),
        resources=RESOURCES,
        strategy=strategy,
        weights=dict(zip(RESOURCES, weights, strict=True)),
        seed=seed,
    )
    placements = engine.place(np.array(requests, dtype=np.int64).reshape(-1, 3))
    for request, at in zip(requests, placements.nodes.tolist(), strict=True):
        best = model.best(request)
        if best:
            assert at in best
            model.take(at, request)
        else:
            assert at == -1
    assert engine.used.tolist() == model.used


@given(
    nodes=st.lists(amounts, min_size=1, max_size=6),
    requests=st.lists(amounts.map(lambda row: [value // 3 for value in row]), min_size=1, max_size=20),
    data=st.data(),
)
def test_what_is_released_leaves_room_again(nodes, requests, data):
    engine = Engine(np.array(nodes), resources=RESOURCES)
    placements = engine.place(np.array(requests))
    placed = placements.ids[placements.placed].tolist()
    gone = data.draw(st.lists(st.sampled_from(placed), unique=True)) if placed else []
    engine.release(gone)
    left = [at for at in np.flatnonzero(placements.placed).tolist() if placements.ids[at] not in gone]
    used = np.zeros((len(nodes), 3), dtype=np.int64)
    for at in left:
        used[placements.nodes[at]] += requests[at]
    assert engine.used.tolist() == used.tolist()
    probe = np.array([[1, 1, 1]])
    room = (used + 1 <= np.array(nodes)).all(axis=1)
    assert engine.fits(probe).tolist() == room.tolist()
    again = engine.place(probe).nodes[0]
    assert room[again] if again >= 0 else not room.any()


def test_slices_and_repetitions_change_nothing():
    nodes = np.full((40, 2), 1000)
    requests = np.random.default_rng(1).integers(1, 100, (300, 2))
    whole = Engine(nodes, resources=["a", "b"], seed=5).place(requests).nodes
    sliced = Engine(nodes, resources=["a", "b"], seed=5)
    parts = [sliced.place(part).nodes for part in np.array_split(requests, 7)]
    assert np.concatenate(parts).tolist() == whole.tolist()
    assert Engine(nodes, resources=["a", "b"], seed=6).place(requests).nodes.tolist() != whole.tolist()


def test_frames_bring_names_and_ask_for_a_part_of_the_columns():
    nodes = pl.DataFrame({"name": ["small", "large"], "cpu": [4, 16], "gpu": [0, 2]})
    engine = Engine(nodes)
    assert engine.resources == ["cpu", "gpu"]
    placements = engine.place(pl.DataFrame({"gpu": [1, 1, 1]}))
    assert placements.to_polars().to_dict(as_series=False) == {
        "request": [0, 1, 2],
        "id": [0, 1, None],
        "node": ["large", "large", None],
    }
    assert engine.used.tolist() == [[0, 0], [0, 2]]


def test_a_request_for_nothing_goes_anywhere():
    engine = Engine(np.array([[0, 0]]), resources=["a", "b"])
    assert engine.place(np.zeros((2, 2), dtype=np.int8)).nodes.tolist() == [0, 0]


def test_no_nodes_and_no_requests():
    engine = Engine(np.zeros((0, 1), dtype=int), resources=["a"])
    assert engine.place(np.array([[1]])).nodes.tolist() == [-1]
    assert engine.place(np.zeros((0, 1), dtype=int)).nodes.tolist() == []


def test_views_are_read_only():
    engine = Engine(np.array([[1]]), resources=["a"])
    for view in (engine.used, engine.allocatable):
        with pytest.raises(ValueError, match="read-only"):
            view[0, 0] = 5


ONE = np.array([[1]])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Engine(ONE), ValueError, "name the columns"),
        (lambda: Engine(ONE, resources=["a", "b"]), ValueError, r"shape \(any, 2\), got \(1, 1\)"),
        (lambda: Engine(np.array([1]), resources=["a"]), ValueError, "shape"),
        (lambda: Engine(ONE.astype(float), resources=["a"]), TypeError, "float64: amounts are integers"),
        (lambda: Engine(-ONE, resources=["a"]), ValueError, "negative"),
        (lambda: Engine(ONE * 2**60, resources=["a"]), ValueError, "use a larger unit"),
        (
            lambda: Engine(np.array([[2**64 - 1]], dtype=np.uint64), resources=["a"]),
            ValueError,
            "larger unit",
        ),
        (lambda: Engine(np.array([[1, 1]]), resources=["a", "a"]), ValueError, "repeat"),
        (lambda: Engine(np.zeros((1, 0), dtype=int), resources=[]), ValueError, "no resource"),
        (lambda: Engine(ONE, resources=["a"], strategy="best"), ValueError, "spread, pack"),
        (lambda: Engine(ONE, resources=["a"], weights={"b": 1}), ValueError, "no resource b"),
        (lambda: Engine(ONE, resources=["a"], weights={"a": 0}), ValueError, "from 1 to 100"),
        (lambda: Engine(pl.DataFrame({"a": [1.5]})), TypeError, "column a is Float64"),
        (lambda: Engine(pl.DataFrame({"a": [1, None]})), ValueError, "null"),
        (lambda: Engine(pl.DataFrame({"a": [1]}), resources=["a"]), ValueError, "names of its columns"),
        (lambda: Engine(pl.DataFrame({"name": ["x", "x"], "a": [1, 1]})), ValueError, "same name"),
        (lambda: Engine(pl.DataFrame({"name": [1], "a": [1]})), TypeError, "column name"),
        (lambda: Engine(ONE, resources=["a"]).place(np.array([[1, 2]])), ValueError, "shape"),
        (
            lambda: Engine(ONE, resources=["a"]).place(pl.DataFrame({"b": [1]})),
            ValueError,
            "no node has a column b",
        ),
        (
            lambda: Engine(ONE, resources=["a"]).fits(np.array([[1], [1]])),
            ValueError,
            "one request at a time",
        ),
        (lambda: Engine(ONE, resources=["a"]).release([0]), KeyError, "0"),
    ],
)
def test_errors_say_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_refused_list_of_requests_places_nothing():
    engine = Engine(np.array([[10]]), resources=["a"])
    with pytest.raises(ValueError, match="negative"):
        engine.place(np.array([[1], [-1]]))
    assert engine.used.tolist() == [[0]]
    assert engine.place(np.array([[1]])).ids.tolist() == [0]


def test_the_examples_of_the_docstring_run():
    assert doctest.testmod(module).failed == 0
