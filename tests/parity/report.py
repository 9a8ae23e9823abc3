"""Write docs/parity.md: ``python -m tests.parity.report A.json B.json``.

The arguments are what ``tests.parity.run --save`` left of bulk runs; ``build/parity/mutations.json`` (see
mutations.py) is read if it is there, else the table of mistakes in the document stays as it is.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import click
import msgspec

from tests.parity.coverage import FILTERS, SCORES, Coverage, targets
from tests.parity.mutations import FOUND, MISTAKES

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "parity.md"

HEAD = """\
# Parity with kube-scheduler v1.37.2

Written by `python -m tests.parity.report`; `tests/parity/README.md` says how scenarios and answers are made.
Podium's answers are compared with those of kube-scheduler's own code: in tier A every plugin's verdict,
reasons and scores on every node for single pods, in tier B sequences of scheduling cycles with the chosen
node, preemption and the FailedScheduling text. A recorded selection is compared wherever the tests run.
"""

DELIBERATE = """\
## What is different on purpose

| Podium | kube-scheduler | to have it as upstream |
|---|---|---|
| one of the best nodes is drawn by seed and pod | the root of a heap of the scores | `choose: upstream` |
| every node is looked at and scored | an adaptive sample from a rotating start | `sampling: upstream` |
| an image's node count is exact | frozen in nodes that have not changed since | `choose: upstream` |
| preemption dry runs start at a node drawn by seed | at a random node | none: both are drawn |
| `schedulingGroup` is read whatever the feature gate | only with the gate | none |
| pods with resource claims are refused (DynamicResources is not implemented) | claims are allocated | none |

In tier A any of the preemption candidates that are equal on upstream's five criteria is right. An aborted
cycle need only be aborted; its text is not compared. Reasons of one status are compared without order.
"""


def runs_table(runs: list[dict[str, Any]]) -> str:
    """One line per bulk run."""
    lines = [
        "## Runs",
        "",
        "| tier | scenarios | from number | date | with mismatches |",
        "|---|---|---|---|---|",
    ]
    for run in runs:
        cells = (run["tier"], run["count"], run["seed"], run["date"], run["differing"])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def coverage_tables(coverage: Coverage) -> str:
    """What the compared answers said, per plugin, and what a run must reach so as to say anything."""
    lines = [
        "## What was compared",
        "",
        f"{coverage.pairs:,} pairs of pod and node in tier A, each judged by every filter that takes part; "
        f"{coverage.pods:,} pods, {coverage.scenarios:,} scenarios; {coverage.cycles:,} cycles in "
        f"{coverage.sequences:,} sequences of tier B.",
        "",
        "| plugin | pairs compared | pairs rejected | scenarios in which it scores nodes differently |",
        "|---|---|---|---|",
    ]
    for name in dict.fromkeys((*FILTERS, *SCORES)):
        rejected = f"{coverage.rejected[name]:,}" if name in FILTERS else "-"
        differing = f"{coverage.differing[name]:,}" if name in SCORES else "-"
        lines.append(f"| {name} | {coverage.pairs:,} | {rejected} | {differing} |")
    lines += ["", "| share | found | at least |", "|---|---|---|"]
    shares = coverage.shares()
    lines += [f"| {name} | {shares[name]:.1%} | {least:.0%} |" for name, least in targets().items()]
    return "\n".join(lines) + "\n"


def mutation_table(found: dict[str, int | None]) -> str:
    """When each deliberate mistake was seen."""
    lines = [
        "## Deliberate mistakes",
        "",
        "Each is made in the core on request (cargo feature `mutations`) and must be seen within 300,",
        "three of tier A for each of tier B.",
        "",
        "| plugin | mistake | seen after scenarios |",
        "|---|---|---|",
    ]
    for name, text in MISTAKES.items():
        seen = found[name] or "not seen" if name in found else "not measured"
        lines.append(f"| {name} | {text} | {seen} |")
    return "\n".join(lines) + "\n"


def _old_mutation_table() -> str:
    text = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    _, mark, rest = text.partition("## Deliberate mistakes")
    return mark + rest.partition("\n## ")[0] if mark else ""


@click.command()
@click.argument("saved", nargs=-1, type=click.Path(path_type=Path, exists=True), required=True)
def main(saved: tuple[Path, ...]) -> None:
    """Write docs/parity.md."""
    runs = [msgspec.json.decode(path.read_bytes()) for path in saved]
    coverage = Coverage()
    for run in runs:
        counts = run["coverage"].items()
        coverage.merge(Coverage(**{k: Counter(v) if isinstance(v, dict) else v for k, v in counts}))
    mutations = mutation_table(msgspec.json.decode(FOUND.read_bytes())) if FOUND.exists() else ""
    parts = [
        HEAD,
        runs_table(runs),
        coverage_tables(coverage),
        DELIBERATE,
        mutations or _old_mutation_table(),
    ]
    DOCUMENT.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


def saved_run(tier: str, seed: int, count: int, differing: int, coverage: Coverage) -> bytes:
    """What a bulk run leaves for the report."""
    run = {"tier": tier, "seed": seed, "count": count, "differing": differing}
    return msgspec.json.encode(run | {"date": date.today().isoformat(), "coverage": coverage})  # noqa: DTZ011


if __name__ == "__main__":
    main()
