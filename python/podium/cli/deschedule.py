"""``podium deschedule``: evict pods so that the scheduler may place them better."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli.flags import MODES, OUTPUT, GoCommand, GoDuration, switch
from podium.cli.inputs import Cluster, Settings, cluster_flags, settings_flags, warnings_of
from podium.cli.output import console, print_json, progress, say_notes, with_notes
from podium.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podium.api.manifest import Manifest
    from podium.descheduler.loop import Turn
    from podium.descheduler.policy.load import LoadedPolicy
    from podium.descheduler.ports import PrometheusClient
    from podium.framework.config import SchedulerConfig
    from podium.simulator.rebalance import Mode

_HELP = """\
Evict pods by a descheduler policy, or say what that would do to a cluster in files.

Policies are those of sigs.k8s.io/descheduler v0.36 (descheduler/v1alpha2), unchanged. With -f nothing is ever
sent: evicted pods are made anew as their owners would, the scheduler places them on a virtual clock, and the
next cycle sees the result. Real load comes from NodeMetrics and PodMetrics among the inputs, or Prometheus.
With --kubeconfig pods of a live cluster are evicted through the API, once, or every --interval.

\b
Examples:
  podium deschedule -f cluster/ --policy policy.yaml
  podium deschedule -f cluster/ --policy policy.yaml --cycles 10 --interval 5m -o json
  podium deschedule --kubeconfig ~/.kube/config --policy policy.yaml --mode guarded --dry-run
  podium deschedule --kubeconfig ~/.kube/config --policy policy.yaml --interval 5m --leader-elect
  kubectl get nodes,pods,pdb,ns -A -o yaml | podium deschedule -f - --policy policy.yaml
"""


class _Time(click.ParamType):  # type: ignore[type-arg]  # generic only in the newest click
    """A time in RFC 3339; the value is nanoseconds since 1970."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read one value; without an offset it is UTC."""
        if isinstance(value, int):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value} is no time such as 2026-03-02T08:00:00Z", param, ctx)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(aware.timestamp() * 1_000_000_000)


@click.command(cls=GoCommand, help=_HELP, short_help="Evict pods that are badly placed.")
@cluster_flags
@click.option("--policy", "policy_file", required=True, metavar="FILE", help="A DeschedulerPolicy.")
@settings_flags
@click.option("--kubeconfig", default="", metavar="FILE", help="A live cluster in place of -f.")
@click.option(
    "--cycles",
    type=click.IntRange(min=1),
    help="How many cycles. [default: 1; live with --interval: endless]",
)
@click.option(
    "--interval",
    type=GoDuration(),
    metavar="DURATION",
    help="Time between two cycles. [default: 5m0s; live: one cycle]",
)
@switch("--dry-run", help="Send nothing; always so with -f.")
@switch("--leader-elect", help="Live, with --interval: wait for the lease kube-system/descheduler.")
@click.option(
    "--kube-api-qps",
    type=float,
    default=50.0,
    show_default=True,
    metavar="N",
    help="Live: requests a second.",
)
@click.option(
    "--kube-api-burst", type=int, default=100, show_default=True, metavar="N", help="Live: requests at once."
)
@click.option(
    "--mode",
    type=MODES,
    default="compat",
    show_default=True,
    help="compat: as upstream. guarded: only if the scheduler says that a pod lands somewhere better.",
)
@click.option("--prometheus", "url", metavar="URL", help="The server to ask, instead of the policy's.")
@click.option("--now", type=_Time(), metavar="TIME", help="The time of the first cycle. [default: the clock]")
@OUTPUT
def command(
    cluster: Cluster,
    settings: Settings,
    policy_file: str,
    mode: "Mode",
    url: str | None,
    now: int | None,
    output: str,
    **flags: Any,
) -> int | None:
    """Run the cycles and print what was evicted."""
    from podium.api.manifest import Note
    from podium.collector import spare_what_is_there
    from podium.descheduler.table import installed
    from podium.simulator.rebalance import INTERVAL, Options, rebalance

    if bool(cluster.files) == bool(flags["kubeconfig"]):
        raise click.UsageError("give the cluster with -f or with --kubeconfig")
    if flags["kubeconfig"]:
        from podium.cli.deschedule_live import live

        if now is not None:
            raise click.UsageError("--now goes with -f: a live cluster has its own clock")
        return live(settings, policy_file, mode, url, output, flags)
    cycles, interval = flags["cycles"] or 1, flags["interval"]
    with progress("reading", None):
        manifest = cluster.load(cluster.read())
    spare_what_is_there()
    table = installed()
    loaded = _load(policy_file, manifest, table)
    options = Options(
        now=time.time_ns() if now is None else now,
        cycles=cycles,
        interval=INTERVAL if interval is None else interval,
        mode=mode,
        prometheus_url=url,
    )
    server = prometheus_of(loaded, url)
    with progress("descheduling", None):
        result = rebalance(manifest, loaded, table, settings.config, options, server)
    warnings = warnings_of(manifest, cluster, settings)
    texts = [*loaded.warnings, *mismatch(loaded, settings.config)]
    warnings += [Note("DeschedulerPolicy", policy_file, text) for text in texts]
    show(result.turns, output, manifest.rejected, warnings)
    return None


def _load(path: str, manifest: "Manifest", table: Any) -> "LoadedPolicy":
    from podium.api import PriorityClass

    classes = {item.metadata.name: item.value for item in manifest.of(PriorityClass)}
    return load(path, classes, table)


def load(path: str, classes: "Mapping[str, int]", table: Any) -> "LoadedPolicy":
    """Read a policy; ``classes`` are the PriorityClasses of the cluster with their values."""
    from podium.descheduler.policy.load import load_policy

    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    try:
        return load_policy(text, path, table, classes)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def mismatch(loaded: "LoadedPolicy", config: "SchedulerConfig") -> list[str]:
    """Say that a policy goes by what nodes use where no scheduler of the configuration does."""
    from podium.descheduler.plugins.node_utilization.args import LowArgs

    args = (item for profile in loaded.profiles for item in profile.args.values())
    if not any(isinstance(item, LowArgs) and item.metrics_utilization is not None for item in args):
        return []
    if any("LoadAware" in profile.names("score") for profile in config.profiles):
        return []
    return [
        "pods are evicted by what nodes use and placed by what pods request: they may come back to the same "
        "nodes; enable the scheduler plugin LoadAware (--config)"
    ]


def prometheus_of(loaded: "LoadedPolicy", url: str | None) -> "PrometheusClient | None":
    """Return the client for the flag's or the policy's server."""
    from podium.cluster.prometheus import Prometheus
    from podium.descheduler.policy.model import PROMETHEUS

    provider = loaded.policy.provider(PROMETHEUS)
    if provider is None or provider.prometheus is None:
        return None
    return Prometheus(url or provider.prometheus.url)


def show(turns: "Sequence[Turn]", output: str, rejected: Any = (), warnings: Any = ()) -> None:
    """Print what cycles did, and what is to be said about the inputs."""
    from podium.simulator.rebalance_answer import answer

    found = answer(turns)
    if output == "json":
        print_json(with_notes(found, rejected, warnings))
        return
    from podium.cli.deschedule_table import tables

    for item in tables(found):
        console().print(item)
    say_notes(rejected, warnings)
