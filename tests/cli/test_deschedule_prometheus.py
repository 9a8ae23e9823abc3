"""Real load from a real Prometheus server that scrapes an exporter of our own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml

from tests.cli.manifests import node, write
from tests.cli.test_deschedule import owned
from tests.command import ask

CONFIG = """\
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
- job_name: load
  honor_labels: true
  static_configs: [{targets: ["127.0.0.1:%d"]}]
"""


class Exporter(ThreadingHTTPServer):
    """Serves ``load{instance=NODE}``; answers 503 while ``loads`` is None."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.loads: dict[str, float] | None = {}


class _Handler(BaseHTTPRequestHandler):
    server: Exporter

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        loads = self.server.loads
        self.send_response(503 if loads is None else 200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        lines = (f'load{{instance="{name}"}} {value}\n' for name, value in (loads or {}).items())
        self.wfile.write("".join(lines).encode())


class Prometheus:
    """A server on a free port."""

    def __init__(self, folder: Path, exporter: Exporter) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        (folder / "prometheus.yml").write_text(CONFIG % exporter.server_port)
        command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
        command += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={self.url[7:]}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def loads(self) -> dict[str, float]:
        with urlopen(f"{self.url}/api/v1/query?{urlencode({'query': 'load'})}", timeout=30) as answer:
            found = json.loads(answer.read())["data"]["result"]
        return {item["metric"]["instance"]: float(item["value"][1]) for item in found}


def wait_for(check: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if check():
                return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail("Prometheus did not get there in time")


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    with Exporter() as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def prometheus(tmp_path: Path, exporter: Exporter) -> Iterator[Prometheus]:
    if shutil.which("prometheus") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("prometheus is missing, and CI does not skip this")
        pytest.skip("prometheus is missing")
    found = Prometheus(tmp_path, exporter)
    try:
        yield found
    finally:
        found.process.terminate()
        found.process.wait()


@pytest.fixture
def flags(tmp_path: Path) -> tuple[object, ...]:
    """Requests are even; the policy asks the query ``load``."""
    objects = [node(name, cpu="10") for name in ("busy", "idle")]
    objects += [owned(f"{name}-{i}", name, f"{name}-{i}") for name in ("busy", "idle") for i in range(4)]
    args = {
        "thresholds": {"MetricResource": 30},
        "targetThresholds": {"MetricResource": 60},
        "metricsUtilization": {"source": "Prometheus", "prometheus": {"query": "load"}},
    }
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "LowNodeUtilization", "args": args}],
        "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
    }
    provider = {"source": "Prometheus", "prometheus": {"url": "http://127.0.0.1:1"}}
    body = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "metricsProviders": [provider],
        "profiles": [profile],
    }
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump(body))
    return "-f", write(tmp_path / "cluster.yaml", *objects), "--policy", path


@pytest.mark.timeout(600)
def test_what_a_real_server_says_decides(exporter: Exporter, prometheus: Prometheus, flags: Any):
    def answer(*more: str) -> Any:
        return ask("deschedule", *flags, "--prometheus", prometheus.url, *more)

    exporter.loads = {"busy": 0.9, "idle": 0.1}
    wait_for(lambda: prometheus.loads() == exporter.loads)
    found = answer()
    assert [item["node"] for item in found["evictions"]] == ["busy"]
    assert found["errors"] == []
    guarded = answer("--mode", "guarded")
    assert all((item["node"], item["destination"]) == ("busy", "idle") for item in guarded["evictions"])
    assert guarded["evictions"] or guarded["blocked"]

    exporter.loads = {"busy": 0.9}
    wait_for(lambda: prometheus.loads() == exporter.loads)
    for mode in ("compat", "guarded"):
        found = answer("--mode", mode)
        assert found["evictions"] == []
        assert "unable to find metric entry for idle" in found["errors"][0]["message"]

    exporter.loads = None
    wait_for(lambda: prometheus.loads() == {})
    for mode in ("compat", "guarded"):
        found = answer("--mode", mode)
        assert (found["evictions"], len(found["errors"])) == ([], 1)


def test_a_server_that_cannot_be_reached_evicts_nothing(flags: Any):
    found = ask("deschedule", *flags)
    assert found["evictions"] == []
    assert "unable to capture prometheus metrics" in found["errors"][0]["message"]
