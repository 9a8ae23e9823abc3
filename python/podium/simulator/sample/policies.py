"""Namespaces, priorities, runtime classes, limits and budgets."""

from typing import Any

from podium.simulator.sample.manifests import Manifest, budget, manifest

TEAMS = ("store", "search", "ml", "data", "jobs")


def policies() -> list[Manifest]:
    """Return what admission and preemption read."""
    return [
        *(manifest("Namespace", team, labels={"team": team, "tier": "user"}) for team in TEAMS),
        manifest("Namespace", "kube-system", labels={"tier": "system"}),
        _priority("production", 10_000),
        _priority("training", 5_000),
        _priority("normal", 100, globalDefault=True),
        _priority("exploration", 10),
        _priority("patient", 8_000, preemptionPolicy="Never"),
        manifest(
            "RuntimeClass",
            "sandboxed",
            version="node.k8s.io/v1",
            handler="sandbox",
            overhead={"podFixed": {"cpu": "50m", "memory": "96Mi"}},
            scheduling={"nodeSelector": {"kubernetes.io/os": "linux"}},
        ),
        manifest(
            "LimitRange",
            "defaults",
            namespace="jobs",
            spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "200m", "memory": "256Mi"}}]},
        ),
        budget("explore-vision", "ml", "explore-vision", allowed=6),
        budget("cart", "store", "cart", allowed=2),
    ]


def _priority(name: str, value: int, **fields: Any) -> Manifest:
    return manifest("PriorityClass", name, version="scheduling.k8s.io/v1", value=value, **fields)
