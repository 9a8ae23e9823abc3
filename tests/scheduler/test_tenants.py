"""Tenants through the whole scheduler: whose pods, whose turn, what is charged and given back."""

from fractions import Fraction

import pytest
from podium.api import ObjectMeta
from podium.api.objects.groups import Guarantee, Queue, QueueSpec, VolcanoPodGroup, VolcanoPodGroupSpec
from podium.cluster.port import Applied, Bind, BindFailed, Bound, Removed
from podium.cluster.simulated import SECOND
from podium.framework.config import default_config, parse_config, with_short_forms
from podium.scheduler.explain import explain
from podium.scheduler.loop import Scheduler
from podium.testing import make_node, make_pod

SETTINGS = "apiVersion: podium.dev/v1alpha1\nkind: PodiumConfiguration\n"


class World:
    """A scheduler that is told what its own bindings came to."""

    def __init__(self, tenants="", by=None):
        config = parse_config(f"{SETTINGS}tenants: {{{tenants}}}\n".encode(), "test")
        self.scheduler = Scheduler(with_short_forms(config, queue_order="drf", tenant=by))
        self.now = 0
        self.order = []
        self.bound = {}

    def tell(self, *events, limit=None):
        self.bind(self.scheduler.step(events, self.now, limit))
        return self

    def bind(self, actions):
        """Bind what is to be bound, and what follows from it; returns all actions."""
        done = list(actions)
        while binds := [action for action in actions if isinstance(action, Bind)]:
            for bind in binds:
                for uid, node in zip(bind.uids, bind.nodes, strict=True):
                    name = self.scheduler.state.entry(uid).pod.metadata.name
                    self.order.append(name)
                    self.bound[name] = node
            actions = self.scheduler.step([Bound(bind.uids) for bind in binds], self.now)
            done += actions
        return done

    def apply(self, *items, limit=None):
        return self.tell(*(Applied(item) for item in items), limit=limit)

    def shares(self):
        report = self.scheduler.tenants.report(self.scheduler.state.pods())
        return {share.name: share for share in report}

    def used(self, name):
        return dict(self.shares()[name].used)


def node(cpu, memory="1000Gi", name="n", **more):
    return make_node(name).capacity(cpu=cpu, memory=memory, pods="500", **more).build()


def pods(namespace, prefix, count, priority=None, **requests):
    made = []
    for number in range(count):
        builder = make_pod(f"{prefix}{number}", namespace).request(**requests)
        made.append((builder.priority(priority) if priority is not None else builder).build())
    return made


def test_tenants_take_turns_and_ties_go_to_the_older_head_then_the_name():
    world = World()
    world.apply(node("4"))
    both = [*pods("b", "b", 3, cpu="1"), *pods("a", "a", 3, cpu="1")]
    world.apply(*both)
    assert world.order == ["b0", "a0", "b1", "a1"]


def test_one_tenant_many_small_pods_against_few_large_ones():
    world = World()
    world.apply(node("12"))
    world.apply(*pods("many", "s", 12, cpu="1"), *pods("few", "l", 4, cpu="3"))
    assert world.used("many") == {"cpu": "6"}
    assert world.used("few") == {"cpu": "6"}


def test_a_weight_of_two_gets_twice_as_much():
    world = World("weights: {a: 2}")
    world.apply(node("9"))
    world.apply(*pods("a", "a", 9, cpu="1"), *pods("b", "b", 9, cpu="1"))
    assert world.used("a") == {"cpu": "6"}
    assert world.used("b") == {"cpu": "3"}
    shares = world.shares()
    assert shares["a"].weight == 2
    assert shares["a"].dominant_share == pytest.approx(6 / 9)


def test_a_resource_of_weight_zero_is_no_part_of_any_share():
    world = World("resourceWeights: {memory: 0}")
    world.apply(node("4", "4Gi"))
    world.apply(*pods("a", "a", 4, cpu="1", memory="1Mi"), *pods("b", "b", 4, cpu="1", memory="1Gi"))
    assert world.order[:4] == ["a0", "b0", "a1", "b1"]


def test_queues_in_a_tree_are_served_by_level():
    world = World("parents: {eng: root, dev: eng, ops: eng, sales: root}")
    world.apply(node("12"))
    world.apply(*(pod for name in ("dev", "ops", "sales") for pod in pods(name, name, 12, cpu="1")))
    shares = world.shares()
    assert {name: share.used["cpu"] for name, share in shares.items()} == {
        "dev": "3", "eng": "6", "ops": "3", "sales": "6",
    }  # fmt: skip
    assert (shares["dev"].parent, shares["eng"].parent) == ("eng", None)


def test_pods_of_an_inner_tenant_have_a_leaf_of_their_own():
    world = World("parents: {dev: eng}")
    world.apply(node("4"))
    world.apply(*pods("eng", "e", 4, cpu="1"), *pods("dev", "d", 4, cpu="1"))
    shares = world.shares()
    assert shares["eng (own)"].parent == "eng"
    assert world.used("eng") == {"cpu": "4"}
    assert world.used("eng (own)") == world.used("dev") == {"cpu": "2"}


