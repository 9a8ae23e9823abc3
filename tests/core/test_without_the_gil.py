"""Long calls into the core let other Python threads run."""

import threading
from time import perf_counter

import msgspec
import numpy as np
from podium._core import Engine
from podium.framework.config import default_config
from podium.simulator.workloads import SCENARIOS

NODES, PODS = 500, 4_000


def _filled():
    """Return an engine and pods each of another size, so that one call takes a good while."""
    workload = SCENARIOS["hetero"].build(NODES, PODS)
    engine = Engine()
    engine.set_backoff(10**9, 10**10)
    for profile in default_config().profiles:
        engine.add_profile(profile.native_json())
    encode = msgspec.json.encode
    for node in workload.nodes:
        engine.set_node(encode(node))
    handles = [engine.add_pod(encode(pod)) for pod in workload.pods]
    return engine, np.asarray(handles, dtype=np.uint32)


def _moments_of_others(call):
    """Run ``call`` on a thread; return when it began and ended, and when this thread ran meanwhile."""
    span = []
    began = threading.Event()

    def run():
        began.set()
        start = perf_counter()
        call()
        span.extend((start, perf_counter()))

    thread = threading.Thread(target=run)
    thread.start()
    began.wait()
    moments = []
    while thread.is_alive():
        moments.append(perf_counter())
        thread.join(0.0005)
    return span, moments


def test_a_batch_lets_other_threads_run():
    engine, handles = _filled()
    rows = []

    def call():
        rows.extend(engine.schedule_batch(handles, np.zeros(PODS, dtype=np.uint64)).tolist())

    (start, end), moments = _moments_of_others(call)
    assert len(rows) == PODS
    assert min(rows) >= 0
    # Were the lock held, this thread would have run at the edges of the call alone.
    edge = (end - start) / 10
    assert sum(start + edge < moment < end - edge for moment in moments) >= 3
