"""Every extension point through the loop: order, codes, what each code does next, junk, errors."""

import asyncio

import numpy as np
import pytest
from podium.api.manifest import Loaded, Manifest
from podium.cluster.simulated import SECOND
from podium.framework import (
    Action,
    ClusterEvent,
    EventRegistration,
    FilterResult,
    Plugin,
    PostFilterResult,
    PreFilterResult,
    Resource,
    Status,
)
from podium.framework.state import PODS_TO_ACTIVATE, StateKey
from podium.scheduler.cycle import refused_by_native
from podium.scheduler.failures import Refusal
from podium.simulator.judge import judge_pending
from podium.testing import make_node, make_pod

from tests.scheduler.world import World, config_of, plugin

ROLLED_BACK = ("reserve", "permit", "pre_bind", "bind")
REJECTIONS = {
    "unschedulable": Status.unschedulable("no"),
    "unresolvable": Status.unresolvable("no"),
    "pending": Status.pending("no"),
    "error": Status.error("broken"),
}


def pod(name="p", cpu="1"):
    return make_pod(name).request(cpu=cpu).build()


def raise_it(*_):
    raise RuntimeError("oops")


def test_the_order_of_one_pod():
    calls = []
    world = World(plugin("A", calls), plugin("B", calls))
    world.add(one := pod()).run()
    both = [
        "pre_enqueue", "pre_filter", "filter", "pre_score", "score", "normalize_score",
        "reserve", "permit", "pre_bind", "bind", "post_bind",
    ]  # fmt: skip
    assert [point for point, name, *_ in calls if name == "A"] == both
    assert [point for point, name, *_ in calls if name == "B"] == both
    # Score runs for all plugins before NormalizeScore does for any.
    scoring = [(point, name) for point, name, *_ in calls if "score" in point and point != "pre_score"]
    assert scoring == [("score", "A"), ("score", "B"), ("normalize_score", "A"), ("normalize_score", "B")]
    assert world.node_of(one) in {"n1", "n2"}
    assert world.log.ends == [("bound", "p", world.node_of(one))]


def test_pods_that_concern_no_plugin_never_leave_the_core():
    calls = []
    world = World(plugin("A", calls, applies_to=lambda self, pod: pod.metadata.name == "mine"))
    world.add(pod("other"))
    world.run()
    # Asked once per class, and both are of one class.
    assert calls == []
    assert world.log.ends[0][:2] == ("bound", "other")


def test_pre_filter_narrows_and_skips():
    calls = []
    narrow = plugin("Narrow", calls, pre_filter=lambda *_: PreFilterResult(frozenset({"n2", "gone"})))
    skips = plugin("Skips", calls, pre_filter=lambda *_: Status.skip(), filter=raise_it)
    world = World(narrow, skips)
    world.add(one := pod()).run()
    assert world.node_of(one) == "n2"
    assert ("filter", "Skips", "p") not in calls


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Status.unschedulable("not now"), "0/2 nodes are available: not now."),
        (Status.unresolvable("never"), "0/2 nodes are available: never."),
        (PreFilterResult(frozenset()), "0/2 nodes are available: node(s) didn't satisfy plugin A."),
        (Status.error("broken"), 'running PreFilter plugin "A": broken'),
        (5, 'running PreFilter plugin "A": returned int, expected a Status or None'),
    ],
)
def test_pre_filter_rejects(answer, message):
    world = World(plugin("A", None, pre_filter=lambda *_: answer))
    world.add(one := pod()).run()
    assert world.message_of(one).split(" preemption:")[0] == message
    assert world.pool_of(one) == ("backoff" if message.startswith("running") else "unschedulable")


