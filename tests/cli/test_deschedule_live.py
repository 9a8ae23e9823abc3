"""``podium deschedule --kubeconfig`` against a small server of our own: requests, and what refusals become.

The same on a real API server is in ``tests/live/test_descheduling.py``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.manifests import node, write
from tests.cli.test_deschedule import owned, policy
from tests.command import ask

BUDGET = "Cannot evict pod as it would violate the pod's disruption budget."


class Server(ThreadingHTTPServer):
    """Lists nodes and pods; refuses to evict pods in ``kept`` with 429, those in ``changed`` with 409."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.kept: set[str] = set()
        self.changed: set[str] = set()
        self.sent: list[tuple[str, dict[str, Any]]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        items = self.server.lists.get(self.path.partition("?")[0].rpartition("/")[2], [])
        self._answer(200, {"kind": "List", "metadata": {"resourceVersion": "1"}, "items": items})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sent.append((self.path, body))
        name = body["metadata"]["name"]
        if self.path.endswith("/eviction") and name in self.server.kept:
            self._answer(429, {"kind": "Status", "reason": "TooManyRequests", "message": BUDGET, "code": 429})
        elif self.path.endswith("/eviction") and name in self.server.changed:
            self._answer(409, {"kind": "Status", "reason": "Conflict", "message": "changed", "code": 409})
        else:
            self._answer(201, {"kind": "Status", "status": "Success"})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as found:
        pods = [owned(f"p{i}", "hot", owner="rs") for i in range(9)]
        for number, item in enumerate(pods):
            item["spec"]["schedulerName"] = "default-scheduler"
            item["metadata"] |= {"uid": f"uid-{number}", "resourceVersion": str(100 + number)}
        found.lists = {"nodes": [node("hot", cpu="10"), node("new", cpu="10")], "pods": pods}
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def flags(server: Server, tmp_path: Path) -> tuple[object, ...]:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "u", "user": {}}],
    }
    rules = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}
    return (
        "--kubeconfig", write(tmp_path / "kubeconfig", config),
        "--policy", policy(tmp_path / "policy.yaml", rules, gracePeriodSeconds=7),
    )  # fmt: skip


def names(answer: Any) -> list[str]:
    return [item["pod"].partition("/")[2] for item in answer["evictions"]]


def test_an_eviction_has_preconditions_and_says_who_asks(server: Server, flags: tuple[object, ...]):
    gone = names(ask("deschedule", *flags))
    assert gone == ["p0", "p1"]
    path, body = server.sent[0]
    assert path == "/api/v1/namespaces/default/pods/p0/eviction"
    assert body["apiVersion"] == "policy/v1"
    assert body["deleteOptions"] == {
        "preconditions": {"uid": "uid-0", "resourceVersion": "100"},
        "gracePeriodSeconds": 7,
    }
    annotations = body["metadata"]["annotations"]
    assert annotations["requested-by"] == "sigs.k8s.io/descheduler"
    assert annotations["reason"].startswith("triggered by p/LowNodeUtilization")
    events = [body for path, body in server.sent if path.endswith("/events")]
    assert [event["regarding"]["name"] for event in events] == gone
    assert {(event["reason"], event["action"]) for event in events} == {("LowNodeUtilization", "Descheduled")}


def test_refusals_are_final_for_the_cycle(server: Server, flags: tuple[object, ...]):
    server.kept, server.changed = {"p0"}, {"p1"}
    answer = ask("deschedule", *flags)
    assert names(answer) == ["p2", "p3"]
    assert [(item["pod"], item["why"]) for item in answer["blocked"]] == [
        ("default/p0", "pdb"),
        ("default/p1", "error"),
    ]
    assert BUDGET in answer["blocked"][0]["message"]
    asked = [path for path, _ in server.sent if path.endswith("/eviction")]
    assert len(asked) == len(set(asked)) == 4


def test_guarded_mode_does_not_ask_for_what_a_budget_forbids(server: Server, flags: tuple[object, ...]):
    server.lists["poddisruptionbudgets"] = [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b", "namespace": "default", "uid": "b", "generation": 1},
            "spec": {"minAvailable": 9, "selector": {"matchLabels": {"app": "rs"}}},
            "status": {
                "observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 9, "desiredHealthy": 9,
                "expectedPods": 9,
            },
        }
    ]  # fmt: skip
    answer = ask("deschedule", *flags, "--mode", "guarded")
    assert answer["evictions"] == server.sent == []
    assert {item["why"] for item in answer["blocked"]} == {"pdb"}


def test_a_dry_run_sends_nothing(server: Server, flags: tuple[object, ...]):
    answer = ask("deschedule", *flags, "--dry-run", "--mode", "guarded")
    assert {item["destination"] for item in answer["evictions"]} == {"new"}
    assert server.sent == []


def test_cycles_follow_each_other(server: Server, flags: tuple[object, ...]):
    answer = ask("deschedule", *flags, "--interval", "10ms", "--cycles", "2")
    assert [len(cycle["evictions"]) for cycle in answer["cycles"]] == [2, 2]
