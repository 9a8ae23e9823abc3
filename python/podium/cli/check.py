"""``podium check``: what the API server would refuse, without a cluster."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli.flags import OUTPUT, GoCommand
from podium.cli.inputs import Cluster, cluster_flags, gate_warnings
from podium.cli.output import console, print_json, progress, say_notes, with_notes
from podium.errors import ConfigError

if TYPE_CHECKING:
    from podium.api.manifest import Manifest, Note

NO = 1

_HELP = """\
Say what the API server would refuse of manifests, and what is wrong with a configuration.

Judged are the fields that scheduling reads. Exit status 1 if anything is rejected.

\b
Examples:
  podium check -f app/
  podium check -f nodes.yaml -f app.yaml -o json
  podium check --config scheduler.yaml
  kustomize build . | podium check -f -
"""


@click.command(cls=GoCommand, help=_HELP, short_help="Say what the API server would refuse.")
@cluster_flags
@click.option("--config", "config_file", metavar="FILE", help="A configuration to check too.")
@OUTPUT
def command(cluster: Cluster, config_file: str | None, output: str) -> int:
    """Load everything and print what did not pass; returns the exit status."""
    if not cluster.files and config_file is None:
        raise click.UsageError("nothing to check: give -f or --config")
    with progress("reading", None):
        manifest = cluster.load(cluster.read())
    rejected, warnings = list(manifest.rejected), [*manifest.warnings, *gate_warnings(cluster.gates)]
    if config_file is not None:
        refused, warned = _configuration(config_file)
        rejected += refused
        warnings += warned
    counts = _counts(manifest)
    if output == "json":
        print_json(with_notes({"objects": counts}, rejected, warnings))
    else:
        say_notes(rejected, warnings)
        _print(counts, manifest, len(rejected))
    return NO if rejected else 0


def _counts(manifest: "Manifest") -> dict[str, int]:
    """Count what the inputs say by kind, with the kinds that scheduling does not read."""
    return dict(Counter(manifest.counts()) + Counter(manifest.ignored))


def _configuration(path: str) -> "tuple[list[Note], list[Note]]":
    """Return what is refused of a configuration and what it is warned of; raises if it cannot be read."""
    from podium.api.manifest import Note
    from podium.framework.config import parse_config
    from podium.framework.config.documents import read_documents

    subject = "KubeSchedulerConfiguration"
    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    read_documents(text, path)
    try:
        config = parse_config(text, path)
    except ConfigError as error:
        return [Note(subject, path, str(error).removeprefix(f"{path}: "))], []
    return [], [Note(subject, path, warning) for warning in config.warnings]


def _print(counts: dict[str, int], manifest: "Manifest", rejected: int) -> None:
    from podium.simulator.report import table

    rows = table("Objects", "kind", "objects", "")
    for kind, count in sorted(counts.items()):
        rows.add_row(kind, f"{count:,}", "scheduling does not read it" if kind in manifest.ignored else "")
    screen = console()
    if counts:
        screen.print(rows)
    verdict = f"[red]{rejected:,} rejected[/]" if rejected else "[green]nothing to object to[/]"
    screen.print(verdict)
