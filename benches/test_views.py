"""What plugins see: columns over the core's blocks, when nothing changed and after each placement."""

import numpy as np
import pytest
from podium.scheduler.columns import CustomColumns
from podium.scheduler.nodes import NodeFacts, SnapshotNodes

from benches.conftest import build, fill


@pytest.fixture
def world(grade):
    """Return an engine with pending pods and what is known of its nodes."""
    workload = build("basic", grade)
    filled = fill(workload)
    nodes = {node.metadata.name: node for node in workload.nodes}
    facts = NodeFacts(filled.engine, nodes, CustomColumns())
    facts.refresh(0)
    return filled, facts


def test_amounts(benchmark, world):
    filled, facts = world

    def read() -> int:
        view = SnapshotNodes(facts, filled.engine.columns())
        free = view.allocatable("cpu") - view.requested("cpu")
        return int(free.max())

    assert benchmark(read) > 0


def test_labels(benchmark, world):
    filled, facts = world
    view = SnapshotNodes(facts, filled.engine.columns())

    def read() -> int:
        zones = view.label("topology.kubernetes.io/zone")
        return int(np.bincount(zones.codes[zones.codes >= 0]).max())

    assert benchmark(read) > 0


def test_after_a_placement(benchmark, world):
    """One pod is placed and taken away again between two looks, so a block of the columns is written anew."""
    filled, facts = world
    pod = int(filled.pods[0])

    def turn() -> int:
        filled.engine.assume(pod, 0)
        used = SnapshotNodes(facts, filled.engine.columns()).requested("cpu")
        filled.engine.forget(pod)
        return int(used[0])

    assert benchmark(turn) > 0


def test_the_names_of_new_nodes(benchmark, world):
    """Everything that is made once per version of the nodes."""
    _, facts = world
    versions = iter(range(1, 10**9))

    def turn() -> int:
        facts.refresh(next(versions))
        return len(facts.positions)

    assert benchmark(turn) > 0
