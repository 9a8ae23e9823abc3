"""The one way to evict: limits per cycle, then the API; what was done and what was not, and why.

Counting is upstream's: only what the API accepts counts, checks go total, node, namespace, and the limits
hold over all profiles and plugins of a cycle.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from podium.api import Pod
from podium.descheduler.framework import Outcome
from podium.descheduler.ports import Eviction, EvictionRefusedError, Evictions
from podium.descheduler.world import World

#: Texts of upstream's errors, which are also values of the label ``result`` of its metrics.
NODE_LIMIT = "maximum number of evicted pods per node reached"
NAMESPACE_LIMIT = "maximum number of evicted pods per namespace reached"
PLUGIN_LIMIT = "maximum number of evicted pods per node reached for this plugin"
TOTAL_LIMIT = "maximum number of evicted pods per a descheduling cycle reached"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many pods may be evicted in a cycle; None: any number."""

    node: int | None = None
    namespace: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Evicted:
    """A pod that was evicted, where from, and by what; ``destination`` is the planned node, if any."""

    pod: Pod
    plugin: str
    profile: str
    destination: str | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """A pod that a plugin wanted to evict.

    Attributes:
        why: ``pdb``, ``limit``, ``error`` (the API refused otherwise), or a reason of guarded mode.
        message: the full text.

    """

    pod: Pod
    plugin: str
    profile: str
    why: str
    message: str


@dataclass(slots=True)
class Log:
    """What one cycle did."""

    evicted: list[Evicted] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)


@dataclass(slots=True)
class Cuts:
    """Where a cycle ended before its work was done, so that the next one may go on.

    Attributes:
        nodes: from which no more pods could go.
        namespaces: from which no more pods could go.
        everywhere: whether the limit was on all pods.
        pods: single pods, which a budget kept.

    """

    nodes: set[str] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)
    everywhere: bool = False
    pods: list[Pod] = field(default_factory=list)

    def note(self, pod: Pod, outcome: Outcome) -> None:
        """Note a limit that a pod ran into."""
        if outcome is Outcome.TOTAL_LIMIT:
            self.everywhere = True
        elif outcome is Outcome.NODE_LIMIT:
            self.nodes.add(pod.spec.node_name)
        elif outcome is Outcome.NAMESPACE_LIMIT:
            self.namespaces.add(pod.metadata.namespace)


