"""Pods that are alike are judged by one of them; judging each by itself is the same."""

import pytest
from podium.descheduler import shapes

from tests.descheduler.differential.ours import ours
from tests.descheduler.differential.scenario import Scenario, scenario


def by_kubelet(item: Scenario) -> Scenario:
    """Give each pod the volume that the API server adds, whose name nobody else has."""
    for number, pod in enumerate(item.objects):
        if pod["kind"] != "Pod" or number % 2:
            continue
        name = f"kube-api-access-{number}"
        pod["spec"] = {
            **pod["spec"],
            "volumes": [*pod["spec"].get("volumes", ()), {"name": name, "projected": {}}],
        }
        pod["spec"]["containers"] = [
            {**one, "volumeMounts": [{"name": name, "mountPath": "/x"}]} for one in pod["spec"]["containers"]
        ]
    return item


@pytest.mark.parametrize("seed", range(500, 560))
def test_each_by_itself_is_the_same(seed, monkeypatch):
    item = by_kubelet(scenario(seed))
    together = ours(item)
    monkeypatch.setattr(shapes, "likeness", lambda pod: b"%d" % id(pod))
    assert ours(item) == together
