"""Custom resources are optional: followed when their kind appears, forgotten when it goes."""

from __future__ import annotations

from tests.live.crds import pod_groups
from tests.live.objects import Api, eventually
from tests.live.process import podium_running


def test_a_kind_that_comes_and_goes(api: Api):
    api.nodes(1)
    kind = "PodGroup of scheduling.x-k8s.io/v1alpha1"
    with podium_running(api) as running:
        eventually(lambda: "synced" in running.log, 60)
        assert kind not in running.log
        with pod_groups(api, "scheduling.x-k8s.io", "v1alpha1"):
            eventually(lambda: f"following {kind}" in running.log, 60, what=running.log)
            api.pods(1)
            eventually(lambda: len(api.placements()) == 1, 60)
        eventually(lambda: f"{kind} is gone" in running.log, 90, what=running.log)
        api.pods(1, "after")
        eventually(lambda: len(api.placements()) == 2, 60)
        assert running.stop() == 0, running.log
