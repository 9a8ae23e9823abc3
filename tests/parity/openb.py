"""kube-scheduler's own placements of the openb trace: ``python -m tests.parity.openb``.

The trace (``../shared/data/openb``) is other people's and stays where it is; so does what is derived from it,
apart from a hash. The program writes ``build/parity/openb-placements.txt`` (``default/<pod> <node>`` a line,
in file order, ``-`` for none) and prints its SHA-256, which ``golden/openb.sha256`` holds.
"""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import Any

import click

from tests.parity.process import Answer, Oracle, Scenario

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "openb"
NODES, PODS = DATA / "openb_node_list_all_node.csv", DATA / "openb_pod_list_default.csv"
BUILD = ROOT / "build" / "parity"
PLACEMENTS = BUILD / "openb-placements.txt"
HASH = Path(__file__).resolve().parent / "golden" / "openb.sha256"

GPU = "alibabacloud.com/gpu-milli"
PODS_PER_NODE = "1001"  # as in the trace's own node manifests


def openb_scenario() -> Scenario:
    """The trace as a sequence: all nodes, then every pod of the default file once, in file order."""
    return {
        "id": "openb",
        "tier": "B",
        "nodes": [_node(row) for row in _rows(NODES)],
        "steps": [{"op": "schedule", "pod": _pod(row)} for row in _rows(PODS)],
    }


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _node(row: dict[str, str]) -> dict[str, Any]:
    amounts = _amounts(row, 1000 * int(row["gpu"])) | {"pods": PODS_PER_NODE}
    labels = {"kubernetes.io/hostname": row["sn"]}
    status = {"capacity": amounts, "allocatable": amounts}
    return {"metadata": {"name": row["sn"], "labels": labels}, "spec": {}, "status": status}


def _pod(row: dict[str, str]) -> dict[str, Any]:
    amounts = _amounts(row, int(row["num_gpu"]) * int(row["gpu_milli"]))
    limits = {name: amount for name, amount in amounts.items() if name == GPU}
    container = {"name": "main", "image": "openb", "resources": {"requests": amounts, "limits": limits}}
    return {
        "metadata": {"name": row["name"], "namespace": "default", "uid": f"uid-default-{row['name']}"},
        "spec": {"schedulerName": "default-scheduler", "priority": 0, "containers": [container]},
    }


def _amounts(row: dict[str, str], gpu_milli: int) -> dict[str, str]:
    amounts = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi"}
    return amounts | {GPU: str(gpu_milli)} if gpu_milli else amounts


def placement_list(answer: Answer) -> str:
    """The text whose hash is kept: one line per pod."""
    return "".join(f"{step['pod']} {step.get('node', '-')}\n" for step in answer["steps"])


def digest(placements: str) -> str:
    """SHA-256 of a placement list, in hexadecimal."""
    return hashlib.sha256(placements.encode()).hexdigest()


@click.command()
@click.option("--oracle", "binary", type=click.Path(path_type=Path, exists=True), default=BUILD / "oracle")
def main(binary: Path) -> None:
    """Write the placement list, print its hash."""
    with Oracle(binary) as oracle:
        placements = placement_list(oracle.answer(openb_scenario()))
    PLACEMENTS.write_text(placements)
    click.echo(digest(placements))


if __name__ == "__main__":
    main()
