"""Custom resources are optional: followed when their kind appears, forgotten when it goes."""

from __future__ import annotations

from tests.live.objects import Api, eventually
from tests.live.process import podium_running

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def test_a_kind_that_comes_and_goes(api: Api):
    api.nodes(1)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "podgroups.scheduling.x-k8s.io",
            "annotations": {"api-approved.kubernetes.io": "unapproved, test"},
        },
        "spec": {
            "group": "scheduling.x-k8s.io",
            "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
    kind = "PodGroup of scheduling.x-k8s.io/v1alpha1"
    with podium_running(api) as running:
        eventually(lambda: "synced" in running.log, 60)
        assert kind not in running.log
        api.create(_CRDS, body)
        try:
            eventually(lambda: f"following {kind}" in running.log, 60, what=running.log)
            api.pods(1)
            eventually(lambda: len(api.placements()) == 1, 30)
        finally:
            api.delete(f"{_CRDS}/podgroups.scheduling.x-k8s.io", None)
        eventually(lambda: f"{kind} is gone" in running.log, 90, what=running.log)
        api.pods(1, "after")
        eventually(lambda: len(api.placements()) == 2, 30)
        assert running.stop() == 0, running.log
