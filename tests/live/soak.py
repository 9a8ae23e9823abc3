"""``make soak``: minutes of random churn on a real API server; ends with status 1 if anything is amiss.

At the end every pod is bound or says why not, a check of the cache finds no difference, and memory has not
grown since the third of ten minutes (by more than a twentieth).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.live.control_plane import ControlPlane
from tests.live.objects import Api, Refused, node, pod
from tests.live.process import Running, podium_running

_PODS = "/api/v1/namespaces/default/pods"
_BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
_THREADS = 8
_GROWTH = 1.05


class Churn:
    """Changes a cluster at random, from several threads."""

    def __init__(self, api: Api, nodes: int, pods: int) -> None:
        self.api = api
        self.pods = pods
        self._nodes = [f"node-{i:04}" for i in range(nodes)]
        self._made = 0
        self.changes = 0

    def fill(self, seed: int) -> list[str]:
        """Make a thread's share of the pods, so that memory is judged at one size throughout."""
        chance = random.Random(f"fill {seed}")
        names = [self._name(chance, seed) for _ in range(self.pods // _THREADS)]
        for name in names:
            self.api.create(_PODS, self._pod(chance, name))
        return names

    def run(self, until: float, seed: int, mine: list[str]) -> None:
        chance = random.Random(seed)
        share = self.pods // _THREADS
        while time.monotonic() < until:
            try:
                self._change(chance, mine, share, seed)
            except Refused as error:
                if error.status not in {404, 409, 422}:
                    raise
            self.changes += 1

    def _change(self, chance: random.Random, mine: list[str], share: int, seed: int) -> None:
        what = chance.random()
        if what < 0.02:
            self._toggle_node(chance)
        elif what < 0.03:
            self._budget(chance)
        elif what < 0.06 and mine:
            labels = {"metadata": {"labels": {"turn": str(chance.randrange(9))}}}
            path = f"{_PODS}/{chance.choice(mine)}"
            self.api.request("PATCH", path, labels, "application/merge-patch+json")
        elif len(mine) > share or (mine and what < 0.5):
            self.api.delete(f"{_PODS}/{mine.pop(chance.randrange(len(mine)))}")
        elif what > 0.97:
            self._gang(chance, mine, seed)
        else:
            name = self._name(chance, seed)
            self.api.create(_PODS, self._pod(chance, name))
            mine.append(name)

    def _name(self, chance: random.Random, seed: int) -> str:
        self._made += 1
        return f"s{seed}-{self._made}-{chance.randrange(1 << 30)}"

    def _gang(self, chance: random.Random, mine: list[str], seed: int) -> None:
        """Make a gang, sometimes one that lacks a member; its pods are deleted at random as all others."""
        gang, size = self._name(chance, seed), chance.randrange(2, 6)
        requests = {"cpu": chance.choice(("100m", "1"))}
        labels = {"gang.example.com/name": gang, "app": "gang"}
        minimum = {"gang.example.com/min-available": str(size)}
        for number in range(size - (chance.random() < 0.1)):
            name = f"{gang}-{number}"
            self.api.create(_PODS, pod(name, requests=requests, labels=labels, annotations=minimum))
            mine.append(name)

    def _pod(self, chance: random.Random, name: str) -> dict[str, object]:
        # One in twenty-five fits no node.
        requests = {"cpu": chance.choices(("50m", "100m", "500m", "2", "9"), (6, 6, 6, 6, 1))[0]}
        app = f"a{chance.randrange(20)}"
        spec: dict[str, object] = {}
        kind = chance.random()
        if kind < 0.1:
            spec["nodeSelector"] = {"kubernetes.io/hostname": chance.choice(self._nodes)}
        elif kind < 0.2:
            term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        elif kind < 0.25:
            spec["priorityClassName"] = "system-cluster-critical"
        return pod(name, requests=requests, labels={"app": app}, **spec)

    def _toggle_node(self, chance: random.Random) -> None:
        name = chance.choice(self._nodes)
        if chance.random() < 0.3:
            self.api.delete(f"/api/v1/nodes/{name}", None)
            # What ran there is gone with it, as a node lifecycle controller would see to.
            for item in self.api.items(_PODS, fieldSelector=f"spec.nodeName={name}"):
                self.api.delete(f"{_PODS}/{item['metadata']['name']}")
            self.api.create("/api/v1/nodes", node(name, zone=f"z{chance.randrange(3)}"))
        else:
            spec = {"spec": {"unschedulable": chance.random() < 0.3 or None}}
            self.api.request("PATCH", f"/api/v1/nodes/{name}", spec, "application/merge-patch+json")

    def _budget(self, chance: random.Random) -> None:
        app = f"a{chance.randrange(20)}"
        if chance.random() < 0.5:
            self.api.delete(f"{_BUDGETS}/{app}", None)
            return
        selector = {"matchLabels": {"app": app}}
        body = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": app},
            "spec": {"minAvailable": 1, "selector": selector},
        }
        self.api.create(_BUDGETS, body)


def _checks(running: Running) -> list[str]:
    """Return how many differences each check of the cache has found so far."""
    return re.findall(r"cache check: (\d+) differences", running.log)


def _rss(running: Running) -> float:
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found.group(1)) / 1024


