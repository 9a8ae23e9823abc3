import threading

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from podium.errors import PluginError
from podium.framework.state import CycleState, StateKey

COUNTS: StateKey[dict[str, int]] = StateKey("Test/counts")


def test_read_write_delete():
    state = CycleState()
    assert state.get(COUNTS) is None
    assert state.get(COUNTS, {}) == {}
    state.write(COUNTS, {"a": 1})
    assert state.read(StateKey("Test/counts")) == {"a": 1}
    state.delete(COUNTS)
    state.delete(COUNTS)
    with pytest.raises(PluginError, match='cycle state has no "Test/counts"'):
        state.read(COUNTS)


class Domains:
    def __init__(self, counts):
        self.counts = counts

    def clone(self):
        return Domains(dict(self.counts))


@pytest.mark.parametrize(
    ("value", "change", "read"),
    [
        ({"a": 1}, lambda value: value.update(a=2), lambda value: value["a"]),
        ([1], lambda value: value.__setitem__(0, 2), lambda value: value[0]),
        (np.ones(1), lambda value: value.fill(2), lambda value: value[0]),
        (Domains({"a": 1}), lambda value: value.counts.update(a=2), lambda value: value.counts["a"]),
    ],
    ids=["dict", "list", "array", "clone()"],
)
def test_a_clone_is_independent(value, change, read):
    key = StateKey("x")
    state = CycleState(concerned=frozenset({"B"}))
    state.skip_filter, state.skip_all_post_filter = frozenset({"A"}), True
    state.write(key, value)
    clone = state.clone()
    change(clone.read(key))
    assert (read(state.read(key)), read(clone.read(key))) == (1, 2)
    assert (clone.skip_filter, clone.concerned, clone.skip_all_post_filter) == ({"A"}, {"B"}, True)
    clone.skip_score = frozenset({"C"})
    clone.write(StateKey("y"), 1)
    assert state.skip_score == frozenset()
    assert state.get(StateKey("y")) is None


def test_what_cannot_change_is_shared():
    key = StateKey("x")
    state = CycleState()
    frozen = np.ones(3)
    frozen.flags.writeable = False
    state.write(key, frozen)
    assert state.clone().read(key) is frozen


def test_threads_do_not_lose_writes():
    state = CycleState()
    barrier = threading.Barrier(8)

    def work(number):
        barrier.wait()
        for at in range(200):
            state.write(StateKey(f"{number}/{at}"), at)
            state.clone()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(state.read(StateKey(f"{n}/{at}")) == at for n in range(8) for at in range(200))


class Clones(RuleBasedStateMachine):
    """Any tree of clones behaves like a tree of dicts that are copied."""

    def __init__(self):
        super().__init__()
        self.pairs = [(CycleState(), {})]

    @rule(at=st.integers(0, 9), key=st.sampled_from("abc"), value=st.integers())
    def write(self, at, key, value):
        state, model = self.pairs[at % len(self.pairs)]
        state.write(StateKey(key), [value])
        model[key] = [value]

    @rule(at=st.integers(0, 9), key=st.sampled_from("abc"), value=st.integers())
    def change(self, at, key, value):
        state, model = self.pairs[at % len(self.pairs)]
        if key in model:
            state.read(StateKey(key)).append(value)
            model[key].append(value)

    @rule(at=st.integers(0, 9), key=st.sampled_from("abc"))
    def delete(self, at, key):
        state, model = self.pairs[at % len(self.pairs)]
        state.delete(StateKey(key))
        model.pop(key, None)

    @rule(at=st.integers(0, 9))
    def clone(self, at):
        state, model = self.pairs[at % len(self.pairs)]
        self.pairs.append((state.clone(), {key: list(value) for key, value in model.items()}))

    def teardown(self):
        for state, model in self.pairs:
            assert {key: state.get(StateKey(key)) for key in "abc" if state.get(StateKey(key))} == model


TestClones = Clones.TestCase
TestClones.settings = settings(max_examples=50, deadline=None)
