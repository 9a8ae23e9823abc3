"""Each plugin on a cluster small enough to see why."""

import pytest
from msgspec.structs import replace
from podium.api import Condition, ContainerStatus, NodeAffinity, OwnerReference, Taint
from podium.api.objects.affinity import Affinity
from podium.api.objects.pod import ContainerState, ContainerStateReason
from podium.testing import make_pod

from tests.descheduler.scene import annotated, evicted, node, owned, per_node, policy, running

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def tainted(name, *taints, **labels):
    base = node(name, **labels)
    found = [Taint(key=key, value=value, effect=effect) for key, value, effect in taints]
    return replace(base, spec=replace(base.spec, taints=found))


def restarting(name, restarts, *, waiting="", init=0, phase="Running", on="a"):
    state = ContainerState(waiting=ContainerStateReason(reason=waiting)) if waiting else None
    statuses = [ContainerStatus(name="c", restart_count=restarts, state=state)]
    first = [ContainerStatus(name="i", restart_count=init)]
    return running(owned(name, on), phase=phase, container_statuses=statuses, init_container_statuses=first)


def failed(name, *, age="2026-03-02T00:00:00Z", reason="", code=None, ended="Error"):
    pod = running(owned(name, "a").created(age), phase="Failed", reason=reason)
    if code is None:
        return pod
    state = ContainerState(terminated=ContainerStateReason(reason=ended, exit_code=code))
    statuses = [ContainerStatus(name="c", state=state)]
    return replace(pod, status=replace(pod.status, container_statuses=statuses))


NODES = [node("a"), node("b")]


class TestNodeTaints:
    gpu = ("gpu", "yes", "NoSchedule")
    spot = ("spot", "", "PreferNoSchedule")
    gone = ("gone", "", "NoExecute")

    def run(self, *taints, args=None, pod=None):
        objects = [tainted("a", *taints), node("b"), pod or running(owned("p", "a"))]
        return evicted(objects, policy("RemovePodsViolatingNodeTaints", args)) == ["p"]

    def test_effects(self):
        assert self.run(self.gpu)
        assert not self.run(self.spot)
        assert self.run(self.spot, args={"includePreferNoSchedule": True})
        assert not self.run(self.gone)

    def test_tolerations(self):
        assert not self.run(self.gpu, pod=running(owned("p", "a").toleration("gpu")))
        assert self.run(self.gpu, pod=running(owned("p", "a").toleration("gpu", "no")))

    def test_included_and_excluded_taints(self):
        assert not self.run(self.gpu, args={"excludedTaints": ["gpu"]})
        assert not self.run(self.gpu, args={"excludedTaints": ["gpu=yes"]})
        assert self.run(self.gpu, args={"excludedTaints": ["gpu=no"]})
        assert self.run(self.gpu, args={"includedTaints": ["gpu"]})
        assert not self.run(self.gpu, args={"includedTaints": ["spot"]})
        assert not self.run(self.gpu, args={"includedTaints": []}), "an empty list includes none"

    def test_namespaces_and_labels(self):
        assert not self.run(self.gpu, args={"namespaces": {"exclude": ["default"]}})
        assert self.run(self.gpu, args={"namespaces": {"include": ["default"]}})
        assert not self.run(self.gpu, args={"labelSelector": {"matchLabels": {"app": "a"}}})


class TestNodeAffinity:
    def test_required(self):
        nodes = [node("a", zone="x"), node("b", zone="y")]
        wants_y = running(owned("p", "a").node_affinity("zone", "In", ["y"]))
        body = policy("RemovePodsViolatingNodeAffinity", {"nodeAffinityType": [REQUIRED]})
        assert evicted([*nodes, wants_y], body) == ["p"]
        stays = running(owned("p", "b").node_affinity("zone", "In", ["y"]))
        assert evicted([*nodes, stays], body) == []
        nowhere = running(owned("p", "a").node_affinity("zone", "In", ["z"]))
        assert evicted([*nodes, nowhere], body) == [], "it fits no node"

    def test_a_node_selector_alone_is_not_looked_at(self):
        body = policy("RemovePodsViolatingNodeAffinity", {"nodeAffinityType": [REQUIRED]})
        pod = running(owned("p", "a").node_selector({"zone": "y"}))
        assert evicted([node("a"), node("b", zone="y"), pod], body) == []

    def test_preferred(self):
        nodes = [node("a", zone="x"), node("b", zone="y")]
        pod = running(owned("p", "a").prefer_node(5, "zone", "In", ["y"]))
        body = policy("RemovePodsViolatingNodeAffinity", {"nodeAffinityType": [PREFERRED]})
        assert evicted([*nodes, pod], body) == ["p"]
        assert evicted([*nodes, running(owned("p", "b").prefer_node(5, "zone", "In", ["y"]))], body) == []
        required = policy("RemovePodsViolatingNodeAffinity", {"nodeAffinityType": [REQUIRED]})
        assert evicted([*nodes, pod], required) == []

    def test_an_empty_affinity_is_none(self):
        pod = running(owned("p", "a"))
        pod = replace(pod, spec=replace(pod.spec, affinity=Affinity(node_affinity=NodeAffinity())))
        body = policy("RemovePodsViolatingNodeAffinity", {"nodeAffinityType": [REQUIRED, PREFERRED]})
        assert evicted([*NODES, pod], body) == []


