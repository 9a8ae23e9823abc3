"""``podium run --once`` on a real API server."""

from __future__ import annotations

from tests.live.objects import Api
from tests.live.process import podium_run


def test_drains_what_is_pending_and_says_so_in_events(api: Api):
    api.nodes(20)
    api.pods(100)
    api.pods(1, "huge", requests={"cpu": "99"})
    api.pods(3, "foreign", schedulerName="another")
    run = podium_run(api, "--once")
    assert run.returncode == 0, run.stderr
    placements = api.placements()
    assert {name for name in placements if name.startswith("p-")} == {f"p-{i:04}" for i in range(100)}
    assert len(placements) == 100
    assert set(placements.values()) == {f"node-{i:04}" for i in range(20)}

    scheduled = {event["regarding"]["name"]: event for event in api.events("Scheduled")}
    assert set(scheduled) == set(placements)
    event = scheduled["p-0000"]
    assert event["note"] == f"Successfully assigned default/p-0000 to {placements['p-0000']}"
    assert (event["type"], event["action"]) == ("Normal", "Binding")
    assert event["reportingController"] == "default-scheduler"

    text = "0/20 nodes are available: 20 Insufficient cpu."
    conditions = {c["type"]: c for c in api.pod("huge-0000")["status"]["conditions"]}
    assert conditions["PodScheduled"]["reason"] == "Unschedulable"
    assert conditions["PodScheduled"]["message"].startswith(text)
    failed = api.events("FailedScheduling")
    assert [e["regarding"]["name"] for e in failed] == ["huge-0000"]
    assert failed[0]["note"] == conditions["PodScheduled"]["message"]
