import json

import pytest
import yaml
from podium import api
from podium.api import manifest

TEMPLATE = """
template:
  metadata: {labels: {app: web}, annotations: {note: x}}
  spec: {containers: [{name: main, image: x, resources: {limits: {cpu: 100m}}}]}
"""
JOB_TEMPLATE = """
template:
  spec: {restartPolicy: Never, containers: [{name: main, image: x}]}
"""
NODES = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
    }
    for name, labels, taints in (
        ("n1", {"disk": "ssd"}, []),
        ("n2", {}, []),
        ("n3", {"disk": "ssd"}, [{"key": "gpu", "effect": "NoSchedule"}]),
        ("n4", {"disk": "ssd"}, [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]),
        ("n5", {"disk": "ssd"}, [{"key": "soft", "effect": "PreferNoSchedule"}]),
    )
]


def workload(kind, spec, version="apps/v1", template=TEMPLATE, **metadata):
    body = {**yaml.safe_load(template), **spec}
    if version == "apps/v1":
        body.setdefault("selector", {"matchLabels": {"app": "web"}})
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "w", **metadata}, "spec": body}


def job(spec, **metadata):
    return workload("Job", spec, version="batch/v1", template=JOB_TEMPLATE, **metadata)


def load(*objects, **options):
    loaded = manifest.load_objects(objects, "test", manifest.Options(**options))
    assert loaded.rejected == []
    return loaded


def pods(*objects, **options):
    return load(*objects, **options).of(api.Pod)


def owner(item):
    (reference,) = item.metadata.owner_references
    assert reference.controller
    return reference.kind, reference.name, reference.uid


def test_a_deployment_makes_a_replica_set_and_its_pods():
    loaded = load(workload("Deployment", {"replicas": 3}))
    (made,) = loaded.of(api.ReplicaSet)
    hashed = made.metadata.labels["pod-template-hash"]
    assert made.metadata.name == f"w-{hashed}"
    assert made.spec.selector.match_labels == {"app": "web", "pod-template-hash": hashed}
    assert owner(made)[:2] == ("Deployment", "w")
    found = loaded.of(api.Pod)
    assert len({pod.metadata.name for pod in found}) == len({pod.metadata.uid for pod in found}) == 3
    for pod in found:
        assert pod.metadata.name.startswith(made.metadata.name + "-")
        assert pod.metadata.labels == {"app": "web", "pod-template-hash": hashed}
        assert pod.metadata.annotations == {"note": "x"}
        assert owner(pod) == ("ReplicaSet", made.metadata.name, made.metadata.uid)
    assert loaded.counts() == {"Deployment": 1}


def test_pods_are_admitted_and_share_one_spec():
    found = pods(workload("ReplicaSet", {"replicas": 4}))
    assert len({id(pod.spec) for pod in found}) == 1
    assert found[0].spec.containers[0].resources.requests == {"cpu": "100m"}
    assert found[0].spec.priority == 0
    assert len(found[0].spec.tolerations) == 2


def test_names_are_stable_and_follow_the_template():
    first, again = (pods(workload("Deployment", {"replicas": 2})) for _ in range(2))
    assert [pod.metadata.name for pod in first] == [pod.metadata.name for pod in again]
    changed = workload("Deployment", {"replicas": 2})
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "y"
    assert {pod.metadata.name for pod in first}.isdisjoint(pod.metadata.name for pod in pods(changed))


def test_many_pods_have_different_names():
    found = pods(workload("ReplicaSet", {"replicas": 20_000}))
    assert len({pod.metadata.name for pod in found}) == 20_000


@pytest.mark.parametrize("spec", [{"replicas": 0}, {"paused": True}])
def test_a_deployment_that_makes_nothing(spec):
    assert pods(workload("Deployment", spec)) == []


def test_replicas_default_to_one():
    for kind in ("Deployment", "ReplicaSet", "StatefulSet"):
        assert len(pods(workload(kind, {}))) == 1
    controller = workload("ReplicationController", {"selector": {"app": "web"}}, version="v1")
    assert len(pods(controller)) == 1


def dumped(loaded, kind):
    return [json.loads(json.dumps(api.to_wire(item))) for item in loaded.of(kind)]


