"""Podium beside kube-scheduler on one machine, one workload after the other: ``make bench-compare``.

For every scenario the same objects go to ``podium bench`` and to the peer program (``benches/peer``), which
runs kube-scheduler's own scheduling cycle in process: once with its adaptive sample of the nodes, once
scoring every node as Podium does. The three take turns, and the medians of their rates are compared, so that
what else the machine does meanwhile falls on all of them. The peer has no queue, no binding and no API
objects to compile in its time; it gets fewer pods, since its rate hardly depends on their number.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from benches.workload import document


@dataclass(frozen=True)
class Size:
    """Nodes, and how many pods each of the three gets."""

    nodes: int = 5_000
    podium: int = 20_000
    sample: int = 600
    every: int = 200


#: Scenario -> size. A node holds one pod of ``anti`` and takes part in one preemption.
SIZES = {
    "basic": Size(podium=50_000),
    "hetero": Size(),
    "deployment": Size(),
    "mixed": Size(),
    "spread": Size(),
    "prefspread": Size(),
    "affinity": Size(),
    "anti": Size(podium=4_000),
    "unschedulable": Size(),
    "churn": Size(),
    "daemonset": Size(nodes=15_000, podium=15_000),
    "preemption": Size(podium=4_000, sample=60, every=60),
}


@dataclass
class Rates:
    """Pods per second of each round."""

    podium: list[float] = field(default_factory=list)
    sample: list[float] = field(default_factory=list)
    every: list[float] = field(default_factory=list)


def podium(scenario: str, size: Size) -> dict[str, Any]:
    """Run ``podium bench``."""
    options = ["--scenario", scenario, "--nodes", str(size.nodes), "--pods", str(size.podium), "-o", "json"]
    return _answer([str(Path(sys.executable).with_name("podium")), "bench", *options])


def peer(program: Path, workload: Path, percentage: int, limit: int) -> dict[str, Any]:
    """Run the peer program on a workload that was written down."""
    options = ["-workload", str(workload), "-percentage", str(percentage), "-limit", str(limit)]
    return _answer([str(program), *options])


def _answer(command: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def compare(program: Path, scenario: str, size: Size, rounds: int) -> Rates:
    """Let the three take turns."""
    rates = Rates()
    with tempfile.TemporaryDirectory() as folder:
        workload = Path(folder) / "workload.json"
        # Steps of a scenario come at counts of bound pods, so a longer workload begins as a shorter one does.
        workload.write_bytes(msgspec.json.encode(document(scenario, size.nodes, size.sample)))
        for _ in range(rounds):
            rates.podium.append(podium(scenario, size)["pods_per_second"])
            rates.sample.append(peer(program, workload, 0, size.sample)["pods_per_second"])
            rates.every.append(peer(program, workload, 100, size.every)["pods_per_second"])
    return rates


def main(arguments: Iterable[str] | None = None) -> None:
    """Compare and print a Markdown table; also writes all rates as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="default: all")
    parser.add_argument("--peer", type=Path, default=Path("build/bench/peer"), help="the peer program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the rates of all rounds here")
    options = parser.parse_args(arguments)
    _say(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {options.rounds} rounds")
    _say("| scenario | nodes | Podium, pods/s | sample | every node | ÷ sample | ÷ every node |")
    _say("|---|---|---|---|---|---|---|")
    written = {}
    for scenario in options.scenarios or SIZES:
        size = SIZES[scenario]
        rates = compare(options.peer, scenario, size, options.rounds)
        _say(_line(scenario, size, rates))
        written[scenario] = {"nodes": size.nodes, **vars(rates)}
        if options.json:
            options.json.write_text(json.dumps(written, indent=1) + "\n")
    _say(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _line(scenario: str, size: Size, rates: Rates) -> str:
    ours, sample, every = map(statistics.median, (rates.podium, rates.sample, rates.every))
    return (
        f"| `{scenario}` | {size.nodes:,} | {ours:,.0f} | {sample:,.0f} | {every:,.0f} "
        f"| {ours / sample:,.0f} | {ours / every:,.0f} |"
    )


if __name__ == "__main__":
    main()
