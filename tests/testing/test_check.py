import numpy as np
import pytest
from podium.errors import PluginError
from podium.framework import (
    DOMAIN,
    NODE,
    Action,
    ClusterEvent,
    EventRegistration,
    FilterResult,
    PostFilterResult,
    PreFlight,
    Resource,
    StateKey,
    Status,
    default_normalize,
)
from podium.framework.points import POINT_METHODS
from podium.testing import check_plugin, make_pod
from podium.testing.samples import sample_nodes, sample_pods

from tests.framework.runner.conftest import make_plugin

SIZES: StateKey[np.ndarray] = StateKey("Good/sizes")
COUNTS: StateKey[dict[str, int]] = StateKey("Good/counts")


class GoodMethods:
    """A plugin at every extension point that does it right."""

    def applies_to(self, pod):
        return pod.spec.priority is None or pod.spec.priority >= 0

    def events_to_register(self):
        return [EventRegistration(ClusterEvent(Resource.NODE, Action.ADD))]

    def pre_enqueue(self, pod):
        return Status.unresolvable("gated") if pod.spec.scheduling_gates else None

    def less(self, a, b):
        return (-(a.pod.spec.priority or 0), a.timestamp) < (-(b.pod.spec.priority or 0), b.timestamp)

    def pre_filter(self, state, pod, nodes):
        state.write(COUNTS, {})
        state.write(SIZES, nodes.allocatable("cpu"))
        return

    def add_pod(self, state, pod, added, node):
        counts = state.read(COUNTS)
        counts[node.name] = counts.get(node.name, 0) + 1

    def remove_pod(self, state, pod, removed, node):
        state.read(COUNTS)[node.name] -= 1

    def filter(self, state, pod, nodes):
        counts = state.read(COUNTS)
        taken = np.array([counts.get(name, 0) > 0 for name in nodes.names])
        return FilterResult((state.read(SIZES) > 0) & ~taken, ("no cpu",))

    def post_filter(self, state, pod, statuses):
        helped = statuses.nodes_with(Status.unschedulable().code)
        return PostFilterResult(helped[0]) if helped else Status.unschedulable("no")

    def pre_score(self, state, pod, nodes):
        return Status.skip() if pod.metadata.name == "empty" else None

    def score(self, state, pod, nodes):
        return nodes.allocatable("cpu") - nodes.requested("cpu")

    def normalize_score(self, state, pod, nodes, scores):
        return default_normalize(scores, nodes.candidates)

    def reserve(self, state, pod, node_name):
        self.taken = getattr(self, "taken", set()) | {pod.metadata.uid}

    def unreserve(self, state, pod, node_name):
        self.taken = getattr(self, "taken", set()) - {pod.metadata.uid}

    def permit(self, state, pod, node_name):
        return Status.wait(60)

    def pre_bind_pre_flight(self, state, pod, node_name):
        return PreFlight(allow_parallel=True)

    async def pre_bind(self, state, pod, node_name):
        return None

    async def bind(self, state, pod, node_name):
        return Status.skip()

    def post_bind(self, state, pod, node_name):
        return None


GOOD = {name: value for name, value in vars(GoodMethods).items() if not name.startswith("__")}
Good = make_plugin("Good", **GOOD)


def test_a_plugin_at_every_point_conforms():
    report = check_plugin(Good)
    assert set(report.points) == {point for point, methods in POINT_METHODS.items() if methods}
    assert report.notes == ("depends_on is EVERYTHING: filter and score are called in every cycle",)


def test_notes():
    report = check_plugin(make_plugin("A", permit=lambda *_: None))
    assert report.notes == (
        "events_to_register returns None: a rejected pod is tried again after every event",
    )
    local = make_plugin("A", score=lambda self, state, pod, nodes: nodes.pod_count(), depends_on=NODE)
    assert check_plugin(local).notes == ()


