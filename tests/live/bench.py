"""``make bench-live``: how fast pending pods are drained through a real API server, side by side.

Rounds are interleaved, each on a fresh set of pods: bare binding calls (loadgen), kube-scheduler, Podium. The
clock of a drain runs from the first to the last bound pod as a watch shows it; a second figure goes on until
every Scheduled event is in the API. Medians are printed as JSON.

``--mode drain`` is the comparison; ``delay`` puts a proxy before Podium that holds every binding back for
20 ms, beside the same proxy without; ``growth`` drains 20,000 pods on 5,000 nodes beside the usual size;
``gangs`` drains 30 gangs of 100, in kube-scheduler by its own gang cycle.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.live.build import program
from tests.live.control_plane import ControlPlane
from tests.live.objects import Api, pod
from tests.live.proxy import proxied

_DRAINED = re.compile(r"bound=(\d+) first=([\d.]+)s span=([\d.]+)s pods/s=([\d.]+)")
_RATE = re.compile(r"([\d.]+)/s")
_LIMITS = ("--kube-api-qps=5000", "--kube-api-burst=5000")
_GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
_EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"

#: Seconds within which every Scheduled event must be there after the last binding.
_DEADLINE = 15.0

Figures = dict[str, float]


class Bench:
    def __init__(self, plane: ControlPlane, nodes: int, pods: int) -> None:
        self.plane = plane
        self.pods = pods
        self._kubeconfig = str(plane.kubeconfig())
        self.load("nodes", nodes)

    def load(self, op: str, number: int = 0, *more: str) -> str:
        command = [str(program("loadgen")), "-kubeconfig", self._kubeconfig, "-op", op, "-n", str(number)]
        done = subprocess.run([*command, *more], capture_output=True, text=True, check=True)
        return done.stdout

    def fill(self) -> None:
        """Make the pods that are to be drained."""
        self.load("pods", self.pods)

    def bare(self) -> Figures:
        """Return bindings a second of a program that does nothing else."""
        self.fill()
        rate = float(_RATE.search(self.load("bindlimit")).group(1))  # type: ignore[union-attr]
        self.load("wipe")
        return {"rate": rate}

    def drain(self, command: list[str]) -> Figures:
        """Return pods a second of a scheduler, without and with its events."""
        self.fill()
        with Api(self.plane) as api:
            api.delete(_EVENTS)
            watch = self._watch()
            time.sleep(1.0)
            scheduler = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                out, _ = watch.communicate(timeout=1200)
                last = time.monotonic()
                bound, first, span, rate = (float(part) for part in _DRAINED.search(out).groups())  # type: ignore[union-attr]
                if bound < self.pods:
                    raise RuntimeError(f"{command[0]}: {bound:.0f} of {self.pods} pods were bound")
                told = self._events_after(api, last)
                figures = {
                    "rate": rate,
                    "with_events": self.pods / (span + told),
                    "events_after": told,
                    "first": first - 1.0,
                    "mib": _peak_rss(scheduler.pid),
                    "cpu_ms_per_pod": 1000 * _cpu(scheduler.pid) / self.pods,
                }
            finally:
                scheduler.terminate()
                scheduler.wait(60)
        self.load("wipe")
        return figures

    def _watch(self) -> subprocess.Popen[str]:
        command = [str(program("loadgen")), "-kubeconfig", self._kubeconfig, "-op", "drain"]
        more = ["-n", str(self.pods), "-timeout", "20m"]
        return subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True)

    def _events_after(self, api: Api, last: float) -> float:
        """Return how many seconds after the last binding every Scheduled event was there.

        kube-scheduler drops events under load: what has not come long after the deadline never will.
        """
        before, still = -1, time.monotonic()
        while (there := len(api.events("Scheduled"))) < self.pods:
            if there != before:
                before, still = there, time.monotonic()
            elif time.monotonic() - still > 2 * _DEADLINE:
                break
            time.sleep(0.25)
        return (time.monotonic() if there >= self.pods else still) - last


class GangBench(Bench):
    """Gangs of 100 pods, each declared by a PodGroup of the API server's own."""

    size = 100
    _round = 0

    def fill(self) -> None:
        # Deleted groups stay until a controller lets go of them, so every round has names of its own.
        self._round += 1
        with Api(self.plane) as api:
            api.delete(_GROUPS)
            for gang in range(self.pods // self.size):
                body = {
                    "apiVersion": "scheduling.k8s.io/v1beta1",
                    "kind": "PodGroup",
                    "metadata": {"name": f"gang-{self._round}-{gang:03}"},
                    "spec": {"schedulingPolicy": {"gang": {"minCount": self.size}}},
                }
                api.create(_GROUPS, body)
            pods = (self._pod(number) for number in range(self.pods))
            api.create_all("/api/v1/namespaces/default/pods", pods)

    def _pod(self, number: int) -> dict[str, object]:
        group = {"podGroupName": f"gang-{self._round}-{number // self.size:03}"}
        return pod(f"p-{self._round}-{number:05}", requests={"memory": "500Mi"}, schedulingGroup=group)


def _peak_rss(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024  # type: ignore[union-attr]


def _cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kube_scheduler(plane: ControlPlane, *flags: str) -> list[str]:
    own = [f"--kubeconfig={plane.kubeconfig()}", "--leader-elect=false", "--secure-port=0"]
    return [str(program("kube-scheduler")), *own, *_LIMITS, *flags]


def podium(plane: ControlPlane, *flags: str, server: str = "") -> list[str]:
    start = "from podium.cli import main; main()"
    config = plane.kubeconfig(server=server, name="proxied") if server else plane.kubeconfig()
    own = ["--leader-elect=false", "--secure-port=0", *_LIMITS, *flags]
    return [sys.executable, "-c", start, "run", f"--kubeconfig={config}", *own]


def _rounds(number: int, of: dict[str, Callable[[], Figures]]) -> dict[str, Figures]:
    """Run everything by turns; returns medians."""
    figures: dict[str, list[Figures]] = {name: [] for name in of}
    for _ in range(number):
        for name, measure in of.items():
            figures[name].append(measure())
            sys.stderr.write(json.dumps({name: figures[name][-1], "load": os.getloadavg()[0]}) + "\n")
    return {name: _medians(rounds) for name, rounds in figures.items()}


def _medians(rounds: Iterable[Figures]) -> Figures:
    rounds = list(rounds)
    return {key: round(statistics.median(each[key] for each in rounds), 2) for key in rounds[0]}


def _drain(plane: ControlPlane, asked: argparse.Namespace) -> dict[str, object]:
    bench = Bench(plane, asked.nodes, asked.pods)
    medians = _rounds(
        asked.rounds,
        {
            "bare": bench.bare,
            "kube-scheduler": lambda: bench.drain(kube_scheduler(plane)),
            "podium": lambda: bench.drain(podium(plane)),
        },
    )
    rate = medians["podium"]["rate"]
    return {
        **medians,
        "podium / kube-scheduler": round(rate / medians["kube-scheduler"]["rate"], 2),
        "podium / bare": round(rate / medians["bare"]["rate"], 2),
        "events in time": medians["podium"]["events_after"] <= _DEADLINE,
    }


def _delay(plane: ControlPlane, asked: argparse.Namespace) -> dict[str, object]:
    bench = Bench(plane, asked.nodes, asked.pods)
    with proxied(plane) as proxy:

        def held(seconds: float) -> Figures:
            proxy.faults.bind_delay = seconds
            return bench.drain(podium(plane, server=proxy.url))

        medians = _rounds(asked.rounds, {"at once": lambda: held(0.0), "20 ms": lambda: held(0.02)})
    cost = 1 - medians["20 ms"]["rate"] / medians["at once"]["rate"]
    return {**medians, "cost of 20 ms": round(cost, 3)}


def _growth(plane: ControlPlane, asked: argparse.Namespace) -> dict[str, object]:
    bench = Bench(plane, asked.nodes, asked.pods)
    small = _rounds(asked.rounds, {"small": lambda: bench.drain(podium(plane))})["small"]
    bench.load("nodes", 5 * asked.nodes)  # those that are there already stay
    bench.pods = 4 * asked.pods
    large = _rounds(asked.rounds, {"large": lambda: bench.drain(podium(plane))})["large"]
    return {"small": small, "large": large, "time per pod grows by": round(small["rate"] / large["rate"], 2)}


def _gangs(plane: ControlPlane, asked: argparse.Namespace) -> dict[str, object]:
    bench = GangBench(plane, asked.nodes, GangBench.size * asked.gangs)
    gate = "--feature-gates=GenericWorkload=true"
    medians = _rounds(
        asked.rounds,
        {
            "kube-scheduler": lambda: bench.drain(kube_scheduler(plane, gate)),
            "podium": lambda: bench.drain(podium(plane, gate)),
        },
    )
    ratio = medians["podium"]["rate"] / medians["kube-scheduler"]["rate"]
    return {**medians, "podium / kube-scheduler": round(ratio, 2)}


MODES: dict[str, Callable[[ControlPlane, argparse.Namespace], dict[str, object]]] = {
    "drain": _drain,
    "delay": _delay,
    "growth": _growth,
    "gangs": _gangs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=[*MODES, "all"], default="drain")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--gangs", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for mode in MODES if asked.mode == "all" else [asked.mode]:
        with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder:
            plane = ControlPlane(Path(folder) / "plane")
            plane.start()
            try:
                answer = MODES[mode](plane, asked)
            finally:
                plane.stop()
        about = {"mode": mode, "nodes": asked.nodes, "pods": asked.pods, "rounds": asked.rounds}
        sys.stdout.write(json.dumps({**about, **answer}, indent=1) + "\n")


if __name__ == "__main__":
    main()
