"""The independent checker beside the real kube-scheduler, on its own random clusters."""

import pytest

from tests.checker.judge import DEFAULT, Judge
from tests.checker.random_cluster import random_cluster
from tests.checker.rules import objections, why_not_tried
from tests.parity.process import Oracle


@pytest.mark.parametrize("seed", range(40))
def test_the_checker_finds_the_feasible_nodes_of_upstream(oracle: Oracle, seed: int) -> None:
    objects = random_cluster(seed)
    pending = [o for o in objects if o["kind"] == "Pod" and "nodeName" not in o["spec"]]
    cluster = [o for o in objects if o not in pending]
    loaded = oracle.answer({"id": str(seed), "manifests": {"cluster": cluster, "pending": pending}})
    assert not loaded.get("rejected")
    judge = Judge(objects, {"placements": []}, DEFAULT)
    for entry in oracle.answer(loaded["scenario"])["pods"]:
        pod = judge.pods[entry["pod"]]
        assert (entry["result"] == "gated") == (why_not_tried(pod, DEFAULT) is not None)
        if entry["result"] != "gated":
            found = {n.name: objections(judge.world, pod, n) for n in judge.world.nodes.values()}
            assert {name for name, texts in found.items() if not texts} == set(entry["feasible"]), (
                pod.key,
                found,
            )
