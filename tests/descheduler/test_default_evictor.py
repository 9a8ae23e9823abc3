"""DefaultEvictor: every protection, each turned on and off."""

import pytest
from msgspec.structs import replace
from podium.api import LabelSelector, Namespace, ObjectMeta, PersistentVolumeClaim, PodDisruptionBudget, Taint
from podium.api.objects.pod import PodResourceClaim
from podium.api.objects.policy import PodDisruptionBudgetSpec
from podium.api.objects.volumes import EmptyDir, HostPath, PersistentVolumeClaimSpec, Volume
from podium.testing import make_pod

from tests.descheduler.scene import annotated, evicted, node, owned, policy, running

EVICT = "descheduler.alpha.kubernetes.io/evict"
PREFER_NOT = "descheduler.alpha.kubernetes.io/prefer-no-eviction"


def tainted():
    base = node("bad")
    return replace(base, spec=replace(base.spec, taints=[Taint(key="k", effect="NoSchedule")]))


def goes(pod, evictor=None, *others):
    """Tell whether a pod that violates a taint is evicted."""
    objects = [tainted(), node("good"), *others, pod]
    return pod.metadata.name in evicted(
        objects, policy("RemovePodsViolatingNodeTaints", evictor=evictor or {})
    )


def plain():
    return running(owned("p", "bad"))


def with_volume(**source):
    pod = plain()
    return replace(pod, spec=replace(pod.spec, volumes=[Volume(name="v", **source)]))


def daemon():
    return running(make_pod("p").owner("DaemonSet", "d").node("bad"))


def claiming():
    pod = plain()
    return replace(pod, spec=replace(pod.spec, resource_claims=[PodResourceClaim(name="c")]))


def disabled(name):
    return {"podProtections": {"defaultDisabled": [name]}}


def enabled(name):
    return {"podProtections": {"extraEnabled": [name]}}


CRITICAL = running(owned("p", "bad").priority(2_000_000_000))
BARE_FAILED = running(make_pod("p").node("bad"), phase="Failed")


@pytest.mark.parametrize(
    ("pod", "protection", "deprecated"),
    [
        (with_volume(host_path=HostPath()), "PodsWithLocalStorage", "evictLocalStoragePods"),
        (with_volume(empty_dir=EmptyDir(medium="Memory")), "PodsWithLocalStorage", "evictLocalStoragePods"),
        (daemon(), "DaemonSetPods", "evictDaemonSetPods"),
        (CRITICAL, "SystemCriticalPods", "evictSystemCriticalPods"),
    ],
)
def test_default_protections(pod, protection, deprecated):
    assert not goes(pod)
    assert goes(pod, disabled(protection))
    assert goes(pod, {deprecated: True})


def test_bare_pods_go_only_if_they_failed_and_that_is_asked_for():
    bare = policy("RemoveFailedPods", {"minPodLifetimeSeconds": 0}, evictor=disabled("FailedBarePods"))
    objects = [tainted(), node("good")]
    assert evicted([*objects, BARE_FAILED], bare) == ["p"]
    assert evicted([*objects, BARE_FAILED], policy("RemoveFailedPods", {"minPodLifetimeSeconds": 0})) == []
    assert not goes(running(make_pod("p").node("bad")), disabled("FailedBarePods"))


def test_claims():
    pod = running(owned("p", "bad").claim("data"))
    assert goes(pod)
    assert not goes(pod, enabled("PodsWithPVC"))
    assert not goes(pod, {"ignorePvcPods": True})


@pytest.mark.parametrize(
    ("class_name", "answer"), [("fast", False), ("slow", True), ("", False), (None, False), ("absent", False)]
)
def test_claims_by_storage_class(class_name, answer):
    config = {"PodsWithPVC": {"protectedStorageClasses": [{"name": "fast"}]}}
    evictor = {"podProtections": {"extraEnabled": ["PodsWithPVC"], "config": config}}
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(name="data" if class_name != "absent" else "other", namespace="default"),
        spec=PersistentVolumeClaimSpec(storage_class_name=class_name),
    )
    assert goes(running(owned("p", "bad").claim("data")), evictor, claim) is answer


