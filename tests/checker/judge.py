"""The judgement: an answer of ``podium simulate -o json`` against the manifests it was made from."""

from tests.checker.admission import Admission
from tests.checker.ending import pending_although_it_fits
from tests.checker.expand import expand
from tests.checker.naming import key
from tests.checker.replay import ordered
from tests.checker.rules import Violation, objections, unpinned_daemon, why_not_tried
from tests.checker.world import Node, Pod, World

DEFAULT = ("default-scheduler",)


def check(objects: list[dict], answer: dict, *, schedulers: tuple[str, ...] = DEFAULT) -> list[Violation]:
    """Every violation in an answer; an empty list is a clean bill.

    ``objects`` are manifests as in YAML, before or after defaulting, workloads or the pods made from them.
    ``answer`` is the JSON of ``podium simulate`` on a queue: everything pending at time 0, nothing departs.
    ``schedulers`` are the profile names that the run answered for.
    """
    return Judge(objects, answer, schedulers).judge()


def feasible(objects: list[dict], pod_key: str) -> dict[str, list[Violation]]:
    """Per node, what keeps one pending pod off it while the other pending pods are nowhere."""
    judge = Judge(objects, {"placements": [], "pending": [{"pod": pod_key}]}, DEFAULT)
    pod = judge.pods[pod_key]
    return {node.name: objections(judge.world, pod, node) for node in judge.world.nodes.values()}


class Judge:
    """One judgement: a world that the placements are replayed into, and what was found wrong."""

    def __init__(self, objects: list[dict], answer: dict, schedulers: tuple[str, ...]) -> None:
        objects, self.counts = expand(_accepted(objects, answer), _named(answer))
        admission = Admission(objects)
        self.answer = answer
        self.schedulers = schedulers
        self.world = World([o for o in objects if o["kind"] != "Pod"])
        pods = [Pod(admission.admit(o)) for o in objects if o["kind"] == "Pod"]
        self.pods = {pod.key: pod for pod in pods if not pod.finished}
        self.bound = {
            name: pod.spec["nodeName"] for name, pod in self.pods.items() if pod.spec.get("nodeName")
        }
        self.evicted = {e["pod"]: e for e in answer.get("evicted") or []}
        self.found: list[Violation] = []
        for name, node in self.bound.items():
            if node in self.world.nodes:
                self.world.add(self.pods[name], self.world.nodes[node])

    def judge(self) -> list[Violation]:
        for placement in ordered(self.answer):
            self._placement(placement["pod"], placement["node"])
        self._evictions()
        self._totals()
        self._accounted()
        pending = [
            (self.pods[p["pod"]], p) for p in self.answer.get("pending") or [] if p["pod"] in self.pods
        ]
        self.found += pending_although_it_fits(self.world, pending, self.schedulers)
        return self.found

    def _report(self, kind: str, pod: str, node: str, text: str) -> None:
        self.found.append(Violation(kind, pod, node, text))

    def _placement(self, name: str, node_name: str) -> None:
        """Judge one placement by what was there before it, then let it stand."""
        pod, node = self.pods.get(name), self.world.nodes.get(node_name)
        if pod is None or node is None:
            self._report("unknown", name, node_name, "no such pod or node among the inputs")
        elif name in self.bound:
            if node_name != self.bound[name]:
                self._report(
                    "node-name", name, node_name, f"it was bound to {self.bound[name]} from the start"
                )
        elif name in self.world.where:
            self._report("twice", name, node_name, f"it is on {self.world.node_of(name).name} already")
        else:
            forbidden = why_not_tried(pod, self.schedulers)
            if forbidden:
                self._report("not-to-be-placed", name, node_name, forbidden)
            self.found += self._objections_either_way(pod, node)
            self.world.add(pod, node)

    def _objections_either_way(self, pod: Pod, node: Node) -> list[Violation]:
        """An answer does not say when a victim left: what counts is wrong with and without the victims."""
        present = objections(self.world, pod, node)
        leaving = [name for name in self.evicted if name in self.world.where] if present else []
        if not leaving:
            return present
        removed = [self.world.remove(name) for name in leaving]
        absent = {v.kind: v for v in objections(self.world, pod, node)}
        for victim, its_node in removed:
            self.world.add(victim, its_node)
        return [absent[v.kind] for v in present if v.kind in absent]

    def _evictions(self) -> None:
        """Victims leave; each must have had less priority than the pod it made room for."""
        for name, eviction in self.evicted.items():
            victim, winner = self.pods.get(name), self.pods.get(eviction.get("by") or "")
            if victim is None:
                self._report("unknown", name, "", "evicted, but no such pod among the inputs")
            elif winner is not None and victim.priority >= winner.priority:
                text = f"priority {victim.priority} gave way to {winner.key} of {winner.priority}"
                self._report("preemption", name, "", text)
            if name in self.world.where:
                self.world.remove(name)

    def _totals(self) -> None:
        """The end: no node to which this run gave a pod is over anything that the pod asks for."""
        for name, (pod, node) in self.world.where.items():
            if name in self.bound:
                continue
            for resource, asked in pod.request.items():
                used, limit = self.world.used[node.name][resource], node.allocatable.get(resource, 0)
                if asked > 0 and used > limit:
                    text = f"{resource}: {used} in use at the end, {limit} allocatable"
                    self._report("over-allocatable", name, node.name, text)
            self._one_daemon(pod, node)

    def _one_daemon(self, pod: Pod, node: Node) -> None:
        if unpinned_daemon(pod):
            there = self.world.on[node.name].values()
            twins = [
                p
                for p in there
                if unpinned_daemon(p) and (p.namespace, p.owner) == (pod.namespace, pod.owner)
            ]
            if len(twins) > 1:
                self._report("daemon", pod.key, node.name, f"{len(twins)} pods of one DaemonSet on a node")

    def _accounted(self) -> None:
        """Every pod of the inputs is in the answer, and every workload has the pods that it asks for."""
        known = self.world.where.keys() | self.bound.keys() | _named(self.answer)
        for name in self.pods.keys() - known:
            self._report("lost", name, "", "neither placed, pending, evicted, ignored nor rejected")
        for workload, (wanted, named) in self.counts.items():
            if wanted is not None and wanted != named:
                self._report("workload", workload, "", f"asks for {wanted} pods, the answer names {named}")


def _accepted(objects: list[dict], answer: dict) -> list[dict]:
    """The objects without the rejected ones; of several with one name the first counts."""
    first: dict[tuple[str, str], dict] = {}
    repeated = set()
    for o in objects:
        identity = (o["kind"], key(o))
        if identity in first:
            repeated.add(identity)
        first.setdefault(identity, o)
    rejected = {r["object"] for r in answer.get("rejected") or []}

    def refused(o: dict) -> bool:
        names = {f"{o['kind']} {key(o)}", f"{o['kind']} {o['metadata']['name']}"}
        return bool(names & rejected) and (o["kind"], key(o)) not in repeated

    return [o for o in first.values() if not refused(o)]


def _named(answer: dict) -> set[str]:
    """Every pod that the answer mentions as placed, pending, ignored or evicted."""
    parts = ("placements", "pending", "ignored", "evicted")
    return {entry["pod"] for part in parts for entry in answer.get(part) or []}