def faults_of(plugin, **options):
    with pytest.raises(PluginError) as caught:
        check_plugin(plugin, **options)
    head, *faults = str(caught.value).split("\n  ")
    assert head.startswith('plugin "')
    return faults


def counting(value):
    """Return a method that answers differently every time."""

    def method(self, *args):
        self.calls = getattr(self, "calls", 0) + 1
        return value(self.calls, *args)

    return method


def rank_by_row(self, state, pod, nodes):
    return np.arange(len(nodes))


def share(self, state, pod, nodes):
    total = max(1, int(nodes.allocatable("cpu").sum()))
    return nodes.allocatable("cpu") * 100 // total


def change_pod(self, state, pod, nodes):
    pod.metadata.labels["seen"] = "yes"
    return nodes.candidates


class Stubborn(dict):
    def __copy__(self):
        return self


def stubborn_pre_filter(self, state, pod, nodes):
    state.write(COUNTS, Stubborn())


def forget(self, state, pod, removed, node):
    return None


def leaky_reserve(self, state, pod, node_name):
    if getattr(self, "taken", False):
        return Status.unschedulable("taken")
    self.taken = True
    return None


FAULTS = {
    "applies_to type": ({"applies_to": lambda self, pod: 1}, "applies_to returned int, expected bool"),
    "applies_to raises": (
        {"applies_to": lambda self, pod: 1 / 0},
        "applies_to raised ZeroDivisionError: division by zero",
    ),
    "applies_to name": (
        {"applies_to": lambda self, pod: pod.metadata.name != "twin"},
        "applies_to differs for pods that differ in name and uid only: it is asked once per class",
    ),
    "events": (
        {"events_to_register": lambda self: ["NodeAdd"]},
        'plugin "Good": events_to_register must return EventRegistration objects',
    ),
    "less reflexive": (
        {"less": lambda self, a, b: a.timestamp <= b.timestamp},
        "less is no order: two pods, or a pod and itself, are each before the other",
    ),
    "less cyclic": (
        {"less": lambda self, a, b: (b.timestamp - a.timestamp) % 3 == 1},
        "less is not transitive",
    ),
    "less type": ({"less": lambda self, a, b: 0}, 'plugin "Good": less returned int, expected bool'),
    "pre_enqueue": (
        {"pre_enqueue": lambda self, pod: "no"},
        'running PreEnqueue plugin "Good": returned str, expected a Status or None',
    ),
    "pre_enqueue unstable": (
        {"pre_enqueue": counting(lambda n, pod: None if n % 2 else Status.unschedulable("odd"))},
        "pre_enqueue is not stable: Success, then Unschedulable: odd",
    ),
    "pre_filter": (
        {"pre_filter": lambda *_: 1 / 0},
        'running PreFilter plugin "Good": ZeroDivisionError: division by zero',
    ),
    "filter type": (
        {"filter": lambda self, state, pod, nodes: nodes.allocatable("cpu")},
        'running "Good" filter plugin: plugin "Good": filter returned int64 as mask, expected bool',
    ),
    "filter writes": (
        {"filter": lambda self, state, pod, nodes: nodes.candidates.__setitem__(0, True)},
        'running "Good" filter plugin: ValueError: assignment destination is read-only',
    ),
    "filter unstable": (
        {"filter": counting(lambda n, state, pod, nodes: np.full(len(nodes), n % 2 == 0))},
        "filter gives another answer to the same question",
    ),
    "filter changes the pod": ({"filter": change_pod}, "filter changed the pod"),
    "state not cloned": (
        {
            "pre_filter": stubborn_pre_filter,
            "filter": lambda self, state, pod, nodes: np.full(len(nodes), not state.read(COUNTS)),
        },
        "add_pod on a cloned state changes the original: give the value a clone() method",
    ),
    "remove_pod": ({"remove_pod": forget}, "remove_pod does not undo add_pod"),
    "add_pod": (
        {"add_pod": lambda *_: Status.unschedulable("no")},
        'running AddPod on PreFilter plugin "Good": no',
    ),
    "post_filter": (
        {"post_filter": lambda *_: Status.wait(1)},
        'running PostFilter plugin "Good": returned Wait, which is not supported here',
    ),
    "post_filter nominates": (
        {"post_filter": lambda *_: PostFilterResult("moon")},
        'post_filter nominated "moon", which is no node',
    ),
    "pre_score": ({"pre_score": lambda *_: Status.unschedulable("no")}, 'running PreScore plugin "Good": no'),
    "score order": ({"score": rank_by_row}, "score depends on the order of the nodes"),
    "score range": (
        {"normalize_score": lambda self, state, pod, nodes, scores: scores * 0 - 1},
        'applying score defaultWeights on Score plugins: plugin "Good" returns an invalid score -1, it '
        "should in the "
        "range of [0, 100] after normalizing (row 0)",
    ),
    "score locality": (
        {"score": share, "depends_on": NODE},
        "score of a node depends on other nodes, but depends_on is NODE",
    ),
    "reserve": (
        {"reserve": lambda *_: Status.skip()},
        'running Reserve plugin "Good": returned Skip, which is not supported here',
    ),
    "unreserve": (
        {"unreserve": lambda self, state, pod, node: self.taken.remove(pod.metadata.uid)},
        "running Unreserve plugin \"Good\": AttributeError: 'Good' object has no attribute 'taken'",
    ),
    "unreserve forgets": (
        {"reserve": leaky_reserve, "unreserve": lambda *_: None},
        "unreserve does not undo reserve: it gave Success, and the next time Unschedulable: taken",
    ),
    "permit": (
        {"permit": lambda *_: (Status.success(), 3)},
        'running Permit plugin "Good": returned tuple, expected a Status or None',
    ),
    "pre_flight": (
        {"pre_bind_pre_flight": lambda *_: True},
        'running PreBindPreFlight "Good": returned bool, expected a Status or None',
    ),
    "bind": (
        {"bind": lambda *_: True},
        'running Bind plugin "Good": returned bool, expected a Status or None',
    ),
}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_every_fault_is_found(fault):
    methods, text = FAULTS[fault]
    assert text in faults_of(make_plugin("Good", **(GOOD | methods)), pods=sample_pods()[:4])