class TestPodAntiAffinity:
    def pair(self, key, *places, priorities=(0, 0)):
        return [
            running(
                owned(f"p{i}", on).label("app", "a").pod_anti_affinity(key, {"app": "a"}).priority(priority)
            )
            for i, (on, priority) in enumerate(zip(places, priorities, strict=False))
        ]

    body = policy("RemovePodsViolatingInterPodAntiAffinity")

    def test_the_less_important_of_a_pair_goes(self):
        assert evicted([*NODES, *self.pair("zone", "a", "a", priorities=(5, 1))], self.body) == ["p1"]

    def test_over_nodes_of_a_domain(self):
        nodes = [node("a", zone="x"), node("b", zone="x"), node("c", zone="y")]
        assert evicted([*nodes, *self.pair("zone", "a", "b")], self.body) == ["p0"]
        assert evicted([*nodes, *self.pair("zone", "a", "c")], self.body) == []

    def test_pods_of_one_name_do_not_disturb_each_other(self):
        pods = [
            running(
                owned("same", "a", namespace=space).label("app", "a").pod_anti_affinity("zone", {"app": "a"})
            )
            for space in ("x", "y")
        ]
        both = policy("RemovePodsViolatingInterPodAntiAffinity")
        assert evicted([*NODES, *pods], both) == []

    def test_pods_that_may_not_go_are_neighbours(self):
        bare = running(make_pod("bare").node("a").label("app", "a"))
        assert evicted([*NODES, bare, self.pair("zone", "a")[0]], self.body) == ["p0"]


