"""``podium deploy``: the manifests that install the live scheduler."""

import sys

import click

from podium.cli.flags import GoCommand
from podium.errors import InputError

_HELP = """\
Print the manifests that install the live scheduler: ServiceAccount, the least rights it needs, and a
Deployment with leader election. Nothing is sent anywhere; pipe them into kubectl.

By default Podium is a second scheduler: pods ask for it with spec.schedulerName. With --first it schedules
the pods of default-scheduler and takes kube-scheduler's lease, so that the two never run at once.

\b
Examples:
  podium deploy --image registry.example.com/podium:1 | kubectl apply -f -
  podium deploy --image registry.example.com/podium:1 --scheduler-name batch --replicas 1
  podium deploy --image registry.example.com/podium:1 --first -o json
"""


@click.command(cls=GoCommand, help=_HELP, short_help="Print the manifests that install the live scheduler.")
@click.option("--image", required=True, help="A container image that has the command podium.")
@click.option("--name", default="podium", show_default=True, help="Of all objects and of the lease.")
@click.option("--namespace", default="kube-system", show_default=True, help="Of Deployment and lease.")
@click.option("--scheduler-name", default="podium", show_default=True, help="What pods ask for.")
@click.option("--first", is_flag=True, help="In place of kube-scheduler.")
@click.option("--replicas", type=click.IntRange(min=1), default=2, show_default=True, help="One leads.")
@click.option(
    "-o", "--output", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True, help="Format."
)
def command(
    image: str,
    name: str,
    namespace: str,
    scheduler_name: str,
    first: bool,  # noqa: FBT001 (click's form)
    replicas: int,
    output: str,
) -> None:
    """Print the manifests."""
    import msgspec
    import yaml

    from podium.live.deploy import Install, manifests

    if first and scheduler_name != "podium":
        raise InputError("--first schedules the pods of default-scheduler: leave --scheduler-name out")
    install = Install(
        image=image,
        name=name,
        namespace=namespace,
        scheduler_name="default-scheduler" if first else scheduler_name,
        lease="kube-scheduler" if first else name,
        replicas=replicas,
    )
    made = manifests(install)
    if output == "json":
        listed = {"apiVersion": "v1", "kind": "List", "items": made}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(listed), indent=1).decode() + "\n")
    else:
        sys.stdout.write(yaml.safe_dump_all(made, sort_keys=False))
