"""``podium run``: the live scheduler, with kube-scheduler's flags."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from podium.cli.flags import MODES, OUTPUT, GoBool, GoCommand, GoDuration, Switch, switch
from podium.cli.output import console, print_json, say
from podium.errors import ConfigError, LostLease

if TYPE_CHECKING:
    from podium.framework.config import SchedulerConfig


_HELP = """\
Schedule the pods of a live cluster, in place of kube-scheduler or beside it under another name.

Flags have the names of kube-scheduler's; a flag wins over the configuration file. Logs go to standard error.
The process ends with status 0 after SIGTERM, 1 when it has lost its lease.

\b
Examples:
  podium run --kubeconfig ~/.kube/config --scheduler-name podium --leader-elect-resource-name podium
  podium run --config scheduler.yaml --logging-format json
  podium run --kubeconfig ~/.kube/config --once -o json
"""

F = TypeVar("F", bound=Callable[..., Any])


def _optional_switch(name: str, help: str) -> Callable[[F], F]:  # noqa: A002 (click's own word)
    return click.option(name, cls=Switch, type=GoBool(), default=None, help=help)


@click.command(cls=GoCommand, help=_HELP, short_help="Schedule a live cluster.")
@click.option(
    "--config", "config_file", metavar="FILE", help="A KubeSchedulerConfiguration (v1), as in simulate."
)
@click.option(
    "--kubeconfig",
    metavar="FILE",
    default="",
    help="How to reach the cluster. [default: clientConnection.kubeconfig, else the pod's service account]",
)
@click.option("--context", default="", metavar="NAME", help="A context of the kubeconfig.")
@click.option("--master", default="", metavar="URL", help="The API server in place of the kubeconfig's.")
@click.option(
    "--scheduler-name",
    metavar="NAME",
    help="The name that pods ask for; of the only profile. [default: default-scheduler]",
)
@click.option(
    "--queue-order", type=click.Choice(["priority", "drf"]), help="Short form of the queueSort plugin."
)
@switch("--once", help="Drain what is pending, then exit.")
@switch("--dry-run", help="Decide and never write; compare with what the cluster's scheduler does.")
@click.option(
    "--cache-check-interval",
    type=GoDuration(),
    default="10m",
    show_default=True,
    metavar="DURATION",
    help="Compare the cache with the API server this often, and on SIGUSR2; 0: only then.",
)
@click.option(
    "--descheduler-policy", metavar="FILE", help="Deschedule too: a DeschedulerPolicy, run while leading."
)
@click.option(
    "--descheduling-interval",
    type=GoDuration(),
    default="5m",
    show_default=True,
    metavar="DURATION",
    help="Time between two cycles of the policy.",
)
@click.option(
    "--descheduler-mode",
    type=MODES,
    default="guarded",
    show_default=True,
    help="As in deschedule.",
)
@_optional_switch("--leader-elect", "Wait for a lease before scheduling. [default: as configured: true]")
@click.option("--leader-elect-lease-duration", type=GoDuration(), metavar="DURATION", help="[default: 15s]")
@click.option("--leader-elect-renew-deadline", type=GoDuration(), metavar="DURATION", help="[default: 10s]")
@click.option("--leader-elect-retry-period", type=GoDuration(), metavar="DURATION", help="[default: 2s]")
@click.option("--leader-elect-resource-lock", metavar="KIND", help="Only leases. [default: leases]")
@click.option("--leader-elect-resource-name", metavar="NAME", help="[default: kube-scheduler]")
@click.option("--leader-elect-resource-namespace", metavar="NAMESPACE", help="[default: kube-system]")
@click.option(
    "--kube-api-qps", type=float, metavar="N", help="Requests a second; 0 is no limit. [default: 5000]"
)
@click.option("--kube-api-burst", type=int, metavar="N", help="Requests at once. [default: 5000]")
@click.option("--bind-address", default="0.0.0.0", show_default=True, metavar="IP")
@click.option("--secure-port", default=10259, show_default=True, metavar="PORT", help="0 serves nothing.")
@click.option("--tls-cert-file", default="", metavar="FILE", help="PEM. [default: made for this process]")
@click.option("--tls-private-key-file", default="", metavar="FILE", help="PEM, the key of the certificate.")
@click.option(
    "--client-ca-file", default="", metavar="FILE", help="Client certificates it signed say who asks."
)
@click.option(
    "--authentication-kubeconfig",
    default="",
    metavar="FILE",
    help="Where tokens are checked. [default: the cluster]",
)
@click.option(
    "--authorization-kubeconfig",
    default="",
    metavar="FILE",
    help="Where access is checked. [default: the cluster]",
)
@click.option(
    "--authorization-always-allow-paths",
    default="/healthz,/readyz,/livez",
    show_default=True,
    metavar="PATHS",
    help="What needs no authorisation; a path that ends in * is a prefix.",
)
@click.option("--feature-gates", default="", metavar="A=true,B=false", help="By kube-scheduler's names.")
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "-v", "--v", "verbosity", type=int, default=2, show_default=True, help="4 and more: debug lines."
)
@OUTPUT
def command(**flags: Any) -> int:
    """Schedule the pods of a cluster."""
    from podium.api.features import parse_gates
    from podium.cluster.kube.connect import connect
    from podium.live import app, logs
    from podium.live.event_loop import run_loop
    from podium.live.pages import use_small_pages

    use_small_pages()
    gates = parse_gates(flags["feature_gates"])
    config = _config(flags, gates)
    connection = connect(
        flags["kubeconfig"] or config.client_connection.kubeconfig,
        context=flags["context"],
        master=flags["master"],
    )
    logs.configure(flags["logging_format"], flags["verbosity"])
    for warning in config.warnings:
        say(f"warning: {warning}")
    job = app.Run(
        connection=connection,
        config=config,
        gates=gates,
        once=flags["once"],
        dry_run=flags["dry_run"],
        check_every=flags["cache_check_interval"] / 1e9,
        serving=_serving(flags),
        descheduling=_descheduling(connection, config, flags),
    )
    try:
        ended = run_loop(app.run(job))
    except LostLease as error:
        say(f"podium: {error}")
        return 1
    if ended.shadow is not None:
        return _report_shadow(ended.shadow, flags["output"])
    if flags["output"] == "json":
        pending = [{"pod": w.pod, "message": w.message, "nominated": w.nominated} for w in ended.pending]
        print_json({"bound": ended.bound, "pending": pending, "unwrittenEvents": ended.unwritten})
    else:
        say(f"{ended.bound:,} pods bound, {len(ended.pending):,} pending")
    if ended.unwritten:
        say(f"warning: {ended.unwritten:,} events could not be written")
    return 0


def _descheduling(connection: Any, config: "SchedulerConfig", flags: dict[str, Any]) -> Any:
    """Return the work of the descheduler, None if there is no policy."""
    policy = flags["descheduler_policy"]
    if policy is None:
        return None
    if flags["once"]:
        raise click.UsageError("--descheduler-policy does not go with --once: use podium deschedule")
    from podium.cli.deschedule_live import work_of

    work, warnings = asyncio.run(
        work_of(
            connection,
            config,
            policy,
            mode=flags["descheduler_mode"],
            interval=flags["descheduling_interval"],
            dry_run=flags["dry_run"],
        )
    )
    for warning in warnings:
        say(f"warning: {warning}")
    return work


def _report_shadow(shadow: Any, output: str) -> int:
    disagreements = [
        {"pod": each.pod, "decided": each.decided, "bound": each.bound, "result": each.result}
        for each in shadow.disagreements
    ]
    if output == "json":
        print_json({**shadow.results, "undecided": shadow.undecided, "disagreements": disagreements})
        return 0
    from rich.table import Table

    table = Table("result", "pods", box=None)
    for result, pods in shadow.results.items():
        table.add_row(result, f"{pods:,}")
    table.add_row("bound before it was decided", f"{shadow.undecided:,}")
    console().print(table)
    for each in disagreements[:20]:
        say(f"{each['pod']}: decided {each['decided']}, bound to {each['bound']} ({each['result']})")
    return 0


def _serving(flags: dict[str, Any]) -> Any:
    from podium.live.serving import Serving

    if not flags["secure_port"]:
        return None
    certificate, key = flags["tls_cert_file"], flags["tls_private_key_file"]
    if bool(certificate) != bool(key):
        raise ConfigError("--tls-cert-file and --tls-private-key-file go together; one of them is missing")
    return Serving(
        address=flags["bind_address"],
        port=flags["secure_port"],
        certificate=certificate,
        key=key,
        client_ca=flags["client_ca_file"],
        authentication=_other(flags["authentication_kubeconfig"]),
        authorization=_other(flags["authorization_kubeconfig"]),
        open_paths=tuple(path for path in flags["authorization_always_allow_paths"].split(",") if path),
    )


def _other(kubeconfig: str) -> Any:
    from podium.cluster.kube.connect import connect

    return connect(kubeconfig) if kubeconfig else None


def _config(flags: dict[str, Any], gates: Any) -> "SchedulerConfig":
    from msgspec.structs import replace

    from podium.framework.config import default_config, load_config, with_gates, with_short_forms

    file = flags["config_file"]
    config = default_config() if file is None else load_config(file)
    config = with_gates(with_short_forms(config, queue_order=flags["queue_order"]), gates)
    name = flags["scheduler_name"]
    if name:
        if len(config.profiles) != 1:
            raise ConfigError("--scheduler-name: the configuration has several profiles; name them there")
        config = replace(config, profiles=[replace(config.profiles[0], scheduler_name=name)])
    return replace(
        config,
        leader_election=_election(config, flags),
        client_connection=_access(config, flags),
    )


def _election(config: "SchedulerConfig", flags: dict[str, Any]) -> Any:
    from msgspec.structs import replace

    from podium.framework.duration import Duration

    given: dict[str, Any] = {}
    for field in ("lease_duration", "renew_deadline", "retry_period"):
        value = flags[f"leader_elect_{field}"]
        if value is not None:
            given[field] = Duration(value)
    for field in ("resource_lock", "resource_name", "resource_namespace"):
        value = flags[f"leader_elect_{field}"]
        if value is not None:
            given[field] = value
    if flags["leader_elect"] is not None:
        given["leader_elect"] = flags["leader_elect"]
    elif flags["once"]:
        given["leader_elect"] = False
    election = replace(config.leader_election, **given)
    if election.resource_lock != "leases":
        raise ConfigError(
            f"--leader-elect-resource-lock: {election.resource_lock!r} is not supported: leases"
        )
    if not election.retry_period < election.renew_deadline < election.lease_duration:
        raise ConfigError("leader election: retry period < renew deadline < lease duration must hold")
    return election


def _access(config: "SchedulerConfig", flags: dict[str, Any]) -> Any:
    from msgspec.structs import replace

    given = {field: flags[f"kube_api_{field}"] for field in ("qps", "burst")}
    return replace(
        config.client_connection, **{field: value for field, value in given.items() if value is not None}
    )