def test_the_first_filter_in_the_profile_gives_the_status():
    calls = []

    def first(self, state, pod, nodes):
        return nodes.names != "n1"

    def second(self, state, pod, nodes):
        assert nodes.candidates.tolist() == [False, True]
        return FilterResult(np.zeros(2, np.bool_), ("not for B",))

    world = World(plugin("A", calls, filter=first), plugin("B", calls, filter=second))
    world.add(one := pod(), big := pod("big", cpu="9")).run()
    text = "0/2 nodes are available: 1 node(s) didn't satisfy plugin A, 1 not for B."
    assert world.message_of(one).startswith(text)
    # Native filters come first: where all nodes are out, no Python filter is called.
    assert ("filter", "A", "big") not in calls
    assert world.message_of(big).startswith("0/2 nodes are available: 2 Insufficient cpu.")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (lambda n: np.ones(n + 1, np.bool_), "returned mask of shape (3,), expected (2,)"),
        (lambda n: np.ones(n), "returned float64 as mask, expected bool"),
        (lambda n: [True] * n, "returned list as mask, expected a NumPy array of bool"),
        (lambda n: FilterResult(np.zeros(n, np.bool_), ("x",), code=Status.error("x").code), "x"),
        (raise_it, "RuntimeError: oops"),
    ],
)
def test_a_filter_that_answers_junk(answer, fault):
    world = World(plugin("A", None, filter=lambda self, state, pod, nodes: answer(len(nodes))))
    world.add(one := pod()).run()
    message = world.message_of(one)
    assert message.startswith('running "A" filter plugin: ')
    assert fault in message
    assert world.pool_of(one) == "backoff"


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        (np.array([0, 101]), 'plugin "A" returns an invalid score 101'),
        (np.array([0.5, 1.0]), "returned float64 as scores, expected int64"),
        (np.array([np.nan, 1.0]), "returned NaN for row 0"),
        (np.zeros(3, np.int64), "returned scores of shape (3,), expected (2,)"),
        (None, "returned NoneType as scores, expected a NumPy array of int64"),
    ],
)
def test_scores_are_checked(scores, fault):
    world = World(plugin("A", None, score=lambda *_: scores))
    world.add(one := pod()).run()
    assert fault in world.message_of(one)
    assert world.node_of(one) is None


def test_scores_are_weighted_and_normalised():
    def prefer(self, state, pod, nodes):
        return np.where(nodes.names == "n2", 7, 0)

    def scale(self, state, pod, nodes, scores):
        return scores * 100 // 7

    world = World(plugin("A", None, score=prefer, normalize_score=scale))
    world.add(*(pods := [pod(f"p{at}") for at in range(6)])).run()
    assert {world.node_of(one) for one in pods} == {"n2"}


def test_pre_score_skip_leaves_the_score_out():
    world = World(plugin("A", None, pre_score=lambda *_: Status.skip(), score=raise_it))
    world.add(one := pod()).run()
    assert world.node_of(one)


def test_writing_to_a_view_fails():
    def write(self, state, pod, nodes):
        nodes.requested("cpu")[0] = 1

    world = World(plugin("A", None, filter=write))
    world.add(one := pod()).run()
    assert "read-only" in world.message_of(one)


@pytest.mark.parametrize("point", ROLLED_BACK)
@pytest.mark.parametrize("code", [*REJECTIONS, "raises", "junk"])
def test_whatever_fails_after_assuming_is_rolled_back(point, code):
    calls = []
    answers = {"raises": raise_it, "junk": lambda *_: 5}
    told = answers.get(code) or (lambda *_: REJECTIONS[code])
    world = World(plugin("A", calls), plugin("B", calls, **{point: told}), plugin("C", calls))
    world.add(one := pod()).run()
    unreserved = [name for what, name, *_ in calls if what == "unreserve"]
    assert unreserved == ["C", "B", "A"]
    assert world.node_of(one) is None
    assert world.scheduler.engine.totals()["cpu"][1] == 0
    assert world.scheduler.binder.in_flight == 0
    message = world.message_of(one)
    rejected = code in {"unschedulable", "unresolvable", "pending"}
    if not rejected:
        assert 'plugin "B"' in message
    elif point in {"reserve", "permit"}:
        assert message == "0/1 nodes are available: 1 no."
        assert world.pool_of(one) == "unschedulable"
    else:
        assert message == "no"
    if not rejected or point in {"pre_bind", "bind"}:
        assert world.pool_of(one) == "backoff"


def test_unreserve_that_raises_does_not_stop_the_others():
    calls = []
    world = World(
        plugin("A", calls), plugin("B", calls, unreserve=raise_it, permit=lambda *_: Status.unschedulable())
    )
    world.add(one := pod()).run()
    assert [name for what, name, *_ in calls if what == "unreserve"] == ["B", "A"]
    assert world.pool_of(one) == "unschedulable"


