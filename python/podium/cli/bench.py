"""``podium bench``: pods per second of the whole loop on this machine."""

from typing import TYPE_CHECKING, Any

import click

from podium.cli.flags import OUTPUT, GoCommand
from podium.cli.output import console, print_json, progress, with_notes
from podium.errors import InputError

if TYPE_CHECKING:
    from podium.simulator.bench import Measurement

_HELP = """\
Measure the whole scheduling loop in memory: queue, cycle, reserve, permit, bind.

The clock starts with the pods as API objects outside the queue and stops when the last one is bound. Pods
that cannot be bound are counted as failed and not as throughput.

\b
Scenarios:
  basic         one template, 100m cpu and 500Mi
  hetero        every pod another size
  deployment    100 ReplicaSets, default spread constraints active
  mixed         1,000 templates, shuffled
  spread        required spread over zones
  prefspread    preferred spread over zones
  anti          required anti-affinity per node
  affinity      required affinity within a zone
  preemption    every pod has to evict others
  unschedulable 20,000 pods parked, node and pod events, the rest schedule
  churn         pods are bound and deleted at an equal rate
  daemonset     every pod pinned to its node
  gang3         gangs of 3, each placed in one transaction
  gang1000      gangs of 1,000
  gang5000      gangs of 5,000
  drf           1,000 tenants that take turns by dominant share

\b
Examples:
  podium bench
  podium bench --scenario mixed --nodes 5000 --pods 50000 -o json
"""


@click.command(cls=GoCommand, help=_HELP, short_help="Measure the scheduling loop.")
@click.option("--scenario", default="basic", show_default=True, metavar="NAME", help="One of those above.")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="[default: 5000]")
@click.option(
    "--pods",
    type=click.IntRange(min=1),
    metavar="N",
    help="[default: 10000; anti and preemption 5000; gang5000 50000, other gangs 9000]",
)
@click.option(
    "--plugins",
    type=click.Choice(["native", "python", "all-points"]),
    default="native",
    show_default=True,
    help="python: one filter and one score more; all-points: a trivial plugin at every point.",
)
@OUTPUT
def command(
    scenario: str,
    nodes: int | None,
    pods: int | None,
    plugins: str,
    output: str,
) -> None:
    """Generate the workload, run it, print the figures."""
    from podium.framework.config import with_short_forms
    from podium.simulator.bench import Bench
    from podium.simulator.bench_plugins import bench_config
    from podium.simulator.workloads import SCENARIOS

    if scenario not in SCENARIOS:
        known = ", ".join(SCENARIOS)
        raise InputError(f"--scenario {scenario}: no such scenario; there are {known}")
    size, count = nodes or SCENARIOS[scenario].nodes, pods or SCENARIOS[scenario].pods
    with progress("generating", None):
        workload = SCENARIOS[scenario].build(size, count)
    with progress(f"scheduling {count:,} pods on {size:,} nodes", None):
        config = with_short_forms(bench_config(plugins), queue_order=workload.queue_order)
        measured = Bench(workload, config).run()
    figures = _figures(scenario, size, len(workload.pods), measured)
    if output == "json":
        print_json(with_notes(figures, [], []))
    else:
        _print(figures)


def _figures(scenario: str, nodes: int, pods: int, measured: "Measurement") -> dict[str, Any]:
    from podium.simulator.bench import peak_rss_mib

    return {
        "scenario": scenario,
        "nodes": nodes,
        "pods": pods,
        "scheduled": measured.scheduled,
        "failed": measured.failed,
        "seconds": measured.seconds,
        "pods_per_second": measured.pods_per_second,
        "latency_us": {"p50": measured.latency_us(50), "p99": measured.latency_us(99)},
        "peak_rss_mib": round(peak_rss_mib()),
    }


def _print(figures: dict[str, Any]) -> None:
    from podium.simulator.report import table

    rows = table(
        f"{figures['scenario']}: {figures['pods']:,} pods on {figures['nodes']:,} nodes",
        "pods/s", "scheduled", "failed", "seconds", "cycle p50", "cycle p99", "peak memory",
    )  # fmt: skip
    latency = figures["latency_us"]
    rows.add_row(
        f"{figures['pods_per_second']:,.0f}",
        f"{figures['scheduled']:,}",
        f"{figures['failed']:,}",
        f"{figures['seconds']:.2f}",
        f"{latency['p50']:.1f} µs",
        f"{latency['p99']:.1f} µs",
        f"{figures['peak_rss_mib']:,} MiB",
    )
    console().print(rows)
