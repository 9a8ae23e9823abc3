"""A dry run beside the real kube-scheduler, and the check of the cache."""

from __future__ import annotations

import json
import signal
import subprocess

from tests.live.bench import kube_scheduler
from tests.live.control_plane import ADMIN_TOKEN, free_port
from tests.live.endpoints import ask
from tests.live.objects import Api, eventually
from tests.live.process import podium_run, podium_running

_SCHEDULED = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}'


def _metric(port: int, name: str) -> float:
    lines = ask(port, "/metrics", ADMIN_TOKEN)[1].splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


def _compared(port: int) -> float:
    return _metric(port, "podium_shadow_decisions_total")


def test_a_dry_run_writes_nothing_and_compares(api: Api):
    api.nodes(4)
    port = free_port()
    with podium_running(api, "--dry-run", f"--secure-port={port}", "-o=json") as running:
        eventually(lambda: "synced" in running.log, 60)
        api.pods(12)
        api.pods(1, "only", nodeSelector={"kubernetes.io/hostname": "node-0002"})
        api.pods(1, "huge", requests={"cpu": "99"})
        eventually(lambda: _metric(port, _SCHEDULED) == 13, 30, what=running.log)
        assert api.placements() == {}
        assert api.items("/apis/events.k8s.io/v1/events") == []
        real = subprocess.Popen(
            kube_scheduler(api.plane), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            eventually(lambda: len(api.placements()) == 13, 90)
            eventually(lambda: _compared(port) == 13, 30, what=running.log)
        finally:
            real.terminate()
            real.wait(20)
        assert running.stop() == 0, running.log
        answer = json.loads(running.out)
    assert answer["agree"] + answer["equal score"] + answer["other"] + answer["undecided"] == 13
    assert answer["agree"] >= 1, "one pod had no choice"
    assert all(each["decided"] != each["bound"] for each in answer["disagreements"])


def test_a_check_of_the_cache_finds_nothing_where_all_is_well(api: Api):
    api.nodes(3)
    api.pods(20)
    with podium_running(api) as running:
        eventually(lambda: len(api.placements()) == 20, 60)
        api.pods(20, "more")
        running.process.send_signal(signal.SIGUSR2)
        eventually(lambda: "cache check: 0 differences" in running.log, 60, what=running.log[-2000:])
        assert running.stop() == 0


def test_once_says_what_is_pending(api: Api):
    api.nodes(1)
    api.pods(2)
    api.pods(1, "huge", requests={"cpu": "99"})
    run = podium_run(api, "--once", "-o=json")
    answer = json.loads(run.stdout)
    assert answer["bound"] == 2
    assert [each["pod"] for each in answer["pending"]] == ["default/huge-0000"]
    assert answer["pending"][0]["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