class TestRestarts:
    def run(self, pods, **args):
        return evicted(
            [*NODES, *pods], policy("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 10, **args})
        )

    def test_the_sum_reaches_the_threshold_and_the_most_go_first(self):
        pods = [restarting("few", 9), restarting("ten", 10), restarting("many", 50)]
        assert self.run(pods) == ["many", "ten"]

    def test_init_containers(self):
        pod = restarting("p", 5, init=5)
        assert self.run([pod]) == []
        assert self.run([pod], includingInitContainers=True) == ["p"]

    def test_states(self):
        pods = [restarting("up", 20), restarting("loop", 20, waiting="CrashLoopBackOff", phase="Pending")]
        assert self.run(pods, states=["Running"]) == ["up"]
        assert self.run(pods, states=["CrashLoopBackOff"]) == ["loop"]


class TestFailedPods:
    def run(self, *pods, **args):
        return evicted([*NODES, *pods], policy("RemoveFailedPods", args))

    def test_only_failed_ones_that_are_old_enough(self):
        assert self.run(failed("p"), running(owned("q", "a"))) == ["p"]
        young = failed("p", age="2026-03-02T07:30:00Z")
        assert self.run(young) == []
        assert self.run(young, minPodLifetimeSeconds=1800) == ["p"]
        assert self.run(young, minPodLifetimeSeconds=1801) == []
        assert self.run(failed("p", age="2026-03-02T08:00:09Z")) == ["p"], "Go's age of the future is huge"

    def test_reasons(self):
        assert self.run(failed("p", reason="Evicted"), reasons=["Evicted"]) == ["p"]
        assert self.run(failed("p", code=1, ended="OOMKilled"), reasons=["OOMKilled"]) == ["p"]
        assert self.run(failed("p"), reasons=["Evicted"]) == []

    def test_exit_codes_and_owners(self):
        assert self.run(failed("p", code=137), exitCodes=[137]) == ["p"]
        assert self.run(failed("p", code=1), exitCodes=[137]) == []
        assert self.run(failed("p"), excludeOwnerKinds=["ReplicaSet"]) == []


class TestPodLifeTime:
    def run(self, *pods, **args):
        return evicted([*NODES, *pods], policy("PodLifeTime", args))

    def test_older_than_that_and_the_oldest_first(self):
        ages = {"p": "2026-03-02T07:00:00Z", "q": "2026-03-02T06:00:00Z", "r": "2026-03-02T07:30:00Z"}
        pods = [
            running(owned(name, on).created(age)) for (name, age), on in zip(ages.items(), "abb", strict=True)
        ]
        assert self.run(*pods, maxPodLifeTimeSeconds=3599) == ["q", "p"]
        assert self.run(*pods, maxPodLifeTimeSeconds=3600) == ["q"]

    def test_all_kinds_of_criteria_must_hold(self):
        pod = failed("p", code=137, reason="Evicted")
        assert self.run(pod, states=["Evicted"], exitCodes=[137]) == ["p"]
        assert self.run(pod, states=["Running"], exitCodes=[137]) == []
        assert self.run(pod, states=["Failed"], ownerKinds={"exclude": ["ReplicaSet"]}) == []
        assert self.run(pod, states=["Failed"], ownerKinds={"include": ["ReplicaSet"]}) == ["p"]

    def test_conditions(self):
        since = Condition(
            type="Ready", status="False", reason="X", last_transition_time="2026-03-02T07:59:00Z"
        )
        pod = running(owned("p", "a"), conditions=[since])
        assert self.run(pod, conditions=[{"type": "Ready", "status": "True"}]) == []
        assert self.run(pod, conditions=[{"reason": "X", "minTimeSinceLastTransitionSeconds": 60}]) == ["p"]
        assert self.run(pod, conditions=[{"reason": "X", "minTimeSinceLastTransitionSeconds": 61}]) == []

    def test_ephemeral_containers_count_where_asked_for(self):
        state = ContainerState(waiting=ContainerStateReason(reason="ErrImagePull"))
        pod = running(owned("p", "a"), ephemeral_container_statuses=[ContainerStatus(name="e", state=state)])
        assert self.run(pod, states=["ErrImagePull"]) == []
        assert self.run(pod, states=["ErrImagePull"], includingEphemeralContainers=True) == ["p"]


class TestDuplicates:
    body = policy("RemoveDuplicates")

    def replicas(self, *places, image="i", owner="rs"):
        return [
            running(owned(f"{owner}-{image}-{i}", on, owner).container(image=image))
            for i, on in enumerate(places)
        ]

    def test_above_the_even_share(self):
        assert per_node([*NODES, *self.replicas("a", "a", "a", "a")], self.body) == {"a": 2}
        assert per_node([*NODES, *self.replicas("a", "a", "b")], self.body) == {}

    def test_revisions_are_no_duplicates(self):
        pods = [*self.replicas("a", image="one"), *self.replicas("a", image="two")]
        assert per_node([*NODES, *pods], self.body) == {}

    def test_nodes_that_taints_close_are_no_targets(self):
        nodes = [node("a"), tainted("b", ("k", "", "NoSchedule"))]
        assert per_node([*nodes, *self.replicas("a", "a")], self.body) == {}

    def test_owner_kinds(self):
        body = policy("RemoveDuplicates", {"excludeOwnerKinds": ["ReplicaSet"]})
        assert per_node([*NODES, *self.replicas("a", "a")], body) == {}

    def test_a_pod_of_two_owners_is_listed_once(self):
        both = [OwnerReference(kind=kind, name="o", uid=kind) for kind in ("ReplicaSet", "Other")]
        pods = [
            replace(pod, metadata=replace(pod.metadata, owner_references=both))
            for pod in self.replicas("a", "a")
        ]
        assert evicted([*NODES, *pods], self.body) == ["rs-i-1"]


@pytest.mark.parametrize("plugin", ["RemoveDuplicates", "RemovePodsViolatingInterPodAntiAffinity"])
def test_one_node_is_not_enough_for_a_cycle(plugin):
    pods = [
        running(owned(f"p{i}", "a").label("app", "a").pod_anti_affinity("zone", {"app": "a"}).container())
        for i in range(3)
    ]
    assert evicted([node("a"), *pods], policy(plugin)) == []


def test_pods_that_were_evicted_stay_for_the_rest_of_the_cycle():
    """A second plugin meets the pod again, terminating: it is not evictable any more."""
    body = policy("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 1})
    profile = body["profiles"][0]
    profile["pluginConfig"].append({"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 0}})
    profile["plugins"]["deschedule"]["enabled"].append("PodLifeTime")
    pod = restarting("p", 5)
    pod = replace(pod, metadata=replace(pod.metadata, creation_timestamp="2026-03-01T00:00:00Z"))
    assert evicted([*NODES, pod], body) == ["p"]
    limited = {**body, "maxNoOfPodsToEvictTotal": 1}
    again = annotated(pod, "descheduler.alpha.kubernetes.io/evict")
    assert evicted([*NODES, again], limited) == ["p"]
