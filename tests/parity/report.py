"""Write docs/parity.md: ``python -m tests.parity.report [JOURNAL]``.

The journal is what ``tests.parity.run --journal`` left of bulk runs; ``build/parity/mutations.json`` (see
mutations.py) is read if it is there, else the table of mistakes in the document stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from tests.parity import journal
from tests.parity.coverage import FILTERS, SCORES, Coverage, targets
from tests.parity.mutations import FOUND, MISTAKES, RULES, UPSTREAM_RULES
from tests.parity.run import BUILD

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


def runs_table(pieces: list[journal.Piece]) -> str:
    """One line per tier."""
    lines = [
        "## Runs",
        "",
        "Numbers name scenarios: `python -m tests.parity.run --tier A --seed NUMBER --count 1` plays one.",
        "Where answers differed at first, the scenario was shrunk to a file in `tests/parity/regressions`,",
        "and played again after the fix. Sequences in every way: also from the queue, in batches and with",
        "pods put on nodes and taken off again, and by seed with what is remembered and without, to agree.",
        "",
        "| tier | scenarios | numbers | in every way | dates | commits | differ |",
        "|---|---|---|---|---|---|---|",
    ]
    for tier in sorted({piece.tier for piece in pieces}):
        own = [piece for piece in pieces if piece.tier == tier]
        cells = (
            tier,
            f"{sum(piece.count for piece in own):,}",
            ", ".join(_ranges(own)),
            f"{sum(piece.ways for piece in own):,}",
            _span(piece.date for piece in own),
            ", ".join(dict.fromkeys(piece.commit for piece in own)),
            sum(len(piece.differing) for piece in own),
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    still = [f"{piece.tier.lower()}-{number}" for piece in pieces for number in piece.differing]
    if still:
        lines += ["", f"Not explained and not fixed yet: {', '.join(still)}."]
    return "\n".join(lines) + "\n"


def _ranges(pieces: list[journal.Piece]) -> Iterator[str]:
    """The numbers of pieces, which come in order, joined where they are consecutive."""
    first = last = pieces[0].seed
    for piece in pieces:
        if piece.seed != last:
            yield f"{first}-{last - 1}"
            first = piece.seed
        last = piece.seed + piece.count
    yield f"{first}-{last - 1}"


def _span(dates: Iterable[str]) -> str:
    days = sorted(set(dates))
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


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
    lines += _seen(MISTAKES, found)
    lines += [
        "",
        "Rules by which the engine drops or brings up to date what it remembers. Each is broken on request;",
        "sequences on the engine that remembers are compared with the same found afresh, and the last rules,",
        "which are those of kube-scheduler's own cache, with recorded answers.",
        "",
        "| rule | broken | seen after sequences |",
        "|---|---|---|",
    ]
    lines += _seen(RULES | UPSTREAM_RULES, found)
    return "\n".join(lines) + "\n"


def _seen(mistakes: dict[str, str], found: dict[str, int | None]) -> Iterator[str]:
    for name, text in mistakes.items():
        seen = found[name] or "not seen" if name in found else "not measured"
        yield f"| {name} | {text} | {seen} |"


def _old_mutation_table() -> str:
    text = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    _, mark, rest = text.partition("## Deliberate mistakes")
    return mark + rest.partition("\n## ")[0] if mark else ""


@click.command()
@click.argument("noted", type=click.Path(path_type=Path, exists=True), default=BUILD / "journal.jsonl")
def main(noted: Path) -> None:
    """Write docs/parity.md."""
    pieces = journal.read(noted)
    coverage = Coverage()
    for piece in pieces:
        coverage.merge(piece.counted())
    mutations = mutation_table(msgspec.json.decode(FOUND.read_bytes())) if FOUND.exists() else ""
    parts = [
        HEAD,
        runs_table(pieces),
        coverage_tables(coverage),
        DELIBERATE,
        mutations or _old_mutation_table(),
    ]
    DOCUMENT.write_text("\n".join(part for part in parts if part).rstrip() + "\n")


if __name__ == "__main__":
    main()