def test_pods_without_a_budget_where_they_are_protected():
    labelled = running(owned("p", "bad").label("app", "a"))
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="b", namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "a"})),
    )
    assert not goes(labelled, enabled("PodsWithoutPDB"))
    assert goes(labelled, enabled("PodsWithoutPDB"), budget)
    assert not goes(plain(), enabled("PodsWithoutPDB"), budget)


def test_resource_claims():
    assert goes(claiming())
    assert not goes(claiming(), enabled("PodsWithResourceClaims"))


def test_priority_threshold():
    pod = running(owned("p", "bad").priority(100))
    assert goes(pod, {"priorityThreshold": {"value": 101}})
    assert not goes(pod, {"priorityThreshold": {"value": 100}})
    assert goes(plain(), {"priorityThreshold": {"value": -5}})
    off = {"priorityThreshold": {"value": 100}, "evictSystemCriticalPods": True}
    assert goes(pod, off), "without the protection the threshold does not count either"


def test_the_annotation_overrides_everything():
    for value in ("true", "false", ""):
        assert goes(annotated(daemon(), EVICT, value))
    terminating = annotated(running(owned("p", "bad").terminating()), EVICT)
    assert not goes(running(owned("p", "bad").terminating()))
    assert goes(terminating), "also a pod that is leaving already"


def test_no_eviction_policy():
    pod = annotated(plain(), PREFER_NOT)
    assert goes(pod)
    assert goes(pod, {"noEvictionPolicy": "Preferred"})
    assert not goes(pod, {"noEvictionPolicy": "Mandatory"})
    assert goes(annotated(pod, EVICT), {"noEvictionPolicy": "Mandatory"})


def test_mirror_and_static_pods():
    assert not goes(annotated(plain(), "kubernetes.io/config.mirror", "x"))
    assert not goes(annotated(plain(), "kubernetes.io/config.source", "file"))
    assert goes(annotated(plain(), "kubernetes.io/config.source", "api"))


def test_label_selector():
    evictor = {"labelSelector": {"matchLabels": {"app": "a"}}}
    assert not goes(plain(), evictor)
    assert goes(running(owned("p", "bad").label("app", "a")), evictor)
    assert goes(plain(), {"labelSelector": {}})


def test_namespace_label_selector():
    evictor = {"namespaceLabelSelector": {"matchLabels": {"team": "a"}}}
    space = Namespace(metadata=ObjectMeta(name="default", labels={"team": "a"}))
    assert goes(plain(), evictor, space)
    assert not goes(plain(), evictor)


def test_min_replicas():
    other = running(owned("q", "good"))
    assert not goes(plain(), {"minReplicas": 3}, other)
    assert goes(plain(), {"minReplicas": 2}, other)
    assert goes(plain(), {"minReplicas": 1})
    owners = plain().metadata.owner_references
    two = replace(plain(), metadata=replace(plain().metadata, owner_references=[*owners, *owners]))
    assert goes(two, {"minReplicas": 9}), "pods with two owners are not counted"


def test_min_pod_age():
    young = running(owned("p", "bad"), start_time="2026-03-02T07:59:31Z")
    old = running(owned("p", "bad"), start_time="2026-03-02T07:59:30Z")
    assert not goes(young, {"minPodAge": "30s"})
    assert goes(old, {"minPodAge": "30s"})
    assert not goes(plain(), {"minPodAge": "30s"}), "it never started"


def test_node_fit():
    big = running(owned("p", "bad").request(cpu="8"))
    assert goes(big)
    assert not goes(big, {"nodeFit": True})
    assert goes(plain(), {"nodeFit": True})
    assert not goes(plain(), {"nodeFit": True, "nodeSelector": "disk=ssd"})
    assert goes(plain(), {"nodeFit": True, "nodeSelector": "disk=ssd"}, node("other", disk="ssd"))
