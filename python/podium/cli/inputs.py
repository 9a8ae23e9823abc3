"""The flags that say what the cluster is and how it is scheduled, and what they load."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from podium.cli.flags import switch

if TYPE_CHECKING:
    from podium.api.features import FeatureGates
    from podium.api.manifest import Document, Manifest, Mode, Note, Unreadable
    from podium.framework.config import SchedulerConfig

Command = Callable[..., Any]

_FILES = click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    metavar="PATH",
    help="A manifest, a folder of manifests, or - for standard input; YAML or JSON, also gzipped. "
    "Repeatable: all of them form one cluster.",
)
_VALIDATE = click.option(
    "--validate",
    type=click.Choice(["create", "persisted", "off"]),
    help="create: reject what the API server would refuse. persisted: warn and load. off: load what parses. "
    "[default: persisted for objects with a resourceVersion, else create]",
)
_CRONJOBS = switch("--cronjobs", help="Let every CronJob make its next Job.")
_GATES = click.option(
    "--feature-gates", default="", metavar="A=true,B=false", help="Feature gates by kube-scheduler's names."
)
_CONFIG = click.option(
    "--config",
    "config_file",
    metavar="FILE",
    help="A KubeSchedulerConfiguration (v1), optionally with a PodiumConfiguration as second document.",
)
_QUEUE_ORDER = click.option(
    "--queue-order",
    type=click.Choice(["priority", "drf"]),
    help="Short form of the queueSort plugin of every profile: PrioritySort or DRF. [default: as configured]",
)
_TENANT = click.option(
    "--tenant",
    metavar="BY",
    help="Whose a pod is: namespace, label:KEY, annotation:KEY or queue. "
    "[default: as configured, else namespace]",
)


_KUBECONFIG = click.option(
    "--kubeconfig",
    default="",
    metavar="FILE",
    help="A live cluster, which is only read; with -f its objects come on top.",
)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What ``-f`` and its companions say."""

    files: Sequence[str]
    mode: "Mode"
    cron_jobs: bool
    gates: "FeatureGates"
    kubeconfig: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was given."""
        return not self.files and not self.kubeconfig

    def read(self) -> "list[Document | Unreadable]":
        """Return the documents of ``-f`` and the live cluster; raises InputError if they cannot be read."""
        from podium.api import manifest

        live = _live_documents(self.kubeconfig) if self.kubeconfig else []
        return [*live, *manifest.read(self.files)]

    def load(self, documents: "Sequence[Document | Unreadable]") -> "Manifest":
        """Judge documents and let workloads make their pods."""
        from podium.api import manifest

        options = manifest.Options(validate=self.mode, cron_jobs=self.cron_jobs, gates=self.gates)
        return manifest.load_documents(documents, options)


def _live_documents(kubeconfig: str) -> "list[Document]":
    from podium.api.manifest import Document
    from podium.cluster.kube.connect import connect
    from podium.live.reading import read

    documents = []
    for kind, items in read(connect(kubeconfig)).items():
        for item in items:
            body = dict(item)
            if kind.name in _CONTROLLED:
                # Its controller has made the pods already, or will not.
                body["spec"] = {**body.get("spec", {}), "replicas": 0}
            documents.append(Document(f"{kubeconfig}: {kind.name}", body))
    return documents


#: Kinds that are followed for their selectors and would otherwise become pods.
_CONTROLLED = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController"})


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration, and where it is from."""

    config: "SchedulerConfig"
    source: str


def cluster_flags(function: Command) -> Command:
    """Add the flags of ``Cluster``; the function gets one as ``cluster``."""

    @functools.wraps(function)
    def command(
        *, files: Sequence[str], validate: "Mode | None", cronjobs: bool, feature_gates: str, **rest: Any
    ) -> Any:
        from podium.api.features import parse_gates

        gates = parse_gates(feature_gates)
        return function(cluster=Cluster(files, validate or "auto", cronjobs, gates), **rest)

    return _FILES(_VALIDATE(_CRONJOBS(_GATES(command))))


def live_flags(function: Command) -> Command:
    """Add ``--kubeconfig`` below ``cluster_flags``: a live cluster in place of ``-f``, or beneath it."""

    @functools.wraps(function)
    def command(*, cluster: Cluster, kubeconfig: str, **rest: Any) -> Any:
        return function(cluster=replace(cluster, kubeconfig=kubeconfig), **rest)

    return _KUBECONFIG(command)


def settings_flags(function: Command) -> Command:
    """Add ``--config``, ``--queue-order`` and ``--tenant`` below ``cluster_flags``: ``settings``."""

    @functools.wraps(function)
    def command(
        *,
        cluster: Cluster,
        config_file: str | None,
        queue_order: str | None,
        tenant: str | None,
        **rest: Any,
    ) -> Any:
        from podium.framework.config import default_config, load_config, with_gates, with_short_forms

        config = default_config() if config_file is None else load_config(config_file)
        config = with_gates(with_short_forms(config, queue_order=queue_order, tenant=tenant), cluster.gates)
        return function(cluster=cluster, settings=Settings(config, config_file or ""), **rest)

    return _CONFIG(_QUEUE_ORDER(_TENANT(command)))


def warnings_of(manifest: "Manifest", cluster: Cluster, settings: Settings) -> "list[Note]":
    """Return everything that is to be said about inputs, gates and configuration."""
    from podium.api.manifest import Note

    strict = settings.config.podium.strict
    notes = [note for note in manifest.warnings if not (strict and note.quirk)]
    notes += gate_warnings(cluster.gates)
    notes += [
        Note("KubeSchedulerConfiguration", settings.source, warning) for warning in settings.config.warnings
    ]
    return notes


def gate_warnings(gates: "FeatureGates") -> "list[Note]":
    """Name the gates whose setting changes nothing here."""
    from podium.api.manifest import Note

    text = "Podium does not implement this feature gate; it has no effect"
    return [Note(f"FeatureGate {name}", "--feature-gates", text) for name in gates.unimplemented]
