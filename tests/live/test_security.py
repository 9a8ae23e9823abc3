"""Least rights, verified servers, hostile objects."""

from __future__ import annotations

import contextlib

import pytest

from tests.live.certificates import Authority
from tests.live.crds import pod_groups
from tests.live.objects import Api, eventually, node, pod
from tests.live.process import podium_run, podium_running
from tests.live.rights import as_podium, install, remove


@pytest.fixture(autouse=True)
def _no_rights_left(api: Api):
    yield
    remove(api)


def test_the_role_of_podium_deploy_is_enough(api: Api):
    install(api)
    api.nodes(3)
    api.pods(10)
    api.pods(1, "low", requests={"cpu": "7500m"}, nodeSelector={"kubernetes.io/hostname": "node-0000"})
    flags = ("--leader-elect=true", "--leader-elect-resource-name=podium")
    with podium_running(api, as_podium(api), *flags) as running:
        eventually(lambda: len(api.placements()) == 11, 60, what=running.log[-3000:])
        api.pods(1, "huge", requests={"cpu": "99"})
        eventually(lambda: api.events("FailedScheduling"), 30)
        important = pod("important", requests={"cpu": "7500m"}, priorityClassName="system-cluster-critical")
        important["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "node-0000"}
        api.create("/api/v1/namespaces/default/pods", important)
        eventually(lambda: api.placements().get("important") == "node-0000", 60, what=running.log[-3000:])
        eventually(lambda: api.events("Preempted"), 30)
        assert running.stop() == 0, running.log
    assert "forbidden" not in running.log
    assert "podium-token" not in running.log


@pytest.mark.parametrize(
    ("resource", "verb", "named"),
    [
        ("nodes", "list", 'cannot list resource "nodes"'),
        ("pods/binding", "create", 'cannot create resource "pods/binding"'),
    ],
)
def test_a_missing_verb_is_named(api: Api, resource: str, verb: str, named: str):
    install(api, without=(resource, verb))
    api.nodes(1)
    api.pods(1)
    with podium_running(api, as_podium(api)) as running:
        eventually(lambda: named in running.log.replace("\\", "") or _told(api, named), 60, what=running.log)
        running.stop()
    assert "podium-token" not in running.log


def _told(api: Api, text: str) -> bool:
    return any(text in event["note"] for event in api.events("FailedScheduling"))


def test_a_server_signed_by_somebody_else_is_refused(api: Api):
    other = api.plane.folder / "other-ca.crt"
    other.write_bytes(Authority().pem)
    config = api.plane.folder / "wrong.kubeconfig"
    config.write_text(api.plane.kubeconfig().read_text().replace("ca.crt", str(other)))
    with podium_running(api, f"--kubeconfig={config}") as running:
        eventually(lambda: "CERTIFICATE_VERIFY_FAILED" in running.log, 60)
        running.stop()
    assert "admin-token" not in running.log


def test_hostile_objects_do_no_harm(api: Api):
    api.nodes(2)
    taint = {"value": "v" * 20, "effect": "PreferNoSchedule"}
    taints = [{"key": f"k{i}.example.com/x", **taint} for i in range(10_000)]
    api.create("/api/v1/nodes", node("tainted", taints=taints))
    huge = {f"example.com/{i}-{'x' * 50}": "y" * 63 for i in range(2000)}
    api.create("/api/v1/namespaces/default/pods", pod("labelled", labels=huge))
    texts = {"a": "\U0001f600" * 20000, "b": "\u202e\u0000".replace("\u0000", "") * 1000}
    api.create("/api/v1/namespaces/default/pods", pod("unicode", annotations=texts))
    api.create("/api/v1/namespaces/default/pods", pod("enormous", requests={"memory": "9223372036854775807"}))
    terms = [
        {
            "weight": 1,
            "preference": {"matchExpressions": [{"key": f"k{i}", "operator": "In", "values": ["x"] * 20}]},
        }
        for i in range(500)
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    api.create("/api/v1/namespaces/default/pods", pod("fussy", affinity=affinity))
    api.pods(5)
    run = podium_run(api, "--once")
    assert run.returncode == 0, run.stderr
    assert set(api.placements()) == {"labelled", "unicode", "fussy", *(f"p-{i:04}" for i in range(5))}


def test_json_deeper_than_a_decoder_goes(api: Api):
    """Custom resources may be nested thousands of levels deep: they are read, by list and by watch."""
    deep = '{"a":' * 5000 + "1" + "}" * 5000
    labels = {"scheduling.x-k8s.io/pod-group": "before"}
    api.nodes(1)
    with pod_groups(api, "scheduling.x-k8s.io", "v1alpha1") as path:

        def create(name: str) -> None:
            kind = '"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup"'
            spec = f'{{"minMember": 2, "x": {deep}}}'
            with contextlib.suppress(RecursionError):  # the answer, which this client cannot read
                api.request("POST", path, f'{{{kind}, "metadata": {{"name": "{name}"}}, "spec": {spec}}}')

        create("before")
        with podium_running(api) as running:
            eventually(lambda: "synced" in running.log, 60, what=running.log)
            api.pods(2, "before", labels=labels)
            eventually(lambda: len(api.placements()) == 2, 60, what=running.log[-3000:])
            create("after")
            api.pods(2, "after", labels={"scheduling.x-k8s.io/pod-group": "after"})
            eventually(lambda: len(api.placements()) == 4, 60, what=running.log[-3000:])
            assert running.stop() == 0, running.log
