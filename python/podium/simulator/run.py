"""One simulation: everything pending, scheduled on an in-memory cluster with a virtual clock."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Literal

from podium.api import Node, Object, Pod
from podium.api.gangs import gang_of
from podium.api.manifest import Manifest
from podium.cluster.port import Emit
from podium.cluster.simulated import SECOND, SimulatedCluster
from podium.framework.config import SchedulerConfig
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.report import GangReport, reports
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Attempt, Observer
from podium.scheduler.tenants import TenantShare
from podium.simulator.given_load import GivenLoad, plugins_of

AttemptsWanted = Literal["first", "all", "none"]

#: Above this many pods times nodes the attempts are recorded only on request: asking which nodes are feasible
#: costs a dense pass each.
DETAIL_LIMIT = 1_000_000

#: Rounds of retries without any progress after which nothing more is expected to happen.
_FUTILE_ROUNDS = 12

#: Results of attempts that ended with a node.
_PLACED = frozenset({"scheduled", "waiting"})

#: Cycles between two reports of progress.
_SLICE = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a simulation does beside its configuration.

    Attributes:
        until: stop at this virtual time in nanoseconds; None: when nothing more can happen.
        attempts: which attempts to record; None: the first of each pod where that is cheap.
        progress: called with the number of pods that have a node or were tried.

    """

    until: int | None = None
    attempts: AttemptsWanted | None = None
    progress: Callable[[int], None] | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod that was bound in this run."""

    pod: str
    node: str
    at: float


@dataclass(frozen=True, slots=True)
class Pending:
    """A pod that has no node at the end."""

    pod: str
    message: str
    nominated: str | None
    victims: Sequence[str]


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One scheduling cycle."""

    pod: str
    turn: int
    at: float
    result: str
    node: str | None
    feasible: Sequence[str]
    message: str
    nominated: str | None
    victims: Sequence[str]


@dataclass(slots=True)
class Simulation:
    """How a simulation ended."""

    placements: list[Placement] = field(default_factory=list)
    pending: list[Pending] = field(default_factory=list)
    attempts: list[AttemptRecord] = field(default_factory=list)
    evicted: list[tuple[str, str]] = field(default_factory=list)
    """Victim and the pod it made room for."""
    ignored: list[tuple[str, str]] = field(default_factory=list)
    """Pod and why it was not tried: ``gated`` or ``foreign``."""
    events: list[Emit] = field(default_factory=list)
    nodes: int = 0
    pods: int = 0
    tries: int = 0
    seconds: float = 0.0
    utilisation: dict[str, float] = field(default_factory=dict)
    withdrawn: list[tuple[str, str]] = field(default_factory=list)
    """Member of a gang that could not be completed, and the gang."""
    gangs: Sequence[GangReport] = ()
    tenants: list[TenantShare] = field(default_factory=list)
    """Whoever takes turns, at the end; empty where priority alone orders the queue."""


class _Recorder(Observer):
    """Notes placements and, where wanted, attempts."""

    def __init__(self, clock: Callable[[], int], wanted: AttemptsWanted) -> None:
        self.detailed = wanted != "none"
        self._clock = clock
        self._all = wanted == "all"
        self._seen: set[int] = set()
        self.turn = 0
        self.placements: list[tuple[Entry, str, int]] = []
        self.attempts: list[AttemptRecord] = []

    def attempted(self, attempt: Attempt) -> None:
        self.turn += attempt.result not in _PLACED
        if not self.detailed:
            return
        handle = attempt.entry.handle
        if handle in self._seen and not self._all:
            return
        self._seen.add(handle)
        turn = self.turn + (attempt.result in _PLACED)
        self.attempts.append(
            AttemptRecord(
                pod=name_of(attempt.entry.pod),
                turn=turn,
                at=self._clock() / SECOND,
                result=attempt.result,
                node=attempt.node,
                feasible=attempt.feasible or (),
                message=attempt.message,
                nominated=attempt.nominated,
                victims=[name_of(victim.pod) for victim in attempt.victims],
            )
        )

    def placed(self, entries: Sequence[Entry], nodes: Sequence[str]) -> None:  # noqa: ARG002 (contract)
        self.turn += len(entries)

    def bound(self, entries: Sequence[Entry]) -> None:
        now = self._clock()
        self.placements += [(entry, entry.node or "", now) for entry in entries]


