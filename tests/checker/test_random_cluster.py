"""The checker and the generator of random clusters against a scheduler of ten lines."""

import random

import pytest

from tests.checker import check
from tests.checker.claims import certain
from tests.checker.judge import DEFAULT, Judge
from tests.checker.random_cluster import random_cluster
from tests.checker.rules import passes, why_not_tried


def schedule(objects: list[dict], rng: random.Random) -> dict:
    """Priority order, any node that fits, again and again until nothing moves; no preemption."""
    judge = Judge(objects, {"placements": []}, DEFAULT)
    waiting = sorted((p for p in judge.pods.values() if p.key not in judge.bound), key=lambda p: -p.priority)
    placements, moved = [], True
    while moved:
        moved = False
        for pod in list(waiting):
            nodes = [] if why_not_tried(pod, DEFAULT) else list(judge.world.nodes.values())
            fitting = [n for n in nodes if passes(judge.world, pod, n) and certain(judge.world, pod, n)]
            if fitting:
                node = rng.choice(fitting)
                judge.world.add(pod, node)
                placements.append({"pod": pod.key, "node": node.name, "at": 0.0})
                waiting.remove(pod)
                moved = True
    return {"placements": placements, "pending": [{"pod": p.key, "nominated": None} for p in waiting]}


@pytest.mark.parametrize("seed", range(30))
def test_an_honest_answer_is_clean_and_a_tampered_one_is_not(seed: int) -> None:
    objects, rng = random_cluster(seed), random.Random(seed)
    answer = schedule(objects, rng)
    assert check(objects, answer) == []
    assert len(answer["placements"]) >= 3
    forgotten = answer["placements"].pop(rng.randrange(len(answer["placements"])))
    assert "lost" in {v.kind for v in check(objects, answer) if v.pod == forgotten["pod"]}


def test_a_seed_names_one_cluster() -> None:
    assert random_cluster(7) == random_cluster(7)
    assert random_cluster(7) != random_cluster(8)


def test_the_clusters_have_both_placed_and_pending_pods() -> None:
    answers = [schedule(random_cluster(seed), random.Random(seed)) for seed in range(10)]
    assert all(a["placements"] for a in answers)
    assert any(a["pending"] for a in answers)
