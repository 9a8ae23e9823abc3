"""What the suites share: clusters of graded size with a scenario's pods, as objects and inside an engine."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from podium._core import Engine
from podium.api import Pod, kind_of
from podium.framework.config import default_config
from podium.simulator.workloads import SCENARIOS, Workload

#: Nodes and pods of each grade.
GRADES = {"small": (100, 1_000), "medium": (1_000, 5_000), "large": (5_000, 10_000)}


@pytest.fixture(params=GRADES)
def grade(request) -> tuple[int, int]:
    return GRADES[request.param]


@dataclass(frozen=True)
class Filled:
    """An engine that knows the nodes and the pending pods."""

    engine: Engine
    pods: NDArray[np.uint32]

    @property
    def attempts(self) -> NDArray[np.uint64]:
        return np.zeros(len(self.pods), dtype=np.uint64)


def fill(workload: Workload) -> Filled:
    """Give an engine with the default profile a workload's cluster and pending pods."""
    engine = Engine()
    engine.set_backoff(10**9, 10**10)
    for profile in default_config().profiles:
        engine.add_profile(profile.native_json())
    encode = msgspec.json.encode
    for node in workload.nodes:
        engine.set_node(encode(node))
    for item in workload.objects:
        engine.set(kind_of(type(item)), encode(item))
    add(engine, workload.bound)
    return Filled(engine, add(engine, workload.pods))


def add(engine: Engine, pods: Sequence[Pod]) -> NDArray[np.uint32]:
    """Put pods into an engine, past its queue."""
    encode = msgspec.json.encode
    return engine.add_pods(
        [encode(pod.metadata) for pod in pods],
        [encode(pod.spec) for pod in pods],
        [encode(pod.status) for pod in pods],
    )


def build(scenario: str, size: tuple[int, int]) -> Workload:
    """Build a scenario of ``podium bench``; ``tests/simulator/workloads`` tests what these are."""
    return SCENARIOS[scenario].build(*size)