def _unexplained(api: Api) -> list[str]:
    """Return the pods that are neither bound nor say why."""
    lost = []
    for item in api.items(_PODS):
        conditions = {c["type"]: c for c in item["status"].get("conditions", [])}
        said = conditions.get("PodScheduled", {}).get("message")
        if not item["spec"].get("nodeName") and not said:
            lost.append(item["metadata"]["name"])
    return lost


def soak(minutes: float, nodes: int, pods: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="podium-soak-") as folder:
        plane = ControlPlane(Path(folder) / "plane")
        try:
            plane.start()
            with Api(plane) as api, podium_running(api) as running:
                api.nodes(nodes)
                return _churn(api, running, minutes, Churn(api, nodes, pods))
        finally:
            plane.stop()


def _churn(api: Api, running: Running, minutes: float, churn: Churn) -> dict[str, object]:
    by_tenth: list[float] = []
    with ThreadPoolExecutor(_THREADS) as pool:
        names = list(pool.map(churn.fill, range(_THREADS)))
        until = time.monotonic() + minutes * 60
        work = [pool.submit(churn.run, until, seed, mine) for seed, mine in enumerate(names)]
        for _ in range(10):
            time.sleep(minutes * 6)
            by_tenth.append(round(_rss(running), 1))
        for each in work:
            each.result()
    settled = time.monotonic() + 60
    while (lost := _unexplained(api)) and time.monotonic() < settled:
        time.sleep(0.5)
    before = len(_checks(running))
    running.process.send_signal(signal.SIGUSR2)
    while len(_checks(running)) == before and time.monotonic() < settled + 60:
        time.sleep(0.2)
    checked = _checks(running)
    status = running.stop()
    clean = len(checked) > before and set(checked) == {"0"}
    fine = not lost and clean and by_tenth[9] <= by_tenth[2] * _GROWTH and status == 0
    return {
        "minutes": minutes,
        "changes_per_second": round(churn.changes / (minutes * 60)),
        "bound": len(api.placements()),
        "unexplained": lost[:10],
        "cache_differences": checked,
        "rss_mib": by_tenth,
        "status": status,
        "fine": fine,
        "log": [] if fine else running.lines[-20:],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--pods", type=int, default=2000)
    asked = parser.parse_args()
    answer = soak(asked.minutes, asked.nodes, asked.pods)
    sys.stdout.write(json.dumps(answer, indent=1) + "\n")
    sys.exit(0 if answer["fine"] else 1)


if __name__ == "__main__":
    main()
