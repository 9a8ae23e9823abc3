"""A simulation as Parquet files, for whoever wants to go on with polars, pandas or DuckDB."""

from pathlib import Path
from typing import Any

import polars as pl

from podium.api import Node, Pod
from podium.api.manifest import Manifest
from podium.api.quantities import exact
from podium.api.requests import pod_requests
from podium.errors import InputError
from podium.simulator.run import Simulation, name_of


def export(simulation: Simulation, manifest: Manifest, folder: str) -> list[Path]:
    """Write ``placements``, ``pods``, ``nodes`` and ``timeline`` as ``.parquet`` files.

    Args:
        simulation: the run.
        manifest: what it ran on.
        folder: made if it is not there; files of these names are overwritten.

    Returns:
        The files, in that order. cpu is in cores, everything else in its base unit (bytes, pieces), times are
        seconds on the virtual clock.

    Raises:
        InputError: if the folder cannot be written.

    """
    frames = {
        "placements": _placements(simulation),
        "pods": _pods(simulation, manifest),
        "nodes": _nodes(manifest),
        "timeline": _timeline(simulation),
    }
    target, written = Path(folder), []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, frame in frames.items():
            written.append(target / f"{name}.parquet")
            frame.write_parquet(written[-1])
    except OSError as error:
        raise InputError(f"--out {folder}: {error.strerror or error}") from None
    return written


_PLACEMENT = {"pod": pl.String, "node": pl.String, "at": pl.Float64}


def _placements(simulation: Simulation) -> pl.DataFrame:
    rows = [(placement.pod, placement.node, placement.at) for placement in simulation.placements]
    return pl.DataFrame(rows, schema=_PLACEMENT, orient="row")


def _pods(simulation: Simulation, manifest: Manifest) -> pl.DataFrame:
    """Every pod: bound before or in the run, pending with its message, evicted, or not tried."""
    state: dict[str, tuple[str, str | None, str]] = {}
    for pod in manifest.of(Pod):
        if pod.spec.node_name:
            state[name_of(pod)] = ("bound", pod.spec.node_name, "")
    state |= {name: (why, None, "") for name, why in simulation.ignored}
    state |= {item.pod: ("pending", None, item.message) for item in simulation.pending}
    state |= {item.pod: ("scheduled", item.node, "") for item in simulation.placements}
    state |= {victim: ("evicted", None, f"preempted by {by}") for victim, by in simulation.evicted}
    rows = [_pod(pod, *state.get(name_of(pod), ("ended", None, ""))) for pod in manifest.of(Pod)]
    schema = {
        "pod": pl.String,
        "state": pl.String,
        "node": pl.String,
        "message": pl.String,
        "priority": pl.Int32,
    }
    return _wide(rows, schema)


def _pod(pod: Pod, state: str, node: str | None, message: str) -> dict[str, Any]:
    amounts = {name: float(amount) for name, amount in pod_requests(pod.spec).items()}
    known = {"pod": name_of(pod), "state": state, "node": node, "message": message}
    return {**known, "priority": pod.spec.priority or 0, **amounts}


def _nodes(manifest: Manifest) -> pl.DataFrame:
    """Every node with what it has to give, a column per resource."""
    rows = []
    for node in manifest.of(Node):
        amounts = node.status.allocatable or node.status.capacity or {}
        rows.append({"node": node.metadata.name} | {name: float(exact(v)) for name, v in amounts.items()})
    return _wide(rows, {"node": pl.String})


def _wide(rows: list[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    """Return a frame of ``schema`` and a column of floats per resource, null where a row has none."""
    resources = dict.fromkeys(name for row in rows for name in row if name not in schema)
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(resources, pl.Float64))


def _timeline(simulation: Simulation) -> pl.DataFrame:
    """How many pods had been scheduled at each time at which some were."""
    placed = _placements(simulation).group_by("at").agg(pl.len().cast(pl.Int64).alias("scheduled")).sort("at")
    return placed.with_columns(pl.col("scheduled").cum_sum().alias("scheduled_so_far"))