class Guard(Protocol):
    """What stands between a candidate and its eviction in guarded mode."""

    def consider(self, wanted: Evicted) -> Evicted:
        """Plan an eviction and return it with its destination; raises EvictionRefusedError with a reason."""

    def settle(self) -> tuple[Sequence[Evicted], Sequence[tuple[Evicted, EvictionRefusedError]]]:
        """Return the planned evictions that hold together, and those that do not."""

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain."""

    def bound(self, node: str) -> float:
        """Return what no promise of a pod of a node exceeds."""

    def gain(self, wanted: Evicted) -> float | None:
        """Ask the scheduler what moving a pod would gain; None if the plan would not take it."""

    def remember(self, done: Sequence[Evicted], cuts: Cuts) -> None:
        """Learn what was done, and where limits and budgets ended the work."""


class PodEvictor:
    """Shared by all profiles of a descheduler."""

    def __init__(self, api: Evictions, limits: Limits, grace_period_seconds: int | None = None) -> None:
        self._api = api
        self._limits = limits
        self._grace = grace_period_seconds
        self.start_cycle()

    def start_cycle(self, guard: Guard | None = None) -> None:
        """Forget the counts and the log of the last cycle; with a guard, plan first and evict at the end."""
        self.guard = guard
        self.log = Log()
        self.cuts = Cuts()
        self._total = 0
        self._listed: set[str] = set()
        self._per_node: Counter[str] = Counter()
        self._per_namespace: Counter[str] = Counter()

    def evict(self, world: World, wanted: Evicted, reason: str) -> Outcome:
        """Evict one pod if the limits allow.

        A pod that was evicted in this cycle may be so again and counts again, as the API has it; it is listed
        once.
        """
        pod = wanted.pod
        limited = self._limited(pod)
        if limited is not None:
            self.limit(wanted, *limited)
            return limited[0]
        try:
            if self.guard is not None:
                wanted = self.guard.consider(wanted)
            else:
                self._send(wanted, reason)
        except EvictionRefusedError as refusal:
            self.block(wanted, refusal.why, str(refusal))
            # A plan that is full takes nothing more, whoever asks.
            return Outcome.TOTAL_LIMIT if refusal.why == "limit" else Outcome.REFUSED
        self._total += 1
        self._per_namespace[pod.metadata.namespace] += 1
        if pod.spec.node_name:
            self._per_node[pod.spec.node_name] += 1
        if pod.metadata.uid not in self._listed:
            self._listed.add(pod.metadata.uid)
            self.log.evicted.append(wanted)
            world.set_terminating(pod)
        return Outcome.EVICTED

    def _send(self, wanted: Evicted, reason: str) -> None:
        by = f"triggered by {wanted.profile}/{wanted.plugin}: {reason}"
        self._api.evict(Eviction(wanted.pod, by, self._grace))

    def finish(self) -> None:
        """End the cycle: with a guard, the plan that holds is carried out now."""
        if self.guard is None:
            return
        planned, dropped = self.guard.settle()
        done = []
        for wanted in planned:
            try:
                self._send(wanted, f"to {wanted.destination}" if wanted.destination else "")
            except EvictionRefusedError as refusal:
                self.block(wanted, refusal.why, str(refusal))
            else:
                done.append(wanted)
        for wanted, reason in dropped:
            self.block(wanted, reason.why, str(reason))
        self.log.evicted = done
        # A pod that was refused at first may have taken another's place in the plan.
        gone = {wanted.pod.metadata.uid for wanted in done}
        self.log.blocked = [item for item in self.log.blocked if item.pod.metadata.uid not in gone]
        self.guard.remember(done, self.cuts)

    def limit(self, wanted: Evicted, outcome: Outcome, message: str) -> None:
        """Note a pod that a limit keeps."""
        self.cuts.note(wanted.pod, outcome)
        self.block(wanted, "limit", message)

    def block(self, wanted: Evicted, why: str, message: str) -> None:
        """Note a pod that is not evicted."""
        if why == "pdb":
            self.cuts.pods.append(wanted.pod)
        self.log.blocked.append(Blocked(wanted.pod, wanted.plugin, wanted.profile, why, message))

    def _limited(self, pod: Pod) -> tuple[Outcome, str] | None:
        limits, node = self._limits, pod.spec.node_name
        if limits.total is not None and self._total + 1 > limits.total:
            return Outcome.TOTAL_LIMIT, TOTAL_LIMIT
        if node and limits.node is not None and self._per_node[node] + 1 > limits.node:
            return Outcome.NODE_LIMIT, NODE_LIMIT
        namespace = pod.metadata.namespace
        if limits.namespace is not None and self._per_namespace[namespace] + 1 > limits.namespace:
            return Outcome.NAMESPACE_LIMIT, NAMESPACE_LIMIT
        return None


Check = Callable[[Pod], bool]


def _passes(checks: Sequence[Check], pod: Pod) -> bool:
    for check in checks:  # noqa: SIM110 (asked of every pod several times a cycle: twice as fast as all())
        if not check(pod):
            return False
    return True


class ProfileEvictor:
    """The evictor as the plugins of one profile see it.

    ``filters`` and ``pre_eviction_filters`` are filled once the profile's plugins are built: they need the
    evictor, and it needs them.
    """

    def __init__(self, shared: PodEvictor, profile: str, world: Callable[[], World]) -> None:
        self._shared = shared
        self._profile = profile
        self._world = world
        self.filters: Sequence[Check] = ()
        self.pre_eviction_filters: Sequence[Check] = ()

    def filter(self, pod: Pod) -> bool:
        """Ask all ``filter`` plugins."""
        return _passes(self.filters, pod)

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Ask all ``preevictionfilter`` plugins."""
        return _passes(self.pre_eviction_filters, pod)

    @property
    def plans(self) -> bool:
        """Whether evictions are planned first, so that their order may be chosen."""
        return self._shared.guard is not None

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain; 0 where nothing is planned."""
        return self._shared.guard.promise(pod) if self._shared.guard is not None else 0.0

    def bound(self, node: str) -> float:
        """Return what no promise of a pod of a node exceeds; 0 where nothing is planned."""
        return self._shared.guard.bound(node) if self._shared.guard is not None else 0.0

    def gain(self, pod: Pod, plugin: str) -> float | None:
        """Ask the scheduler what moving a pod would gain; None if the plan would not take it."""
        guard = self._shared.guard
        return guard.gain(Evicted(pod, plugin, self._profile)) if guard is not None else None

    def evict(self, pod: Pod, plugin: str, reason: str = "") -> Outcome:
        """Evict a pod, within the limits."""
        return self._shared.evict(self._world(), Evicted(pod, plugin, self._profile), reason)

    def limit(self, pod: Pod, plugin: str) -> None:
        """Note a pod that the plugin's own limit per node keeps."""
        self._shared.limit(Evicted(pod, plugin, self._profile), Outcome.NODE_LIMIT, PLUGIN_LIMIT)
