"""A user who may do what ``podium deploy`` lets the scheduler do, and nothing else."""

from __future__ import annotations

import json

from podium.live.deploy import Install, manifests

from tests.live.objects import Api, Body, Refused

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
PATHS = {
    "ClusterRole": f"{_RBAC}/clusterroles",
    "ClusterRoleBinding": f"{_RBAC}/clusterrolebindings",
    "Role": f"{_RBAC}/namespaces/kube-system/roles",
    "RoleBinding": f"{_RBAC}/namespaces/kube-system/rolebindings",
}


def install(api: Api, without: tuple[str, str] | None = None) -> None:
    """Give the user ``podium`` what ``podium deploy`` gives the service account, minus a resource's verb."""
    for manifest in manifests(Install(image="podium:test", scheduler_name="default-scheduler")):
        path = PATHS.get(manifest["kind"])
        if path is None:
            continue
        body: Body = json.loads(json.dumps(manifest))
        if "subjects" in body:
            body["subjects"] = [{"kind": "User", "name": "podium", "apiGroup": "rbac.authorization.k8s.io"}]
        for rule in body.get("rules", []):
            if without is not None and without[0] in rule["resources"]:
                rule["verbs"] = [verb for verb in rule["verbs"] if verb != without[1]]
        if "rules" in body:
            body["rules"] = [rule for rule in body["rules"] if rule["verbs"]]
        body["metadata"].pop("labels", None)
        try:
            api.create(path, body)
        except Refused as error:
            assert error.status == 409  # noqa: PT017
            api.request("PUT", f"{path}/{body['metadata']['name']}", body)


def as_podium(api: Api) -> str:
    return f"--kubeconfig={api.plane.kubeconfig('podium-token', name='podium')}"


def remove(api: Api) -> None:
    for path in PATHS.values():
        api.delete(f"{path}/podium", None)
