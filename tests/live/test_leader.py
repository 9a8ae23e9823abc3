"""Leader election: one schedules, the others stand by."""

from __future__ import annotations

import signal
import time

from tests.live.objects import Api, eventually
from tests.live.process import podium_running

_LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
_FAST = (
    "--leader-elect=true",
    "--leader-elect-lease-duration=5s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=500ms",
)


def _holder(api: Api) -> str:
    return api.request("GET", _LEASE)["spec"].get("holderIdentity", "")


def test_a_standby_takes_over_when_the_leader_is_killed(api: Api):
    api.nodes(3)
    with podium_running(api, *_FAST) as first:
        eventually(lambda: "this process leads now" in first.log, 60)
        before = _holder(api)
        with podium_running(api, *_FAST) as second:
            eventually(lambda: f"is {before}" in second.log, 60)
            api.pods(5, "one")
            eventually(lambda: len(api.placements()) == 5, 30)
            assert "this process leads now" not in second.log
            first.stop(signal.SIGKILL)
            api.pods(5, "two")
            eventually(lambda: len(api.placements()) == 10, 30, what=second.log[-2000:])
            assert _holder(api) != before
            assert api.request("GET", _LEASE)["spec"]["leaseTransitions"] == 1
            # On a clean exit the lease is given up at once.
            assert second.stop() == 0, second.log
            assert _holder(api) == ""


def test_who_cannot_renew_its_lease_ends_with_status_1(api: Api):
    with podium_running(api, *_FAST) as running:
        eventually(lambda: "this process leads now" in running.log, 60)
        until = time.monotonic() + 60
        while running.process.poll() is None and time.monotonic() < until:
            thief = {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 60}}
            api.request("PATCH", _LEASE, thief, "application/merge-patch+json")
            time.sleep(0.2)
        assert running.process.wait(5) == 1, running.log
        running.stop()
        assert "leaderelection lost" in running.log


def test_a_clock_that_jumps_elsewhere_does_not_shorten_a_lease(api: Api):
    """A lease that says it was renewed long ago is waited for as long as any other."""
    body = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        "spec": {
            "holderIdentity": "other",
            "leaseDurationSeconds": 5,
            "acquireTime": "2001-01-01T00:00:00.000000Z",
            "renewTime": "2001-01-01T00:00:00.000000Z",
        },
    }
    api.create(_LEASE.rpartition("/")[0], body)
    with podium_running(api, *_FAST) as running:
        eventually(lambda: "is other" in running.log, 60)
        seen = time.monotonic()
        eventually(lambda: "this process leads now" in running.log, 30)
        assert time.monotonic() - seen > 3
        running.stop()
