"""A simulation as a person reads it: what was scheduled, how full the cluster is, what is pending and why."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from podium.api import Node
from podium.api.manifest import Manifest
from podium.scheduler.tenants import TenantShare
from podium.simulator.run import Pending, Simulation

#: Up to this many placements are listed one by one; more are counted by namespace.
LISTED = 25
#: Rows of the table of namespaces, and of reasons.
ROWS = 12


def report(simulation: Simulation, manifest: Manifest) -> RenderableType:
    """Return the tables that ``podium simulate`` prints."""
    few = len(simulation.placements) <= LISTED
    parts: list[RenderableType | None] = [
        _headline(simulation),
        _placements(simulation) if few else _namespaces(simulation),
        _utilisation(simulation.utilisation, manifest),
        _tenants(simulation.tenants),
        _pending(simulation.pending),
        _evicted(simulation.evicted),
        _ignored(simulation.ignored),
    ]
    return Group(*(part for part in parts if part is not None))


def _headline(simulation: Simulation) -> Text:
    scheduled, total = len(simulation.placements), simulation.pods
    colour = "green" if scheduled == total else "yellow"
    rate = f", {scheduled / simulation.seconds:,.0f} pods/s" if scheduled and simulation.seconds else ""
    return Text.assemble(
        (f"{scheduled:,} of {total:,} pods", f"bold {colour}"),
        f" scheduled on {simulation.nodes:,} nodes in {simulation.seconds:.2f} s{rate}\n",
    )


#: Columns of numbers.
_NUMBERS = frozenset({"scheduled", "pending", "pods", "nodes", "total", "%"})


def table(title: str, *columns: str) -> Table:
    """Return an empty table in the one style that all commands have."""
    rows = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        rows.add_column(column, justify="right" if column in _NUMBERS else "left", overflow="fold")
    return rows


def _placements(simulation: Simulation) -> Table | None:
    if not simulation.placements:
        return None
    rows = table("Placements", "pod", "node")
    for placement in simulation.placements:
        rows.add_row(placement.pod, placement.node)
    return rows


def _namespaces(simulation: Simulation) -> Table:
    scheduled = Counter(_namespace(placement.pod) for placement in simulation.placements)
    pending = Counter(_namespace(item.pod) for item in simulation.pending)
    rows = table("Namespaces", "namespace", "scheduled", "pending")
    names = sorted({*scheduled, *pending}, key=lambda name: (-scheduled[name], name))
    for name in names[:ROWS]:
        rows.add_row(name, f"{scheduled[name]:,}", f"{pending[name]:,}" if pending[name] else "·")
    if len(names) > ROWS:
        others = names[ROWS:]
        counts = (sum(counter[name] for name in others) for counter in (scheduled, pending))
        rows.add_row(f"… {len(others)} more", *(f"{count:,}" for count in counts))
    return rows


def _namespace(pod: str) -> str:
    return pod.partition("/")[0]


def _utilisation(utilisation: Mapping[str, float], manifest: Manifest) -> Table | None:
    if not utilisation:
        return None
    having = Counter(
        name for node in manifest.of(Node) for name in (node.status.allocatable or node.status.capacity or {})
    )
    rows = table("Requested of allocatable", "resource", "nodes", "", "%")
    for name, part in utilisation.items():
        if part or having[name]:
            bar = ProgressBar(total=1.0, completed=min(part, 1.0), width=30)
            rows.add_row(name, f"{having[name]:,}", bar, f"{part:6.1%}")
    return rows


def _tenants(tenants: Sequence[TenantShare]) -> Table | None:
    if not tenants:
        return None
    rows = table("Tenants by dominant share", "tenant", "weight", "resource", "", "%", "in use")
    ordered = sorted(tenants, key=lambda tenant: (-tenant.dominant_share, tenant.name))
    for tenant in ordered[:ROWS]:
        name = tenant.name if tenant.parent is None else f"{tenant.parent} / {tenant.name}"
        bar = ProgressBar(total=1.0, completed=min(tenant.dominant_share, 1.0), width=30)
        used = ", ".join(f"{amount} {resource}" for resource, amount in tenant.used.items())
        share = f"{tenant.dominant_share:6.1%}"
        rows.add_row(name, f"{tenant.weight:g}", tenant.dominant_resource or "", bar, share, used)
    if len(ordered) > ROWS:
        rows.add_row(f"… {len(ordered) - ROWS} more; -o json has them all", "", "", "", "", "")
    return rows


def _pending(pending: Sequence[Pending]) -> Table | None:
    if not pending:
        return None
    reasons: dict[str, list[str]] = {}
    for item in pending:
        reasons.setdefault(item.message, []).append(item.pod)
    rows = table("Pending", "pods", "why", "such as")
    ordered = sorted(reasons.items(), key=lambda reason: -len(reason[1]))
    for message, pods in ordered[:ROWS]:
        rows.add_row(f"{len(pods):,}", message, pods[0])
    if len(ordered) > ROWS:
        rest = sum(len(pods) for _, pods in ordered[ROWS:])
        rows.add_row(f"{rest:,}", f"… {len(ordered) - ROWS} more reasons; -o json has them all", "")
    return rows


def _evicted(evicted: Sequence[tuple[str, str]]) -> Table | None:
    if not evicted:
        return None
    rows = table("Evicted to make room", "pod", "for")
    for victim, by in evicted[:ROWS]:
        rows.add_row(victim, by)
    if len(evicted) > ROWS:
        rows.add_row(f"… {len(evicted) - ROWS} more", "")
    return rows


_WHY = {
    "gated": "held back by scheduling gates",
    "foreign": "of another scheduler",
}


def _ignored(ignored: Iterable[tuple[str, str]]) -> Text | None:
    counts = Counter(why for _, why in ignored)
    if not counts:
        return None
    texts = [f"{count:,} pods {_WHY.get(why, why)}" for why, count in counts.items()]
    return Text("Not tried: " + ", ".join(texts), style="dim")
