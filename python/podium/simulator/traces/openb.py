"""The openb GPU-sharing trace (Alibaba cluster-trace-gpu-v2023; Weng et al., USENIX ATC'23).

GPUs are one extended resource per node, counted in thousandths: a node has 1000 for each of its GPUs, a
pod asks for its share of a GPU times the number of them. Which device a share comes from is not decided
here; what the trace says about devices stays in annotations.
"""

from collections.abc import Iterator
from functools import cache

from podium.errors import InputError
from podium.simulator.traces.table import Row, rows
from podium.simulator.traces.trace import Entry, Manifest, Trace

GPU_MILLI = "alibabacloud.com/gpu-milli"
GPU_COUNT = "alibabacloud.com/gpu-count"
GPU_MODEL = "alibabacloud.com/gpu-card-model"
PODS_PER_NODE = "1001"  # as the trace's own node manifests have it
NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")


def load_openb(paths: str) -> Trace:
    """Read ``NODES.csv,PODS.csv``; pod files without times and models (five columns) load too.

    Entries: nodes, then pods in file order, in namespace default. A pod arrives at its creation, departs at
    its deletion, and ran from when it was scheduled until then. Raises InputError.
    """
    files = paths.split(",")
    if len(files) != 2 or not all(files):
        raise InputError(f"openb:{paths}: expected two files, openb:NODES.csv,PODS.csv")
    nodes, pods = files
    return Trace([*map(_node, rows(nodes, NODE_COLUMNS)), *_pods(pods)])


def _node(row: Row) -> Entry:
    name, gpus, model = row.name("sn"), row.integer("gpu"), row.text("model")
    amounts = {
        "cpu": f"{row.integer('cpu_milli')}m",
        "memory": f"{row.integer('memory_mib')}Mi",
        "pods": PODS_PER_NODE,
    }
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux"}
    metadata: Manifest = {"name": name, "labels": labels}
    if gpus:
        amounts[GPU_MILLI] = str(1000 * gpus)
        metadata["annotations"] = {GPU_COUNT: str(gpus)}
        labels[GPU_MODEL] = model
        if not model:
            raise row.problem("model", f"is empty, the node has {gpus} GPUs")
    status = {"capacity": amounts, "allocatable": amounts}
    manifest = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}
    return Entry(manifest, row.source)


def _pods(path: str) -> Iterator[Entry]:
    spec = cache(_spec)  # a few hundred templates make all the pods
    for row in rows(path, POD_COLUMNS):
        gpus, share = row.integer("num_gpu"), row.integer("gpu_milli")
        if share > 1000:
            raise row.problem("gpu_milli", f"is {share}, a GPU has 1000")
        models = row.text("gpu_spec")
        metadata: Manifest = {"name": row.name("name"), "namespace": "default"}
        if gpus:
            metadata["annotations"] = {GPU_COUNT: str(gpus), GPU_MILLI: str(share)}
        shape = spec(row.integer("cpu_milli"), row.integer("memory_mib"), gpus * share, models)
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": shape}
        yield _timed(manifest, row)


def _timed(manifest: Manifest, row: Row) -> Entry:
    created, started, ended = map(row.seconds, ("creation_time", "scheduled_time", "deletion_time"))
    arrives = created or 0.0
    if ended is not None and ended < arrives:
        raise row.problem("deletion_time", f"is {ended:g}, before the creation at {arrives:g}")
    ran = ended - started if ended is not None and started is not None and started <= ended else None
    return Entry(manifest, row.source, arrives, ended, () if started is None else (ran,))


def _spec(cpu_milli: int, memory_mib: int, gpu_milli: int, models: str) -> Manifest:
    requests = {"cpu": f"{cpu_milli}m", "memory": f"{memory_mib}Mi"}
    resources: Manifest = {"requests": requests}
    if gpu_milli:
        requests[GPU_MILLI] = str(gpu_milli)
        resources["limits"] = {GPU_MILLI: str(gpu_milli)}  # extended resources need both, and equal
    spec: Manifest = {"containers": [{"name": "main", "image": "openb", "resources": resources}]}
    if models:
        values = list(dict.fromkeys(models.split("|")))
        expression = {"key": GPU_MODEL, "operator": "In", "values": values}
        required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return spec
