"""The openb trace, scheduled by the simulator as kube-scheduler does it: the same node for every pod."""

from __future__ import annotations

from typing import Any

import pytest
from podium.api.manifest import load_objects
from podium.framework.config import parse_config
from podium.simulator.run import Options, simulate

from tests.parity.openb import DATA, HASH, digest, openb_scenario

AS_UPSTREAM = b"""
apiVersion: podium.dev/v1alpha1
kind: PodiumConfiguration
choose: upstream
sampling: upstream
"""


def _objects(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    nodes = [{"apiVersion": "v1", "kind": "Node"} | node for node in scenario["nodes"]]
    pods = [{"apiVersion": "v1", "kind": "Pod"} | step["pod"] for step in scenario["steps"]]
    return nodes + pods


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data/openb is absent")
def test_every_pod_is_on_the_node_that_kube_scheduler_chose() -> None:
    scenario = openb_scenario()
    manifest = load_objects(_objects(scenario), "openb")
    assert manifest.rejected == []
    result = simulate(manifest, parse_config(AS_UPSTREAM, "test"), Options(attempts="none"))
    nodes = {placement.pod: placement.node for placement in result.placements}
    names = [f"default/{step['pod']['metadata']['name']}" for step in scenario["steps"]]
    text = "".join(f"{name} {nodes.get(name, '-')}\n" for name in names)
    assert digest(text) == HASH.read_text().strip()
