"""Philly jobs in the shape of Gavel's replays (Jeon et al., USENIX ATC'19; Narayanan et al., OSDI'20).

A job of n GPUs is n pods of one GPU each, a gang where n > 1; its virtual cluster is its namespace. The file
has no nodes: they come from ``-f``.
"""

from collections.abc import Iterator
from functools import cache

from podium.simulator.traces.table import Row, rows
from podium.simulator.traces.trace import Entry, Manifest, Trace

COLUMNS = ("job_id", "vc", "job_type", "num_gpu", "arrival_s")
GPU = "nvidia.com/gpu"
GANG, MIN_AVAILABLE = "gang.example.com/name", "gang.example.com/min-available"
RUN_TIME, JOB_TYPE = "podium.dev/run-time", "podium.dev/job-type"
LARGEST_GANG = 10_000


def load_philly(path: str) -> Trace:
    """Read ``FILE.csv``; the pods of a job stand together, in file order. Raises InputError.

    A pod runs for the job's approximate time on V100s where the file has one (its declared run time too).
    """
    return Trace([entry for row in rows(path, COLUMNS) for entry in _job(row)])


def _job(row: Row) -> Iterator[Entry]:
    name, tenant, size = f"job-{row.name('job_id')}", row.name("vc"), row.integer("num_gpu")
    if not 1 <= size <= LARGEST_GANG:
        raise row.problem("num_gpu", f"is {size}, expected 1 to {LARGEST_GANG}")
    arrives, runs = row.seconds("arrival_s"), row.seconds("approx_v100_s")
    if arrives is None:
        raise row.problem("arrival_s", "is empty")
    annotations = {JOB_TYPE: row.text("job_type")}
    if runs is not None:
        annotations[RUN_TIME] = f"{runs:.10g}s"
    labels = {"job": name}
    if size > 1:
        labels[GANG] = name
        annotations[MIN_AVAILABLE] = str(size)
    for rank in range(size):
        pod = name if size == 1 else f"{name}-{rank}"
        metadata = {"name": pod, "namespace": tenant, "labels": labels, "annotations": annotations}
        manifest: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _spec()}
        yield Entry(manifest, row.source, arrives, None, (runs,))


@cache
def _spec() -> Manifest:
    resources = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
    return {
        "containers": [{"name": "worker", "image": "philly", "resources": resources}],
        "restartPolicy": "Never",
    }