@pytest.mark.parametrize("seconds", [0, 1, 60, 3600])
def test_permit_times_out(seconds):
    world = World(plugin("A", None, permit=lambda *_: Status.wait(seconds)))
    world.add(one := pod())
    world.step()
    if seconds:
        assert world.node_of(one)
        world.run(seconds - 0.001)
        assert world.log.ends == []
    world.cluster.advance(seconds * SECOND)
    world.step(0)
    text = {0: "0s", 1: "1s", 60: "1m0s", 3600: "1h0m0s"}[seconds]
    reason = f"0/1 nodes are available: 1 rejected due to timeout after waiting {text} at plugin A."
    assert world.log.ends == [("rolled back", "p", reason)]
    assert [attempt.result for attempt in world.log.attempts] == ["waiting", "unschedulable"]


def test_allow_in_the_last_moment_wins_against_time():
    """Exactly one decides: what was said before the step in which time runs out comes first."""

    def permit(self, state, pod, node):
        waiting = self.handle.get_waiting_pod(first.metadata.uid)
        if waiting is not None:
            waiting.allow(self.name)
            return None
        return Status.wait(60)

    first, second = pod("first"), pod("second")
    world = World(plugin("A", None, permit=permit))
    world.add(first)
    world.run(59.999)
    world.add(second)
    world.step()
    world.cluster.advance(60 * SECOND)
    world.run(60)
    assert {end[:2] for end in world.log.ends} == {("bound", "first"), ("bound", "second")}


def test_two_plugins_that_wait():
    world = World(
        plugin("A", None, permit=lambda *_: Status.wait(60)),
        plugin("B", None, permit=lambda *_: Status.wait(5)),
    )
    world.add(one := pod())
    world.step()
    held = world.scheduler.binder.waiting.get(one.metadata.uid)
    assert held.pending_plugins == ("A", "B")
    held.allow("B")
    world.run(59)
    assert world.log.ends == []
    held.allow("A")
    world.run(59)
    assert world.log.ends == [("bound", "p", held.node_name)]


def test_async_points_take_virtual_time():
    async def pre_bind(self, state, pod, node):
        await asyncio.sleep(0.05)

    async def post_bind(self, state, pod, node):
        self.done = self.handle.now()

    made = plugin("A", None, points=("pre_bind", "post_bind"))
    made.pre_bind, made.post_bind = pre_bind, post_bind
    world = World(made)
    world.add(one := pod())
    world.run(0.049)
    assert world.log.ends == []
    world.run(1)
    assert world.log.ends == [("bound", "p", world.node_of(one))]


def test_a_plugin_that_never_answers_holds_its_own_pod_only():
    async def pre_bind(self, state, pod, node):
        if pod.metadata.name == "stuck":
            await asyncio.Event().wait()

    made = plugin("A", None, points=("pre_bind", "reserve", "unreserve"))
    made.pre_bind = pre_bind
    world = World(made)
    world.add(stuck := pod("stuck"), pod("other"))
    world.run(100)
    assert [end[:2] for end in world.log.ends] == [("bound", "other")]
    assert world.scheduler.binder.in_flight == 1
    world.remove(stuck)
    world.run(101)
    assert world.log.ends[1] == ("rolled back", "stuck", "the pod is gone")
    assert world.scheduler.binder.in_flight == 0


def test_a_binder_of_ones_own():
    world = World(plugin("A", None, bind=lambda *_: None))
    world.add(one := pod()).run()
    assert world.log.ends == [("bound", "p", world.node_of(one))]
    assert world.cluster.pod(one.metadata.uid).spec.node_name == world.node_of(one)


def test_post_filter_nominates_and_a_rejection_goes_on():
    calls = []
    world = World(
        plugin("A", calls, post_filter=lambda *_: Status.unschedulable("A cannot help")),
        plugin("B", calls, post_filter=lambda *_: PostFilterResult("n2")),
    )
    world.add(one := pod(cpu="9")).run()
    entry = world.scheduler.state.entry(one.metadata.uid)
    assert world.scheduler.engine.nominated(entry.handle) == "n2"
    assert [name for what, name, *_ in calls if what == "post_filter"] == ["A", "B"]


