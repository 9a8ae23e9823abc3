"""The same pods on the same nodes: Podium and kube-scheduler place them alike, and say alike why not."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.live import shapes
from tests.live.bench import kube_scheduler
from tests.live.objects import Api, eventually
from tests.live.process import podium_running

_PODS, _NODES = 500, 60
_NEVER = {17, 18, 19}
"""The shapes that fit nowhere."""

_CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
percentageOfNodesToScore: 100
leaderElection: {leaderElect: false}
"""
_UPSTREAM = """\
---
apiVersion: podium.dev/v1alpha1
kind: PodiumConfiguration
choose: upstream
"""


def _fill(api: Api) -> None:
    for body in shapes.pods(_PODS):
        api.create("/api/v1/namespaces/default/pods", body)


def _outcome(api: Api) -> tuple[dict[str, str], dict[str, str]]:
    """Return where pods are, and the first reason of each that is nowhere."""
    failed: dict[str, tuple[str, str]] = {}
    for event in api.events("FailedScheduling"):
        name, said = event["regarding"]["name"], (event["eventTime"], event["note"])
        failed[name] = min(failed.get(name, said), said)
    return api.placements(), {name: note for name, (_, note) in failed.items()}


def _is_done(api: Api) -> bool:
    hopeless = {f"p-{i:04}" for i in range(_PODS) if i % len(shapes.SHAPES) in _NEVER}
    told = {event["regarding"]["name"] for event in api.events("FailedScheduling")}
    return len(api.placements()) >= _PODS - len(told) and hopeless <= told


def test_node_for_node_and_word_for_word(api: Api, tmp_path: Path):
    api.create_all("/api/v1/nodes", shapes.nodes(_NODES))
    _fill(api)
    config = tmp_path / "kube-scheduler.yaml"
    config.write_text(
        _CONFIG + f"clientConnection: {{kubeconfig: {api.plane.kubeconfig()}, qps: 5000, burst: 5000}}\n"
    )
    # With streamed lists kube-scheduler hears of nodes and pods in the order of a Go map: at random.
    listed = "--feature-gates=WatchListClient=false"
    command = [kube_scheduler(api.plane)[0], f"--config={config}", "--secure-port=0", listed]
    real = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: _is_done(api), 120, what="kube-scheduler")
    finally:
        real.terminate()
        real.wait(20)
    theirs = _outcome(api)
    api.delete("/api/v1/namespaces/default/pods")
    api.delete("/apis/events.k8s.io/v1/namespaces/default/events")
    eventually(lambda: not api.items("/api/v1/pods"), 30)

    _fill(api)
    config.write_text(_CONFIG + _UPSTREAM)
    with podium_running(api, f"--config={config}") as running:
        eventually(lambda: _is_done(api), 120, what=running.log[-2000:])
        assert running.stop() == 0
    ours = _outcome(api)
    assert len(theirs[0]) > 400
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]
