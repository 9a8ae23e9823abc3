"""``podium dump``: a live cluster as manifests, for simulate, explain and reports of defects."""

from pathlib import Path

import click

from podium.cli.flags import GoCommand
from podium.cli.output import say
from podium.errors import InputError

_HELP = """\
Write what scheduling reads of a live cluster into a folder, one file per kind. Nothing is sent to the cluster
but reads; Secrets and ConfigMaps are not among them.

\b
Examples:
  podium dump --kubeconfig ~/.kube/config -o cluster/
  podium simulate -f cluster/ -f new-app.yaml
"""


@click.command(cls=GoCommand, help=_HELP, short_help="Write a live cluster as manifests.")
@click.option("--kubeconfig", required=True, metavar="FILE", help="How to reach the cluster.")
@click.option("--context", default="", metavar="NAME", help="A context of the kubeconfig.")
@click.option("-o", "--output", "folder", required=True, metavar="DIR", help="A new or an empty folder.")
def command(kubeconfig: str, context: str, folder: str) -> None:
    """Read, then write."""
    import msgspec

    from podium.cluster.kube.connect import connect
    from podium.live.reading import read

    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise InputError(f"{folder}: not empty: what is left of another cluster would be mixed in")
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from None
    for kind, items in read(connect(kubeconfig, context=context)).items():
        if not items:
            continue
        group = f".{kind.group}" if kind.group else ""
        path = target / f"{kind.plural}{group}.json"
        body = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items})
        path.write_bytes(msgspec.json.format(body, indent=1))
        say(f"{path}: {len(items):,}")
