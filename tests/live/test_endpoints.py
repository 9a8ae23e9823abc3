"""The secure port."""

from __future__ import annotations

import json

from tests.live.control_plane import ADMIN_TOKEN, free_port
from tests.live.endpoints import ask
from tests.live.objects import Api, eventually
from tests.live.process import Running, podium_running


def _ready(running: Running, port: int) -> bool:
    try:
        return ask(port, "/readyz")[0] == 200
    except OSError:
        return False


def test_endpoints(api: Api):
    port = free_port()
    api.nodes(2)
    api.pods(4)
    other = api.plane.kubeconfig()
    flags = (f"--authentication-kubeconfig={other}", f"--authorization-kubeconfig={other}")
    with podium_running(api, f"--secure-port={port}", "--bind-address=127.0.0.1", *flags) as running:
        eventually(lambda: _ready(running, port), 60, what=running.log[-2000:])
        eventually(lambda: len(api.placements()) == 4, 60)
        for path in ("/healthz", "/livez", "/readyz"):
            assert ask(port, path) == (200, "ok")
        assert "[+]informer-sync ok" in ask(port, "/readyz?verbose")[1]

        status, text = ask(port, "/metrics")
        assert status == 403
        assert 'User "system:anonymous" cannot get path "/metrics"' in text
        assert ask(port, "/metrics", "no-such-token")[0] == 401
        status, text = ask(port, "/metrics", "nobody-token")
        assert status == 403
        assert 'User "nobody" cannot get path "/metrics"' in text

        status, text = ask(port, "/metrics", ADMIN_TOKEN)
        assert status == 200
        assert 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 4.0' in text
        assert 'scheduler_scheduler_cache_size{type="nodes"} 2.0' in text
        assert 'scheduler_pending_pods{queue="active"} 0.0' in text

        status, text = ask(port, "/configz", ADMIN_TOKEN)
        assert status == 200
        config = json.loads(text)["componentconfig"]
        assert config["profiles"][0]["schedulerName"] == "default-scheduler"
        assert config["leaderElection"]["leaseDuration"] == "15s"
        assert ask(port, "/configz")[0] == 403
        assert running.stop() == 0, running.log
        assert ADMIN_TOKEN not in running.log


def test_a_port_that_is_taken_is_named(api: Api):
    port = free_port()
    with (
        podium_running(api, f"--secure-port={port}", "--bind-address=127.0.0.1") as first,
        podium_running(api, f"--secure-port={port}", "--bind-address=127.0.0.1") as second,
    ):
        eventually(lambda: first.process.poll() is not None or second.process.poll() is not None, 60)
        loser = first if first.process.poll() is not None else second
        assert loser.stop() == 2
        assert f"--secure-port {port}" in loser.log