def test_preemption_asks_python_filters_about_hypothetical_nodes():
    """A filter that allows one pod per node: its victims make room, seen through columns and the state."""
    key = StateKey("One/removed")
    calls = []

    def pre_filter(self, state, pod, nodes):
        state.write(key, [])

    def room(self, state, pod, nodes):
        return nodes.pod_count() < 1

    def remove_pod(self, state, pod, removed, node):
        state.read(key).append(removed.metadata.name)
        calls.append(("removed", removed.metadata.name, node.name, node.requested("cpu")))

    world = World(
        plugin("One", calls, pre_filter=pre_filter, filter=room, remove_pod=remove_pod), nodes=("n1",)
    )
    low = make_pod("low").request(cpu="1").priority(1).build()
    world.add(low).run()
    high = make_pod("high").request(cpu="1").priority(9).build()
    world.add(high)
    world.step()
    assert ("removed", "low", "n1", 0) in calls
    assert [preempt.victim.metadata.name for preempt in world.cluster.evicted] == ["low"]
    world.run(60)
    assert world.node_of(high) == "n1"


def test_nominated_pods_count_for_python_filters():
    def room(self, state, pod, nodes):
        return nodes.pod_count() < 1

    world = World(plugin("One", None, filter=room), nodes=("n1",))
    waits = make_pod("waits").request(cpu="1").priority(9).node_selector({"no": "where"}).build()
    world.add(waits).run()
    world.scheduler.engine.nominate(world.scheduler.state.entry(waits.metadata.uid).handle, "n1")
    low = make_pod("low").request(cpu="1").priority(1).build()
    world.add(low).run()
    assert world.node_of(low) is None
    assert "didn't satisfy plugin One" in world.message_of(low)


def test_pre_enqueue_gates_until_its_event():
    opened = []

    def gate(self, pod):
        return None if opened else Status.unresolvable("the gate is shut")

    def events(self):
        return [EventRegistration(ClusterEvent(Resource.NODE, Action.ADD))]

    world = World(plugin("Gate", None, pre_enqueue=gate, events_to_register=events))
    world.add(one := pod()).run()
    assert world.scheduler.state.gates.held[one.metadata.uid].why == "the gate is shut"
    assert world.pool_of(one) == "gated"
    opened.append(True)
    world.run(200)
    assert one.metadata.uid in world.scheduler.state.gates.held
    world.add(make_node("n3").capacity(cpu="8", pods="9").build()).run(400)
    assert world.node_of(one)


def test_a_rejected_pod_comes_back_for_its_events_only():
    tries = []

    def reject(self, state, pod, node):
        tries.append(self.handle.now())
        return Status.unschedulable("no")

    def events(self):
        return [EventRegistration(ClusterEvent(Resource.NODE, Action.ADD))]

    world = World(plugin("Never", None, reserve=reject, events_to_register=events))
    world.add(pod()).run(100)
    assert tries == [0.0]
    world.add(pod("other"))
    world.run(110)
    assert len(tries) == 2, "the pod that came makes no difference to the first one"
    world.add(make_node("n3").capacity(cpu="8", pods="9").build()).run(120)
    assert len(tries) == 4


def test_pods_to_activate_are_tried_at_once():
    parked = pod("parked", cpu="9")

    def permit(self, state, pod, node):
        state.write(PODS_TO_ACTIVATE, {"default/parked": parked})

    world = World(plugin("A", None, permit=permit))
    world.add(parked).run()
    before = world.scheduler.engine.attempts(world.scheduler.state.entry(parked.metadata.uid).handle)
    world.add(pod("other")).run()
    handle = world.scheduler.state.entry(parked.metadata.uid).handle
    assert world.scheduler.engine.attempts(handle) == before + 1


