"""A metrics API behind a real aggregator: what Metrics Server is to a cluster, with numbers of the test."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.live.objects import Api, Refused, eventually

GROUP = "/apis/metrics.k8s.io/v1beta1"
_SERVICES = "/api/v1/namespaces/kube-system/services"
_API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
_NAME = "v1beta1.metrics.k8s.io"


class Metrics:
    """What the server answers; each answer is a new sample.

    Attributes:
        nodes: usage of cpu and memory by node.
        pods: the same by pod of the namespace default.
        age: how old samples are.

    """

    def __init__(self) -> None:
        self.nodes: Mapping[str, tuple[str, str]] = {}
        self.pods: Mapping[str, tuple[str, str]] = {}
        self.age = timedelta()
        self.asked = 0

    def _sample(self) -> dict[str, str]:
        self.asked += 1
        moment = datetime.now(UTC) - self.age
        return {"timestamp": moment.isoformat(timespec="microseconds"), "window": "30s"}

    def answer(self, path: str) -> dict[str, Any] | None:
        """Return the body for a path, None if there is nothing."""
        head = {"apiVersion": "metrics.k8s.io/v1beta1"}
        if path == GROUP:
            kinds = [("nodes", "NodeMetrics", False), ("pods", "PodMetrics", True)]
            resources = [
                {
                    "name": name,
                    "singularName": "",
                    "namespaced": spaced,
                    "kind": kind,
                    "verbs": ["get", "list"],
                }
                for name, kind, spaced in kinds
            ]
            listed = {"kind": "APIResourceList", "apiVersion": "v1"}
            return {**listed, "groupVersion": "metrics.k8s.io/v1beta1", "resources": resources}
        if path == f"{GROUP}/nodes":
            items = [
                {"metadata": {"name": name}, **self._sample(), "usage": _usage(amounts)}
                for name, amounts in self.nodes.items()
            ]
            return {**head, "kind": "NodeMetricsList", "metadata": {}, "items": items}
        if path == f"{GROUP}/pods":
            items = [
                {
                    "metadata": {"name": name, "namespace": "default"},
                    **self._sample(),
                    "containers": [{"name": "c", "usage": _usage(amounts)}],
                }
                for name, amounts in self.pods.items()
            ]
            return {**head, "kind": "PodMetricsList", "metadata": {}, "items": items}
        return None


def _usage(amounts: tuple[str, str]) -> dict[str, str]:
    return {"cpu": amounts[0], "memory": amounts[1]}


@contextmanager
def serving(metrics: Metrics, folder: Path) -> Iterator[int]:
    """Serve over TLS with the server's certificate in a folder; yields the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.answer(self.path.partition("?")[0])
            content = json.dumps(body or {"kind": "Status", "code": 404}).encode()
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def registered(api: Api, port: int) -> Iterator[None]:
    """Register the server as the metrics API of a cluster while the block runs."""
    head = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "metrics"}}
    api.create(_SERVICES, {**head, "spec": {"type": "ExternalName", "externalName": "localhost"}})
    spec = {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "kube-system", "name": "metrics", "port": port},
    }
    kind = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": _NAME}}
    api.create(_API_SERVICES, {**kind, "spec": spec})
    try:
        eventually(lambda: _is_served(api), 60, what="the metrics API behind the aggregator")
        yield
    finally:
        api.delete(f"{_API_SERVICES}/{_NAME}")
        api.delete(f"{_SERVICES}/metrics")


def _is_served(api: Api) -> bool:
    try:
        return api.request("GET", f"{GROUP}/nodes")["kind"] == "NodeMetricsList"
    except Refused:
        return False
