"""``podium explain``: where each pending pod could go, where not, and why."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from podium.cli.flags import OUTPUT, GoCommand, switch
from podium.cli.inputs import Cluster, Settings, cluster_flags, live_flags, settings_flags, warnings_of
from podium.cli.output import console, print_json, progress, say, say_notes, with_notes
from podium.errors import InputError

if TYPE_CHECKING:
    from podium.api import Pod
    from podium.api.manifest import Manifest
    from podium.scheduler.explanation import Explanation, Turn
    from podium.scheduler.gangs.report import GangTurn

_HELP = """\
Say for each pending pod which nodes it could go to, how they score, and what keeps it off the others.

Each pod is judged alone, against the bound pods and the nominations of other pending pods; nothing is placed.
POD is NAMESPACE/NAME, or NAME if only one namespace has it; without any POD all pending pods are judged.

\b
Examples:
  podium explain -f cluster/ -f app.yaml
  podium explain -f cluster/ web-0 default/db-0 --top 3
  kubectl get nodes,pods,pv,pvc,sc -A -o yaml | podium explain -f - shop/web-7d4b9c-x2x9k
  podium explain -f cluster/ web-0 -o json | jq '.pods[0].nodes'
"""


@click.command(cls=GoCommand, help=_HELP, short_help="Say where pending pods could go, and why.")
@click.argument("pods", nargs=-1, metavar="[POD]...")
@cluster_flags
@live_flags
@settings_flags
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of the best nodes to show with their scores.",
)
@switch("--no-scores", help="Leave the scores out.")
@OUTPUT
def command(
    pods: Sequence[str],
    cluster: Cluster,
    settings: Settings,
    top: int,
    no_scores: bool,  # noqa: FBT001 (click passes flags by name)
    output: str,
) -> None:
    """Judge the pods and print the judgements."""
    from podium.simulator.judge import judge_pending

    if cluster.is_empty:
        raise click.UsageError("-f is needed: a manifest, a folder, or - for standard input; or --kubeconfig")
    with progress("reading", None):
        manifest = cluster.load(cluster.read())
    wanted = _wanted(pods, manifest)
    judged = judge_pending(manifest, settings.config, wanted=wanted, top=0 if no_scores else top)
    warnings = warnings_of(manifest, cluster, settings)
    if output == "json":
        print_json(with_notes({"pods": map(wire, judged)}, manifest.rejected, warnings))
        return
    say_notes(manifest.rejected, warnings)
    _print(judged, _pending(manifest) if wanted is _all else len(pods))


#: Up to this many pods are shown in detail; more get a line each.
_DETAILED = 5


def _print(judged: "Iterator[Explanation]", count: int) -> None:
    from podium.simulator.explanation import in_brief, in_detail

    screen = console()
    if count <= _DETAILED:
        for found in in_detail(judged):
            screen.print(found)
    else:
        screen.print(in_brief(judged))
        say("podium explain NAMESPACE/NAME … has the reasons node by node, and the scores")


def _pending(manifest: "Manifest") -> int:
    from podium.api import Pod

    return sum(not pod.spec.node_name for pod in manifest.of(Pod))


def _all(_pod: "Pod") -> bool:
    return True


def _wanted(names: Sequence[str], manifest: "Manifest") -> "Callable[[Pod], bool]":
    """Return whether a pending pod was asked for; raises InputError for a name that means no pending pod."""
    if not names:
        return _all
    uids = {_find(name, manifest).metadata.uid for name in names}
    return lambda pod: pod.metadata.uid in uids


def _find(name: str, manifest: "Manifest") -> "Pod":
    from podium.api import Pod

    namespace, slash, bare = name.rpartition("/")
    found = [
        pod
        for pod in manifest.of(Pod)
        if pod.metadata.name == bare and (not slash or pod.metadata.namespace == namespace)
    ]
    if not found:
        raise InputError(f"pod {name}: {_why_absent(name, manifest)}")
    if len(found) > 1:
        places = ", ".join(f"{pod.metadata.namespace}/{bare}" for pod in found)
        raise InputError(f"pod {name}: which one of {places}?")
    if found[0].spec.node_name:
        raise InputError(f"pod {name}: it is on node {found[0].spec.node_name}, only pending pods are judged")
    return found[0]


def _why_absent(name: str, manifest: "Manifest") -> str:
    for note in manifest.rejected:
        kind, _, known = note.object.partition(" ")
        if kind == "Pod" and name in {known, known.rpartition("/")[2]}:
            return f"rejected: {note.message}"
    return "no such pod among the inputs"


def wire(found: "Explanation") -> dict[str, Any]:
    """Return a judgement as the JSON answer has it."""
    return {
        "pod": found.pod,
        "state": found.state,
        "feasible": list(found.feasible),
        "message": found.message,
        "nodes": {
            node: {"plugin": why.plugin, "reasons": list(why.reasons), "code": why.code}
            for node, why in found.nodes.items()
        },
        "scores": {
            node: {
                "total": score.total,
                "plugins": {
                    name: {"raw": part.raw, "normalized": part.normalized, "weighted": part.weighted}
                    for name, part in score.plugins.items()
                },
            }
            for node, score in found.scores.items()
        },
        "nominated": found.nominated,
        "victims": list(found.victims),
        **({} if found.tenant is None else {"tenant": _tenant(found.tenant)}),
        **({} if found.gang is None else {"gang": _gang(found.gang)}),
    }


def _gang(turn: "GangTurn") -> dict[str, Any]:
    return {
        "name": turn.name,
        "min": turn.min,
        "placeable": turn.placeable,
        "missing": turn.missing,
        "nearest": turn.nearest or None,
        "position": turn.position,
        "state": turn.state,
        "message": turn.message,
    }


def _tenant(turn: "Turn") -> dict[str, Any]:
    return {
        "name": turn.name,
        "dominant_share": turn.dominant_share,
        "rank": turn.rank,
        "blocked_by": turn.blocked_by,
    }