def test_system_critical_pods_come_first_and_other_priorities_only_inside_a_tenant():
    world = World()
    world.apply(node("3"))
    waiting = [
        *pods("a", "low", 1, priority=0, cpu="1"),
        *pods("a", "high", 1, priority=1000, cpu="1"),
        *pods("b", "other", 1, priority=0, cpu="1"),
        *pods("b", "critical", 1, priority=2_000_000_000, cpu="1"),
    ]
    world.apply(*waiting)
    assert world.order == ["critical0", "high0", "low0"]


def test_bands_put_priority_before_shares():
    world = World("order: band")
    world.apply(node("4"))
    world.apply(*pods("a", "high", 3, priority=7, cpu="1"), *pods("b", "low", 3, priority=0, cpu="1"))
    assert world.order == ["high0", "high1", "high2", "low0"]


@pytest.mark.parametrize("by", ["label:team", "annotation:team"])
def test_tenants_by_label_and_annotation(by):
    def mine(name, team):
        pod = make_pod(name).request(cpu="1").build()
        metadata = pod.metadata
        if team:
            setattr(metadata, "labels" if by.startswith("label") else "annotations", {"team": team})
        return pod

    world = World(by=by)
    world.apply(node("6"))
    world.apply(*(mine(f"r{i}", "red") for i in range(6)), *(mine(f"n{i}", "") for i in range(6)))
    assert world.used("red") == world.used("(none)") == {"cpu": "3"}


def test_usage_is_that_of_all_pods_on_nodes_whoever_bound_them():
    world = World()
    world.apply(node("10"), node("10", name="cordoned"))
    foreign = make_pod("x", "a").request(cpu="4").node("n").scheduler("another").build()
    world.apply(foreign)
    assert world.used("a") == {"cpu": "4"}
    assert world.shares()["a"].dominant_share == pytest.approx(4 / 20)
    world.tell(Removed(foreign))
    assert "a" not in world.shares()


def test_a_failed_binding_gives_back_what_it_was_charged():
    world = World()
    world.apply(node("2"))
    [pod] = pods("a", "a", 1, cpu="2")
    actions = world.scheduler.step([Applied(pod)], 0)
    assert any(isinstance(action, Bind) for action in actions)
    assert world.used("a") == {"cpu": "2"}
    world.scheduler.step([BindFailed(pod.metadata.uid, "no")], 0)
    assert world.used("a") == {}


def test_capacity_changes_re_key():
    world = World()
    world.apply(node("8", "8Gi"))
    world.apply(*pods("cpu", "c", 4, cpu="1"), *pods("mem", "m", 2, memory="1Gi"))
    assert {name: share.dominant_share for name, share in world.shares().items()} == {"cpu": 0.5, "mem": 0.25}
    world.apply(node("32", "1Gi", name="other"))
    shares = {name: share.dominant_share for name, share in world.shares().items()}
    assert shares == {"cpu": 4 / 40, "mem": pytest.approx(2 / 9)}


def test_a_pod_that_changes_its_label_takes_its_usage_along():
    world = World(by="label:team")
    world.apply(node("4"))
    pod = make_pod("p").request(cpu="1").label("team", "red").node("n").build()
    world.apply(pod)
    moved = make_pod("p").request(cpu="1").label("team", "blue").node("n").build()
    world.apply(moved)
    assert {name: dict(share.used) for name, share in world.shares().items()} == {"blue": {"cpu": "1"}}


def queue(name, **spec):
    return Queue(metadata=ObjectMeta(name=name, uid=f"q-{name}"), spec=QueueSpec(**spec))


def queued(name, queue_name, **requests):
    pod = make_pod(name).request(**requests).build()
    pod.metadata.annotations = {"scheduling.volcano.sh/queue-name": queue_name}
    return pod


def test_a_volcano_queue_caps_what_it_lists():
    world = World(by="queue")
    world.apply(node("20", **{"example.com/gpu": "20"}))
    world.apply(queue("lab", capability={"cpu": "6"}), queue("none", capability={"example.com/gpu": "0"}))
    gpu = {"cpu": "1", "example.com/gpu": "1"}
    world.apply(*(queued(f"l{i}", "lab", **gpu) for i in range(8)))
    world.apply(*(queued(f"g{i}", "none", **gpu) for i in range(2)), queued("c", "none", cpu="1"))
    assert world.used("lab") == {"cpu": "6", "example.com/gpu": "6"}
    assert world.used("none") == {"cpu": "1"}
    refused = [entry for entry in world.scheduler.state.entries() if entry.node is None]
    assert {entry.message.partition(" preemption:")[0] for entry in refused} == {
        '0/1 nodes are available: tenant "lab" may use 6 of cpu: its capability.',
        '0/1 nodes are available: tenant "none" may use 0 of example.com/gpu: its capability.',
    }
    assert all("Preemption is not helpful" in entry.message for entry in refused)