@pytest.mark.parametrize("kinds", [("ReplicaSet", "Pod"), ("Pod",), ("ReplicaSet",)])
def test_what_has_its_pods_makes_no_more(kinds):
    deployment = workload("Deployment", {"replicas": 2})
    made = load(deployment)
    types = {"ReplicaSet": api.ReplicaSet, "Pod": api.Pod}
    given = [body for kind in kinds for body in dumped(made, types[kind])]
    again = load(deployment, *given)
    assert len(again.of(api.Pod)) == 2
    assert len(again.of(api.ReplicaSet)) == int("ReplicaSet" in kinds)


def test_pods_owned_by_name_count_where_there_are_no_uids():
    owned = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "StatefulSet",
                    "name": "w",
                    "uid": "other",
                    "controller": True,
                }
            ],
        },
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    assert len(pods(workload("StatefulSet", {"replicas": 3}), owned)) == 1


def test_a_stateful_set_numbers_its_pods_and_claims():
    claims = [
        {
            "metadata": {"name": "data", "labels": {"l": "1"}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
    ]
    spec = {"replicas": 2, "ordinals": {"start": 5}, "volumeClaimTemplates": claims}
    body = workload("StatefulSet", spec)
    body["spec"]["template"]["spec"]["volumes"] = [
        {"name": "data", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
    ]
    loaded = load(body)
    found = loaded.of(api.Pod)
    assert [pod.metadata.name for pod in found] == ["w-5", "w-6"]
    labels = found[1].metadata.labels
    assert labels["apps.kubernetes.io/pod-index"] == "6"
    assert labels["statefulset.kubernetes.io/pod-name"] == "w-6"
    assert labels["controller-revision-hash"].startswith("w-")
    volumes = {volume.name: volume for volume in found[1].spec.volumes}
    assert volumes["data"].persistent_volume_claim.claim_name == "data-w-6"
    assert volumes["tmp"].empty_dir is not None
    made = loaded.of(api.PersistentVolumeClaim)
    assert [claim.metadata.name for claim in made] == ["data-w-5", "data-w-6"]
    assert made[0].metadata.labels == {"l": "1", "app": "web"}
    assert made[0].spec.volume_mode == "Filesystem"
    again = load(body, *dumped(loaded, api.PersistentVolumeClaim))
    assert len(again.of(api.PersistentVolumeClaim)) == 2


def test_a_stateful_set_without_claims_shares_one_spec():
    assert len({id(pod.spec) for pod in pods(workload("StatefulSet", {"replicas": 3}))}) == 1


def pinned(pod):
    (term,) = pod.spec.affinity.node_affinity.required.node_selector_terms
    (field,) = term.match_fields
    return field.values[0]


def test_a_daemon_set_makes_a_pod_for_every_node_that_matches():
    body = workload("DaemonSet", {})
    body["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    found = pods(body, *NODES)
    assert [pinned(pod) for pod in found] == ["n1", "n4", "n5"]
    keys = {toleration.key for toleration in found[0].spec.tolerations}
    assert {f"node.kubernetes.io/{key}" for key in ("not-ready", "disk-pressure", "unschedulable")} <= keys
    assert "node.kubernetes.io/network-unavailable" not in keys
    assert found[0].metadata.labels["pod-template-generation"] == "1"
    assert found[0].spec.node_selector == {"disk": "ssd"}


def test_a_daemon_sets_own_affinity_chooses_nodes_and_gives_way_to_the_name():
    body = workload("DaemonSet", {})
    spec = body["spec"]["template"]["spec"]
    expression = {"key": "disk", "operator": "DoesNotExist"}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    preferred = [{"weight": 1, "preference": {"matchExpressions": [expression]}}]
    spec["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": required,
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }
    }
    spec["hostNetwork"] = True
    (pod,) = pods(body, *NODES)
    assert pinned(pod) == "n2"
    assert len(pod.spec.affinity.node_affinity.preferred) == 1
    assert "node.kubernetes.io/network-unavailable" in {item.key for item in pod.spec.tolerations}


def test_a_job_runs_its_parallelism():
    assert len(pods(job({}))) == 1
    assert len(pods(job({"parallelism": 3}))) == 3
    assert len(pods(job({"parallelism": 5, "completions": 2}))) == 2
    assert len(pods(job({"parallelism": 5, "completions": 9}))) == 5
    assert pods(job({"suspend": True})) == []
    (pod,) = pods(job({}))
    assert pod.metadata.labels["batch.kubernetes.io/job-name"] == pod.metadata.labels["job-name"] == "w"
    assert owner(pod)[:2] == ("Job", "w")
    assert (
        pods(job({"manualSelector": True, "selector": {"matchLabels": {"a": "b"}}}))[0].metadata.labels == {}
    )


def test_an_indexed_job_numbers_its_pods():
    found = pods(job({"completionMode": "Indexed", "completions": 4, "parallelism": 3}))
    key = "batch.kubernetes.io/job-completion-index"
    assert [pod.metadata.labels[key] for pod in found] == ["0", "1", "2"]
    assert [pod.metadata.annotations[key] for pod in found] == ["0", "1", "2"]
    assert found[1].metadata.name.startswith("w-1-")
    assert len({id(pod.spec) for pod in found}) == 1


def test_a_job_under_way_runs_what_is_left():
    indexed = job({"completionMode": "Indexed", "completions": 6, "parallelism": 6})
    indexed["status"] = {"completedIndexes": "0,2-3"}
    assert [pod.metadata.name[:3] for pod in pods(indexed)] == ["w-1", "w-4", "w-5"]
    plain = job({"completions": 5, "parallelism": 5})
    plain["status"] = {"succeeded": 3}
    assert len(pods(plain)) == 2
    plain["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert pods(plain) == []


def test_a_cron_job_makes_its_next_job_if_asked():
    spec = {
        "schedule": "* * * * *",
        "jobTemplate": {"spec": {**yaml.safe_load(JOB_TEMPLATE), "parallelism": 2}},
    }
    body = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"}, "spec": spec}
    assert pods(body) == []
    loaded = load(body, cron_jobs=True)
    (made,) = loaded.of(api.Job)
    assert owner(made)[:2] == ("CronJob", "c")
    assert len(loaded.of(api.Pod)) == 2
    assert pods({**body, "spec": {**spec, "suspend": True}}, cron_jobs=True) == []


def test_labels_taken_over_by_selectors_split_the_spec():
    body = workload("StatefulSet", {"replicas": 2})
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["apps.kubernetes.io/pod-index"],
    }
    body["spec"]["template"]["spec"]["topologySpreadConstraints"] = [constraint]
    selectors = [pod.spec.topology_spread_constraints[0].label_selector for pod in pods(body)]
    assert [selector.match_expressions[0].values for selector in selectors] == [["0"], ["1"]]


def test_a_refused_template_is_one_rejection():
    body = workload("Deployment", {"replicas": 50})
    body["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "-1"}}
    loaded = manifest.load_objects([body], "test")
    (note,) = loaded.rejected
    assert note.object == "Deployment default/w"
    assert "spec.template.spec.containers[0].resources.requests[cpu]" in note.message
    assert loaded.of(api.Pod) == []


def test_pods_that_admission_refuses_are_one_rejection():
    body = workload("Deployment", {"replicas": 50})
    body["spec"]["template"]["spec"]["priorityClassName"] = "none"
    loaded = manifest.load_objects([body], "test")
    (note,) = loaded.rejected
    assert note.object.startswith("ReplicaSet default/w-")
    assert note.message.endswith("no PriorityClass with name none was found")
    assert loaded.of(api.Pod) == []


def test_namespaces_in_use_are_there_with_their_label():
    given = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": {"team": "x"}}}
    loaded = load(workload("Deployment", {}, namespace="a"), given, workload("Deployment", {}, namespace="b"))
    found = {item.metadata.name: item.metadata.labels for item in loaded.of(api.Namespace)}
    label = "kubernetes.io/metadata.name"
    assert found == {"a": {"team": "x", label: "a"}, "b": {label: "b"}}
    assert loaded.counts() == {"Deployment": 2, "Namespace": 1}
