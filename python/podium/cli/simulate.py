"""``podium simulate``: everything pending, scheduled on an in-memory cluster."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from podium.cli.flags import OUTPUT, GoCommand, GoDuration
from podium.cli.inputs import Cluster, Settings, cluster_flags, live_flags, settings_flags, warnings_of
from podium.cli.output import console, print_json, progress, say, say_notes, with_notes

if TYPE_CHECKING:
    from podium.api.manifest import Document, Manifest, Unreadable
    from podium.simulator.run import AttemptsWanted, Simulation

_HELP = """\
Schedule everything that is pending, in queue order, on an in-memory cluster with a virtual clock.

Pods with spec.nodeName are bound, the others are pending; Deployments, Jobs and other workloads become the
pods that their controllers would make. Without any input a bundled sample is scheduled. No cluster is
touched, ever.

\b
Examples:
  podium simulate
  podium simulate -f nodes.yaml -f app/ -o json
  kubectl get nodes,pods,pv,pvc,sc -A -o yaml | podium simulate -f - -f new-app.yaml
  podium simulate -f cluster/ --config scheduler.yaml --attempts all -o json
  podium simulate --arrivals queue --trace openb:NODES.csv,PODS.csv --out results/
"""


@click.command(cls=GoCommand, help=_HELP, short_help="Schedule everything pending.")
@cluster_flags
@live_flags
@click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="FORMAT:PATH",
    help="A recorded workload: openb:NODES.csv,PODS.csv, philly:FILE.csv or sktrace:FILE. Repeatable.",
)
@click.option(
    "--arrivals",
    type=click.Choice(["queue"]),
    default="queue",
    show_default=True,
    help="queue: everything is pending at time 0, nothing departs.",
)
@settings_flags
@click.option(
    "--until",
    type=GoDuration(),
    metavar="DURATION",
    help="Stop the virtual clock here; 0s: before any victim has left.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the choice among equal nodes. [default: 0]")
@click.option(
    "--attempts",
    type=click.Choice(["first", "all", "none"]),
    help="Which attempts to record. [default: first, unless pods times nodes exceed 1,000,000]",
)
@OUTPUT
@click.option(
    "--out",
    "folder",
    metavar="DIR",
    help="Write placements, pods, nodes and timeline as Parquet files into this folder.",
)
def command(
    cluster: Cluster,
    settings: Settings,
    traces: Sequence[str],
    arrivals: str,  # noqa: ARG001 (one mode, so nothing depends on it)
    until: int | None,
    seed: int | None,
    attempts: "AttemptsWanted | None",
    output: str,
    folder: str | None,
) -> None:
    """Run the simulation and print its end."""
    from podium.simulator.run import Options, simulate

    with progress("reading", None):
        manifest = cluster.load(_documents(cluster, traces))
    config = _seeded(settings, seed)
    wanted = attempts or ("none" if output == "table" else None)
    with progress("scheduling", _pending(manifest)) as moved:
        simulation = simulate(manifest, config, Options(until=until, attempts=wanted, progress=moved))
    if folder is not None:
        from podium.simulator.export import export

        say("wrote " + ", ".join(str(path) for path in export(simulation, manifest, folder)))
    _print(simulation, manifest, warnings_of(manifest, cluster, settings), output)


def _documents(cluster: Cluster, traces: Sequence[str]) -> "list[Document | Unreadable]":
    from podium.api.manifest import Document
    from podium.simulator.traces import load

    if cluster.is_empty and not traces:
        from podium.simulator.sample import sample

        say("no -f and no --trace: this is the bundled sample")
        return [Document(f"sample:{number}", body) for number, body in enumerate(sample(), 1)]
    recorded = [entry for trace in traces for entry in load(trace).queue()]
    return [*cluster.read(), *(Document(entry.source, entry.manifest) for entry in recorded)]


def _seeded(settings: Settings, seed: int | None) -> Any:
    from msgspec.structs import replace

    config = settings.config
    return config if seed is None else replace(config, podium=replace(config.podium, seed=seed))


def _pending(manifest: "Manifest") -> int:
    from podium.api import Pod

    return sum(not pod.spec.node_name for pod in manifest.of(Pod))


def _print(simulation: "Simulation", manifest: "Manifest", warnings: Any, output: str) -> None:
    if output == "json":
        from podium.simulator.answer import answer

        print_json(with_notes(answer(simulation), manifest.rejected, warnings))
        return
    from podium.simulator.report import report

    say_notes(manifest.rejected, warnings)
    console().print(report(simulation, manifest))