def test_an_overlay_reserves_and_gives_back():
    calls = []
    found = []

    def post_filter(self, state, pod, statuses):
        with self.handle.overlay() as overlay:
            overlay.evict(small)
            found.append(overlay.nodes().requested("cpu").tolist())
            found.append(overlay.feasible(pod))
            overlay.place(pod, "n1")
            found.append(overlay.nodes().requested("cpu").tolist())
        found.append(self.handle.snapshot().requested("cpu").tolist())
        return Status.unschedulable()

    world = World(plugin("A", calls, post_filter=post_filter), nodes=("n1",))
    world.add(small := pod("small")).run()
    calls.clear()
    world.add(pod("big", cpu="8")).run()
    assert found == [[0], ("n1",), [8000], [1000]]
    assert [call for call in calls if "reserve" in call[0]] == [
        ("reserve", "A", "big"),
        ("unreserve", "A", "big"),
    ]


def test_custom_columns_follow_updates_and_nodes():
    seen = []

    def make(self, args, handle):
        super(type(self), self).__init__(args, handle)
        handle.register_column("load", np.float64, 0.5)

    def look(self, state, pod, nodes):
        seen.append(dict(zip(nodes.names, nodes.column("load"), strict=True)))
        self.handle.update_column("load", {"n1": 2.0, "nowhere": 1.0})
        return np.ones(len(nodes), np.bool_)

    world = World(plugin("A", None, filter=look, __init__=make))
    world.add(pod("a")).run()
    world.add(make_node("n3").capacity(cpu="8", pods="9").build(), pod("b")).run()
    assert seen == [{"n1": 0.5, "n2": 0.5}, {"n1": 2.0, "n2": 0.5, "n3": 0.5}]


def test_rows_stay_true_after_nodes_have_gone():
    seen = []

    def look(self, state, pod, nodes):
        seen.append((nodes.names.tolist(), nodes.requested("cpu").tolist(), nodes.labels("zone").tolist()))
        return nodes.names != "n2"

    world = World(plugin("A", None, filter=look), nodes=())
    nodes = [
        make_node(f"n{at}").label("zone", f"z{at}").capacity(cpu="8", pods="9").build() for at in range(4)
    ]
    world.add(*nodes)
    world.run()
    world.remove(nodes[1])
    world.add(one := pod("a")).run()
    assert seen[-1] == (["n0", "n2", "n3"], [0, 0, 0], ["z0", "z2", "z3"])
    assert world.node_of(one) in {"n0", "n3"}


@pytest.mark.parametrize(("limit", "seconds"), [(1000, 0.2), (256, 0.5)])
def test_bindings_go_on_side_by_side(limit, seconds):
    async def pause(self, state, pod, node):
        await asyncio.sleep(0.05)

    made = plugin("Slow", None, points=("pre_bind", "bind"))
    made.pre_bind, made.bind = pause, pause
    nodes = [f"n{at}" for at in range(40)]
    world = World(made, nodes=nodes, settings=f"maxBindsInFlight: {limit}")
    world.log.detailed = False
    world.add(*(make_pod(f"p{at}").request(cpu="100m").build() for at in range(1000)))
    world.run(seconds)
    assert len(world.log.ends) == 1000
    assert world.scheduler.binder.in_flight == 0


@pytest.mark.parametrize(
    ("code", "result", "message", "plugins"),
    [
        (2, "unschedulable", "0/1 nodes are available: 1 full.", ("VolumeBinding",)),
        (3, "unschedulable", "0/1 nodes are available: 1 full.", ("VolumeBinding",)),
        (1, "error", 'running Reserve plugin "VolumeBinding": full', ()),
    ],
)
def test_a_native_refusal_at_reserve_is_what_its_code_says(code, result, message, plugins):
    assert refused_by_native(("VolumeBinding", code, ["full"])) == Refusal(result, message, plugins)


def test_a_pod_held_by_pre_enqueue_is_explained_with_the_plugin():
    class Shut(Plugin):
        name = "Shut"

        def pre_enqueue(self, pod):
            return Status.unresolvable("not on Mondays")

    node = make_node("n1").capacity(cpu="8", pods="9").build()
    items = {type(item): [Loaded(item, "test")] for item in (node, pod())}
    manifest = Manifest(objects=items)
    (found,) = judge_pending(manifest, config_of(Shut))
    assert (found.state, found.message) == ("gated", 'held by PreEnqueue plugin "Shut": not on Mondays')
