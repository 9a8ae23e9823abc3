"""``make bench-live``: how fast pending pods are drained through a real API server, side by side.

Rounds are interleaved, each on a fresh set of pods: bare binding calls (loadgen), kube-scheduler, Podium. The
clock of a drain runs from the first to the last bound pod as a watch shows it; a second figure goes on until
every Scheduled event is in the API. Medians are printed as JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.live.build import program
from tests.live.control_plane import ControlPlane
from tests.live.objects import Api

_DRAINED = re.compile(r"bound=(\d+) first=([\d.]+)s span=([\d.]+)s pods/s=([\d.]+)")
_RATE = re.compile(r"([\d.]+)/s")
_LIMITS = ("--kube-api-qps=5000", "--kube-api-burst=5000")


class Bench:
    def __init__(self, plane: ControlPlane, nodes: int, pods: int) -> None:
        self.plane = plane
        self.pods = pods
        self._kubeconfig = str(plane.kubeconfig())
        self._load("nodes", nodes)

    def _load(self, op: str, number: int = 0, *more: str) -> str:
        command = [
            str(program("loadgen")),
            "-kubeconfig",
            self._kubeconfig,
            "-op",
            op,
            "-n",
            str(number),
            *more,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def bare(self) -> float:
        """Return bindings a second of a program that does nothing else."""
        self._load("pods", self.pods)
        rate = float(_RATE.search(self._load("bindlimit")).group(1))  # type: ignore[union-attr]
        self._load("wipe")
        return rate

    def drain(self, command: list[str]) -> dict[str, float]:
        """Return pods a second of a scheduler, without and with its events."""
        self._load("pods", self.pods)
        with Api(self.plane) as api:
            api.delete("/apis/events.k8s.io/v1/namespaces/default/events")
            watch = subprocess.Popen(
                [
                    str(program("loadgen")),
                    "-kubeconfig",
                    self._kubeconfig,
                    "-op",
                    "drain",
                    "-n",
                    str(self.pods),
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            time.sleep(1.0)
            scheduler = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                out, _ = watch.communicate(timeout=600)
                last = time.monotonic()
                bound, _, span, rate = (float(part) for part in _DRAINED.search(out).groups())  # type: ignore[union-attr]
                if bound != self.pods:
                    raise RuntimeError(f"{command[0]}: {bound:.0f} of {self.pods} pods were bound")
                while len(api.events("Scheduled")) < self.pods and time.monotonic() - last < 60:
                    time.sleep(0.25)
                told = time.monotonic() - last
                memory = _peak_rss(scheduler.pid)
            finally:
                scheduler.terminate()
                scheduler.wait(60)
        self._load("wipe")
        return {"rate": rate, "with_events": self.pods / (span + told), "events_after": told, "mib": memory}


def _peak_rss(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024  # type: ignore[union-attr]


def kube_scheduler(plane: ControlPlane) -> list[str]:
    return [
        str(program("kube-scheduler")),
        f"--kubeconfig={plane.kubeconfig()}",
        "--leader-elect=false",
        "--secure-port=0",
        *_LIMITS,
    ]


def podium(plane: ControlPlane, *flags: str) -> list[str]:
    start = "from podium.cli import main; main()"
    own = ["--leader-elect=false", "--secure-port=0", *_LIMITS, *flags]
    return [sys.executable, "-c", start, "run", f"--kubeconfig={plane.kubeconfig()}", *own]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    figures: dict[str, list[dict[str, float]]] = {"bare": [], "kube-scheduler": [], "podium": []}
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
        plane = ControlPlane(Path(folder) / "plane")
        plane.start()
        try:
            bench = Bench(plane, asked.nodes, asked.pods)
            for _ in range(asked.rounds):
                figures["bare"].append({"rate": bench.bare()})
                figures["kube-scheduler"].append(bench.drain(kube_scheduler(plane)))
                figures["podium"].append(bench.drain(podium(plane)))
                sys.stderr.write(json.dumps({name: rounds[-1] for name, rounds in figures.items()}) + "\n")
        finally:
            plane.stop()
    medians = {
        name: {key: round(statistics.median(each[key] for each in rounds), 1) for key in rounds[0]}
        for name, rounds in figures.items()
    }
    rate = medians["podium"]["rate"]
    ratios = {
        "podium / kube-scheduler": round(rate / medians["kube-scheduler"]["rate"], 2),
        "podium / bare": round(rate / medians["bare"]["rate"], 2),
    }
    sys.stdout.write(
        json.dumps({"nodes": asked.nodes, "pods": asked.pods, **medians, **ratios}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