def test_what_a_tenant_gives_back_lets_its_next_pod_through_its_limit():
    world = World(by="queue")
    world.apply(node("20"), queue("lab", capability={"cpu": "1"}))
    first, second = queued("first", "lab", cpu="1"), queued("second", "lab", cpu="1")
    world.apply(first, second)
    assert world.order == ["first"]
    world.now = 60 * SECOND
    world.tell(Removed(world.scheduler.state.entry(first.metadata.uid).pod))
    assert world.order == ["first", "second"]


def test_a_raised_capability_takes_effect_at_once():
    world = World(by="queue")
    world.apply(node("20"), queue("lab", capability={"cpu": "1"}))
    world.apply(*(queued(f"p{i}", "lab", cpu="1") for i in range(3)))
    assert world.order == ["p0"]
    world.now = 60 * SECOND
    world.apply(queue("lab", capability={"cpu": "2"}))
    assert world.order == ["p0", "p1"]


def test_a_guarantee_is_kept_free_for_its_queue():
    world = World(by="queue")
    world.apply(node("10"), queue("sure", guarantee=Guarantee(resource={"cpu": "4"})), queue("other"))
    world.apply(*(queued(f"o{i}", "other", cpu="1") for i in range(10)))
    assert world.used("other") == {"cpu": "6"}
    world.apply(*(queued(f"s{i}", "sure", cpu="1") for i in range(4)))
    assert world.used("sure") == {"cpu": "4"}


def test_a_queue_of_higher_priority_goes_first():
    world = World(by="queue")
    world.apply(node("3"), queue("first", priority=9), queue("second"))
    world.apply(*(queued(f"s{i}", "second", cpu="1") for i in range(2)))
    assert world.order == ["s0", "s1"]
    world = World(by="queue")
    world.apply(node("3"), queue("first", priority=9), queue("second"))
    world.apply(*(queued(f"{q[0]}{i}", q, cpu="1") for i in range(3) for q in ("second", "first")))
    assert world.order == ["f0", "f1", "f2"]


def test_queues_have_parents_and_weights_and_a_circle_is_at_the_top():
    world = World(by="queue")
    world.apply(
        node("9"),
        queue("org", weight=2),
        queue("team", parent="org"),
        queue("side", parent="root"),
        queue("x", parent="y"),
        queue("y", parent="x"),
    )
    world.apply(*(queued(f"{name}{i}", name, cpu="1") for name in ("team", "side") for i in range(9)))
    shares = world.shares()
    assert (world.used("org"), world.used("side")) == ({"cpu": "6"}, {"cpu": "3"})
    assert shares["team"].parent == "org"
    assert {shares["x"].parent, shares["y"].parent} in ({None, "x"}, {None, "y"})


def test_a_pod_that_fits_nowhere_does_not_hold_back_younger_ones_or_other_tenants():
    world = World()
    world.apply(node("4"))
    world.apply(*pods("a", "big", 1, cpu="9"), *pods("a", "a", 1, cpu="1"), *pods("b", "b", 1, cpu="1"))
    assert world.order == ["a0", "b0"]


def test_explain_says_tenant_share_rank_and_who_holds_the_resource():
    world = World()
    world.apply(node("4"))
    world.apply(*pods("a", "a", 4, cpu="1"))
    [late] = pods("b", "b", 1, cpu="2")
    world.apply(late, limit=0)
    turn = explain(world.scheduler, late.metadata.uid).tenant
    assert (turn.name, turn.dominant_share, turn.rank) == ("b", 0.0, 1)
    assert turn.blocked_by == "cpu: held by a 4"


def test_without_drf_there_are_no_tenants():
    scheduler = Scheduler(default_config())
    assert scheduler.tenants is None


@pytest.mark.parametrize("limit", [1, 3, None])
def test_how_steps_are_sliced_changes_nothing(limit):
    world = World()
    world.apply(node("10"))
    world.apply(*pods("a", "a", 9, cpu="1"), *pods("b", "b", 5, cpu="2"), limit=limit)
    for _ in range(20):
        world.tell(limit=limit)
    assert world.order == ["a0", "b0", "a1", "a2", "b1", "a3", "a4", "a5"]


def test_shares_are_fractions_of_all_nodes():
    world = World()
    world.apply(*(node("3", name=f"n{i}") for i in range(3)))
    world.apply(*pods("a", "a", 2, cpu="1"))
    assert Fraction(world.shares()["a"].dominant_share).limit_denominator(100) == Fraction(2, 9)


def test_a_group_names_the_queue_of_its_pods_also_when_it_comes_later():
    world = World(by="queue")
    pod = make_pod("p").request(cpu="1").node("n").build()
    pod.metadata.annotations = {"scheduling.k8s.io/group-name": "job"}
    world.apply(node("4"), pod)
    assert world.used("default") == {"cpu": "1"}
    spec = VolcanoPodGroupSpec(min_member=1, queue="lab")
    metadata = ObjectMeta(name="job", namespace="default", uid="g")
    world.apply(VolcanoPodGroup(metadata=metadata, spec=spec))
    assert world.used("lab") == {"cpu": "1"}
