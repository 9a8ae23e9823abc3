"""The administrator of a test's cluster: makes nodes and pods, reads what became of them."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

from tests.live.control_plane import ADMIN_TOKEN, ControlPlane

Body = dict[str, Any]

_LISTED = {
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
    "claims": "/api/v1/persistentvolumeclaims",
    "volumes": "/api/v1/persistentvolumes",
    "classes": "/apis/storage.k8s.io/v1/storageclasses",
    "budgets": "/apis/policy/v1/poddisruptionbudgets",
    "groups": "/apis/scheduling.k8s.io/v1beta1/podgroups",
}


class Refused(Exception):  # noqa: N818 (an answer)
    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """A blocking client; one connection per thread that uses it."""

    def __init__(self, plane: ControlPlane, token: str = ADMIN_TOKEN) -> None:
        self.plane = plane
        self._token = token
        self._context = ssl.create_default_context(cafile=str(plane.folder / "ca.crt"))
        self._pool = ThreadPoolExecutor(8)
        self._connections: dict[int, http.client.HTTPSConnection] = {}

    def request(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        import threading

        own = self._connections.get(threading.get_ident())
        if own is None:
            own = http.client.HTTPSConnection("127.0.0.1", self.plane.port, context=self._context, timeout=30)
            self._connections[threading.get_ident()] = own
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        data = body if body is None or isinstance(body, str) else json.dumps(body)
        try:
            own.request(method, path, data, headers)
            answer = own.getresponse()
            text = answer.read()
        except (http.client.HTTPException, OSError):
            own.close()  # the server was restarted
            own.request(method, path, data, headers)
            answer = own.getresponse()
            text = answer.read()
        content = json.loads(text) if text[:1] in b"{[" and text else text.decode()
        if answer.status >= 400:
            raise Refused(answer.status, content["message"] if isinstance(content, dict) else content)
        return content

    def close(self) -> None:
        self._pool.shutdown()
        for connection in self._connections.values():
            connection.close()

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, path: str, body: Body) -> Body:
        return self.request("POST", path, body)

    def create_all(self, path: str, bodies: Iterable[Body]) -> None:
        list(self._pool.map(lambda body: self.create(path, body), bodies))

    def items(self, path: str, **query: str) -> list[Body]:
        suffix = f"?{urlencode(query)}" if query else ""
        return self.request("GET", path + suffix)["items"]

    def nodes(self, number: int, **parts: Any) -> None:
        self.create_all(
            "/api/v1/nodes", [node(f"node-{i:04}", zone=f"z{i % 3}", **parts) for i in range(number)]
        )

    def pods(self, number: int, prefix: str = "p", **parts: Any) -> None:
        self.create_all(
            "/api/v1/namespaces/default/pods", [pod(f"{prefix}-{i:04}", **parts) for i in range(number)]
        )

    def pod(self, name: str, namespace: str = "default") -> Body:
        return self.request("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")

    def placements(self) -> dict[str, str]:
        """Return the node of each bound pod."""
        return {
            item["metadata"]["name"]: item["spec"]["nodeName"]
            for item in self.items("/api/v1/pods")
            if item["spec"].get("nodeName")
        }

    def delete(self, path: str, grace: int | None = 0) -> None:
        body = None if grace is None else {"gracePeriodSeconds": grace}
        try:
            self.request("DELETE", path, body)
        except Refused as error:
            if error.status != 404:
                raise

    def events(self, reason: str) -> list[Body]:
        return [e for e in self.items("/apis/events.k8s.io/v1/events") if e["reason"] == reason]

    def wipe(self) -> None:
        for path in ("/api/v1/namespaces/default/pods", *list(_LISTED.values())[1:]):
            for item in self.items(path):
                meta = item["metadata"]
                if meta.get("finalizers"):
                    at = _path_of(path, meta)
                    self.request(
                        "PATCH", at, {"metadata": {"finalizers": None}}, "application/merge-patch+json"
                    )
        self.delete("/api/v1/namespaces/default/pods")
        self.delete("/api/v1/nodes")
        self.delete("/apis/events.k8s.io/v1/namespaces/default/events")
        self.delete("/api/v1/namespaces/default/persistentvolumeclaims")
        self.delete("/api/v1/persistentvolumes")
        self.delete("/apis/storage.k8s.io/v1/storageclasses")
        self.delete("/apis/policy/v1/namespaces/default/poddisruptionbudgets")
        self.delete("/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups")
        self.delete("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")


def _path_of(collection: str, meta: Mapping[str, str]) -> str:
    if "/namespaces/" in collection or "namespace" not in meta:
        return f"{collection}/{meta['name']}"
    root, _, plural = collection.rpartition("/")
    return f"{root}/namespaces/{meta['namespace']}/{plural}/{meta['name']}"


def node(name: str, *, zone: str = "z0", resources: Mapping[str, str] | None = None, **spec: Any) -> Body:
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110", **(resources or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone},
        },
        "spec": spec,
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(
    name: str,
    *,
    requests: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Body:
    amounts = {"cpu": "100m", "memory": "100Mi", **(requests or {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": dict(labels or {"app": "a"}),
            "annotations": dict(annotations or {}),
        },
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "c",
                    "image": "pause",
                    "resources": {
                        "requests": amounts,
                        "limits": {k: v for k, v in amounts.items() if "/" in k},
                    },
                }
            ],
            **spec,
        },
    }


def eventually(check: Callable[[], Any], seconds: float = 30.0, *, what: str = "") -> Any:
    """Return the first true answer; fails after a while, which is long since machines may be busy."""
    until = time.monotonic() + seconds
    while True:
        answer = check()
        if answer:
            return answer
        assert time.monotonic() < until, f"not within {seconds} s: {what or check}"
        time.sleep(0.05)