def name_of(pod: Pod) -> str:
    """Return "ns/name"."""
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def simulate(manifest: Manifest, config: SchedulerConfig, options: Options | None = None) -> Simulation:
    """Schedule everything that is pending in a manifest, in queue order.

    Args:
        manifest: the cluster; pods with a node are bound, the rest pending.
        config: the scheduler's configuration.
        options: see there.

    """
    options = options or Options()
    bound, pending = bound_and_pending(manifest)
    wanted = options.attempts
    if wanted is None:
        nodes = len(manifest.of(Node))
        wanted = "first" if len(pending) * nodes <= DETAIL_LIMIT else "none"
    cluster = SimulatedCluster()
    recorder = _Recorder(cluster.now, wanted)
    scheduler = Scheduler(config, recorder)
    started = perf_counter()
    cluster.apply(all_but_pods(manifest))
    cluster.apply(bound)
    cluster.apply(pending)
    if plugins_of(scheduler):
        cluster.perform(scheduler.step(cluster.events(), cluster.now(), 0))
        GivenLoad.of(manifest).tell(scheduler)
    drive(cluster, scheduler, options)
    seconds = perf_counter() - started
    return _result(cluster, scheduler, recorder, seconds)


def bound_and_pending(manifest: Manifest) -> tuple[list[Pod], list[Pod]]:
    """Return the pods that have a node, and the others by age."""
    pods = manifest.of(Pod)
    bound = [pod for pod in pods if pod.spec.node_name]
    return bound, sorted((pod for pod in pods if not pod.spec.node_name), key=_age)


def _age(pod: Pod) -> tuple[bool, float]:
    """Order pods as their creation times do; those without one are the youngest, in input order."""
    created = pod.metadata.creation_timestamp
    return (not created, datetime.fromisoformat(created).timestamp() if created else 0.0)


def all_but_pods(manifest: Manifest) -> Iterable[Object]:
    """Return what is no pod, nodes first: everything else refers to them."""
    yield from manifest.of(Node)
    for loaded in manifest:
        if type(loaded.item) not in {Pod, Node}:
            yield loaded.item


def drive(cluster: SimulatedCluster, scheduler: Scheduler, options: Options) -> None:
    """Run until nothing more can happen or time is up."""
    futile = 0
    tried = 0
    while True:
        before = scheduler.tries
        actions = scheduler.step(cluster.events(), cluster.now(), _SLICE)
        cluster.perform(actions)
        tried += scheduler.tries - before
        if options.progress is not None:
            options.progress(tried)
        if actions or scheduler.tries != before:
            continue
        happens, retries = cluster.next_time(), scheduler.next_retry()
        futile = 0 if happens is not None else futile + 1
        due = [time for time in (happens, retries) if time is not None]
        if not due or futile > _FUTILE_ROUNDS:
            return
        if options.until is not None and min(due) > options.until:
            return
        cluster.advance(min(due))


def _result(
    cluster: SimulatedCluster, scheduler: Scheduler, recorder: _Recorder, seconds: float
) -> Simulation:
    result = Simulation(nodes=len(scheduler.state.nodes), seconds=seconds, tries=scheduler.tries)
    entries = list(scheduler.state.entries())
    result.placements = [
        Placement(name_of(entry.pod), node, at / SECOND) for entry, node, at in recorder.placements
    ]
    held = scheduler.state.gates.held
    waiting = (e for e in entries if e.node is None and e.pod.metadata.uid not in held)
    result.pending = [_pending(entry, scheduler) for entry in waiting]
    result.pending += [
        Pending(name_of(each.entry.pod), each.why, None, ()) for each in held.values() if each.by
    ]
    result.attempts = recorder.attempts
    result.evicted = [(name_of(a.victim), name_of(a.by)) for a in cluster.evicted]
    result.ignored = [(name_of(each.entry.pod), "gated") for each in held.values() if not each.by]
    result.ignored += [(name_of(pod), "foreign") for pod in scheduler.state.foreign.values()]
    result.events = cluster.emitted
    result.pods = len(result.placements) + len(result.pending)
    result.withdrawn = [(name_of(a.pod), _gang_name(a.pod, scheduler)) for a in cluster.withdrawn]
    result.gangs = reports(scheduler.gangs)
    if scheduler.tenants is not None:
        result.tenants = scheduler.tenants.report(scheduler.state.pods())
    result.utilisation = {
        name: requested / allocatable
        for name, (allocatable, requested) in scheduler.engine.totals().items()
        if allocatable > 0
    }
    return result


def _gang_name(pod: Pod, scheduler: Scheduler) -> str:
    key = gang_of(pod, scheduler.config.podium.gangs.label)
    return name_of(pod) if key is None else str(key)


def _pending(entry: Entry, scheduler: Scheduler) -> Pending:
    message = entry.message or "not tried before the end"
    nominated = scheduler.engine.nominated(entry.handle)
    return Pending(name_of(entry.pod), message, nominated, entry.victims)
