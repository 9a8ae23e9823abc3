"""Jobs, and the GPU nodes: full of exploration that training may push out."""

import random

from podium.simulator.sample.manifests import (
    POOL,
    Manifest,
    container,
    job,
    manifest,
    toleration,
)
from podium.simulator.sample.nodes import GPU

FULL_GPU_NODES, TRAINERS = 20, 10


def batch(rng: random.Random, machines: list[Manifest]) -> list[Manifest]:
    """Return Jobs, CronJobs and the pods that already run on GPU nodes."""
    found = [_crunch(rng, f"crunch-{index}") for index in range(8)]
    found += [_report(), _training()]
    return _exploration(machines) + found


def _crunch(rng: random.Random, name: str) -> Manifest:
    spec: Manifest = {"containers": [container("jobs/crunch:1", f"{rng.choice([500, 1000, 2000])}m", "1Gi")]}
    spec["nodeSelector"] = {POOL: "batch"}
    pods = rng.randint(30, 90)
    mode = rng.choice(["Indexed", "NonIndexed"])
    return job(name, "jobs", spec, parallelism=pods, completions=pods, completionMode=mode)


def _report() -> Manifest:
    template = job("report", "jobs", {"containers": [container("jobs/report:1")]})["spec"]["template"]
    spec = {
        "schedule": "0 3 * * *",
        "jobTemplate": {"spec": {"parallelism": 4, "completions": 4, "template": template}},
    }
    return manifest("CronJob", "report", version="batch/v1", namespace="jobs", spec=spec)


def _training() -> Manifest:
    """Return a Job whose pods need whole GPU nodes: some are free, for the others exploration must go."""
    spec: Manifest = {"containers": [container("ml/train:4", "16", "64Gi", extra={GPU: "4"})]}
    spec |= {"tolerations": [toleration(GPU)], "priorityClassName": "training"}
    return job("train", "ml", spec, parallelism=TRAINERS, completions=TRAINERS, completionMode="Indexed")


def _exploration(machines: list[Manifest]) -> list[Manifest]:
    """Return running pods of one GPU each; those of the vision team are protected by a budget."""
    hosts = [m["metadata"]["name"] for m in machines if m["metadata"]["labels"][POOL] == "gpu"]
    found = []
    for position, host in enumerate(hosts[:FULL_GPU_NODES]):
        app = "explore-vision" if position % 2 else "explore-text"
        for index in range(4):
            spec: Manifest = {"containers": [container("ml/notebook:2", "2", "8Gi", extra={GPU: "1"})]}
            spec |= {"nodeName": host, "tolerations": [toleration(GPU)], "priorityClassName": "exploration"}
            started = f"2026-01-{1 + position:02d}T0{index}:00:00Z"
            pod = manifest(
                "Pod", f"{app}-{position:02d}-{index}", namespace="ml", labels={"app": app}, spec=spec
            )
            found.append({**pod, "status": {"phase": "Running", "startTime": started}})
    return found