def test_what_is_allowed_is_no_fault():
    by_domain = make_plugin("A", score=share, depends_on=DOMAIN("zone"))
    assert check_plugin(by_domain).points == ("score",)
    raising = make_plugin("A", permit=lambda *_: Status.unschedulable("never"))
    assert check_plugin(raising).points == ("permit",)


def test_classes_that_are_no_plugins():
    with pytest.raises(PluginError, match="is not a class derived from"):
        check_plugin(dict)
    with pytest.raises(PluginError, match="has reserve but no unreserve"):
        check_plugin(make_plugin("A", reserve=lambda *_: None))


def test_own_nodes_pods_and_arguments():
    import msgspec

    class Args(msgspec.Struct):
        label: str

    seen = set()

    def score(self, state, pod, nodes):
        seen.update(nodes.names)
        seen.add(pod.metadata.name)
        return np.zeros(len(nodes), np.int64) + len(self.args.label)

    plugin = make_plugin("A", Args=Args, score=score)
    check_plugin(plugin, Args("xy"), nodes=sample_nodes(2), pods=[make_pod("mine").build()])
    assert seen == {"n0", "n1", "mine"}
    with pytest.raises(PluginError, match=r'plugin "A" needs arguments, give some: .*label'):
        check_plugin(plugin)
    with pytest.raises(PluginError, match=r'plugin "A": args must be .*Args, not dict'):
        check_plugin(plugin, {"label": "x"})
    with pytest.raises(PluginError, match='plugin "B" takes no arguments'):
        check_plugin(make_plugin("B", score=score), Args("x"))
