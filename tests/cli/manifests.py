"""Small clusters as YAML, for tests of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def node(name: str, cpu: str = "4", **spec: Any) -> dict:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod(name: str, cpu: str = "1", namespace: str = "default", **spec: Any) -> dict:
    container = {"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [container], **spec},
    }


def deployment(name: str, replicas: int, cpu: str = "1") -> dict:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod("x", cpu)["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def text(*objects: dict) -> str:
    return yaml.safe_dump_all(objects)


def write(path: Path, *objects: dict) -> Path:
    path.write_text(text(*objects))
    return path
