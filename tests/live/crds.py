"""Custom resources that come and go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.live.objects import Api, Refused, eventually

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@contextmanager
def pod_groups(api: Api, group: str, version: str) -> Iterator[str]:
    """Let a server have a kind PodGroup while the block runs; yields the path of those in ``default``."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "subresources": {"status": {}}}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"podgroups.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, test"},
        },
        "spec": {
            "group": group,
            "names": {"plural": "podgroups", "singular": "podgroup", "kind": "PodGroup"},
            "scope": "Namespaced",
            "versions": [{**served, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    api.create(_CRDS, body)
    path = f"/apis/{group}/{version}/namespaces/default/podgroups"
    try:
        eventually(lambda: _is_served(api, path), 60)
        yield path
    finally:
        api.delete(f"{_CRDS}/podgroups.{group}", None)


def _is_served(api: Api, path: str) -> bool:
    try:
        api.request("GET", path)
    except Refused:
        return False
    return True
