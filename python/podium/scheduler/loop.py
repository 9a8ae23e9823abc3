"""The scheduler as a step function: events in, actions out, never waiting.

One call of :meth:`Scheduler.step` applies what happened, then runs scheduling cycles until the queue has
nothing to try, the limit is reached, or as many bindings are under way as may be. The cycle of one pod is
pop → filter → score → pick → reserve (in the core), and on failure preempt → put back. How calls are sliced
changes nothing.
"""

from collections.abc import Callable, Iterable, Sequence

from podium._core import Batch, Decision, Engine, Eviction
from podium.api import Pod
from podium.api.documented import documented
from podium.cluster.extender import ExtenderClient
from podium.cluster.port import (
    Action,
    Applied,
    Bound,
    Event,
    Preempt,
    Removed,
    Returned,
)
from podium.collector import collector_paused
from podium.errors import PluginError
from podium.framework.config import SchedulerConfig
from podium.framework.config.v1 import Extender
from podium.framework.events import Action as What
from podium.framework.events import ClusterEvent, Resource
from podium.framework.metrics import FrameworkMetrics
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.framework.status import SUCCESS
from podium.scheduler.binding import Assumed, Binder
from podium.scheduler.columns import CustomColumns
from podium.scheduler.cycle import Cycle, Unexpected
from podium.scheduler.events import bit, bits
from podium.scheduler.extenders import Client, with_extenders
from podium.scheduler.failures import Failures, Refusal
from podium.scheduler.fit import Misfit, Statuses
from podium.scheduler.gangs.arranging import Arranger
from podium.scheduler.gangs.cycle import NOBODY, Feasible, GangCycle
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import GROUP, Group
from podium.scheduler.gangs.one_by_one import OneByOne
from podium.scheduler.gangs.room import RoomMaker
from podium.scheduler.gangs.seats import Outcome, Seats
from podium.scheduler.handle import Services
from podium.scheduler.hinting import Hints
from podium.scheduler.inbox import Inbox
from podium.scheduler.nodes import NodeFacts
from podium.scheduler.observer import Attempt, Observer
from podium.scheduler.preemption import Failed, Preemption
from podium.scheduler.profiles import DEFAULT_PREEMPTION, Profiles
from podium.scheduler.queue_order import QueueOrder
from podium.scheduler.registrations import NATIVE_EVENTS
from podium.scheduler.relief import Bindings, Relief
from podium.scheduler.state import Concern, Entry, State
from podium.scheduler.tenants import Tenants

SECOND = 1_000_000_000

#: Parked pods are tried again after this long even if nothing happened (kube-scheduler's
#: ``--pod-max-in-unschedulable-pods-duration``).
MAX_PARKED = 300 * SECOND

#: What to make of most pods.
_CONCERN = Concern()

#: Pods tried by one call into the core, so that a call stays short.
_BATCH = 2048


class Scheduler:
    """All profiles of one configuration on one snapshot and one queue."""

    def __init__(
        self,
        config: SchedulerConfig,
        observer: Observer | None = None,
        metrics: FrameworkMetrics | None = None,
        extender: Callable[[Extender], Client] = ExtenderClient,
    ) -> None:
        self.config = config
        expanded, extenders = with_extenders(config, extender)
        self._profiled = expanded.profiles
        self.observer = observer or Observer()
        settings = config.podium
        self.engine = Engine(
            choose=settings.choose, seed=settings.seed, sample=settings.sampling == "upstream"
        )
        self.engine.set_backoff(
            config.pod_initial_backoff_seconds * SECOND, config.pod_max_backoff_seconds * SECOND
        )
        for profile in self._profiled:
            self.engine.add_profile(profile.native_json())
        self._bits: dict[str, int] = {}
        self.engine.set_pod_events(
            bit(Resource.ASSIGNED_POD, What.ADD), bit(Resource.ASSIGNED_POD, What.DELETE)
        )
        self.tenants = Tenants(self.engine, settings.tenants, settings.gangs) if self._is_fair() else None
        self.state = State(self.engine, self._concern, self.tenants)
        self.relief = None
        if self.tenants is not None:
            self.relief = Relief(self.state, self.tenants, settings.tenants)
        self._observers = [self.observer]
        self.failures = Failures(self.engine, self.observer, self._bits)
        self.inbox = Inbox()
        self.binder = Binder(self.engine, self.state, self.failures, self._observers, self.inbox)
        if self.relief is not None and settings.tenants.reclaim.enabled:
            self.follow(Bindings(self.binder.waiting))
        self.state.follower = self.binder
        columns = self._columns = CustomColumns()
        facts = NodeFacts(self.engine, self.state.nodes, columns)
        services = Services(self.state, facts, self.binder.waiting, self.inbox, columns)
        self._preemption = Preemption(services)
        self.profiles = Profiles(
            expanded, services, {DEFAULT_PREEMPTION: self._preemption}, extenders, metrics
        )
        if metrics is not None:
            self.binder.watch_waits(metrics.waited)
        self._register()
        if self.profiles:
            self.state.classify = self.profiles.classify
            hints = Hints(self.engine, self.state, self.profiles, self._bits)
            if hints:
                self.state.spared = hints.spared
        self._cycle = Cycle(
            self.engine, services, self.binder, self.observer, settings.sampling == "upstream"
        )
        self._order_queue()
        self._responsible = frozenset(profile.scheduler_name for profile in config.profiles)
        self.gangs, self._gang_cycle = self._make_gangs()
        self._cycle.placed = self.gangs.given_nodes
        self._seats = Seats(self.engine, self._cycle, self.profiles)
        arranger = Arranger(self._seats)
        self._one_by_one = OneByOne(self._seats, arranger)
        if self.profiles:
            self._gang_cycle.room = RoomMaker(arranger, settings.gangs.respect_pdb == "always")
        self._preempting = False
        self.tries = 0
        """Scheduling cycles so far."""

    def _order_queue(self) -> None:
        """Let a Python plugin put the queue in order, if one is configured."""
        less = self.profiles.less()
        if less is None:
            return
        (name,) = self.config.profiles[0].names("queueSort")
        if any("Gang" in profile.names("permit") for profile in self.config.profiles):
            text = f'plugin "{name}": a queueSort plugin written in Python orders single pods, not gangs'
            raise PluginError(f"{text}: disable the plugin Gang in every profile, or use PrioritySort or DRF")
        order = QueueOrder(self.engine, less)
        self.state.order, self.failures.returning = order, order.returned
        self._observers.append(order)

    def _make_gangs(self) -> tuple[Gangs, GangCycle]:
        profiles, settings = self.config.profiles, self.config.podium.gangs
        aware = {p.scheduler_name for p in profiles if "Gang" in p.names("permit")}
        preempting = {p.scheduler_name for p in profiles if "DefaultPreemption" in p.names("postFilter")}
        gangs = Gangs(
            self.engine,
            settings,
            self.binder.waiting,
            requeue=self.failures.requeue_at,
            tenants=self.tenants,
        )
        if aware:
            self.state.gangs = gangs.members(aware.__contains__)
            self._observers.append(gangs)
        if self.tenants is not None:
            self.tenants.groups = gangs.turns.queued
        cycle = GangCycle(self.engine, self.state, gangs, self.failures, settings, frozenset(preempting))
        cycle.relief = self.relief
        return gangs, cycle

    def _register(self) -> None:
        """Give every plugin that can reject a pod its bit in the queue's sets."""
        names = dict.fromkeys(
            name
            for profile in self._profiled
            for point in ("preEnqueue", "preFilter", "filter", "reserve", "permit")
            for name in profile.names(point)
        )
        if self._is_fair():
            names["DRF"] = None
        everything = (ClusterEvent(Resource.WILDCARD, What.ALL),)
        registered = self.state.registered = {}
        self.state.plugin_bits = self._bits
        own = self.profiles.events()
        for name in names:
            events = own.get(name) or NATIVE_EVENTS.get(name, () if name in own else everything)
            mask = bits(events)
            self._bits[name] = 1 << self.engine.register_plugin(name, mask)
            if name in own:
                registered[name] = mask

    def _is_fair(self) -> bool:
        """Whether tenants take turns; all profiles have the same queueSort plugin."""
        return self.config.profiles[0].names("queueSort") == ["DRF"]

    def _concern(self, pod: Pod) -> Concern:
        if pod.spec.scheduler_name not in self._responsible:
            return Concern(foreign=True)
        if pod.spec.scheduling_gates:
            gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
            return Concern(held=f"waiting for scheduling gates: [{gates}]")
        plugins = self.profiles.of(pod)
        if plugins is None or not plugins.gates:
            return _CONCERN
        concerned = self.profiles.class_of(plugins, pod).concerned
        status = plugins.runner.pre_enqueue(pod, concerned, self.state.gated_by(pod.metadata.uid))
        if status is SUCCESS or status.is_success:
            return _CONCERN
        return Concern(held=status.message, by=status.plugin)

    def step(self, events: Iterable[Event], now: int, limit: int | None = None) -> list[Action]:
        """Apply events and run up to ``limit`` scheduling cycles (None: as many as there are to run).

        Args:
            events: what happened since the last call, in order.
            now: the time in nanoseconds; must not go backwards.
            limit: the most cycles to run.

        Returns:
            What the backend is to do, in order.

        """
        # What a step makes lives as long as its pods do.
        with collector_paused():
            return self._step(events, now, limit)

    def _step(self, events: Iterable[Event], now: int, limit: int | None) -> list[Action]:
        actions: list[Action] = []
        self.binder.waiting.now = self.inbox.now = now
        self._apply(events, now, actions)
        self.gangs.tick(now)
        self.engine.flush_queue(now, MAX_PARKED)
        left = limit if limit is not None else -1
        while True:
            self._take_requests(now, actions)
            self.gangs.settle(now)
            room = self._max_binds - self.binder.in_flight
            if left == 0 or room <= 0:
                break
            done = self._cycles(min(room, left if left > 0 else _BATCH, _BATCH), now, actions)
            if done == 0:
                # All minimums have had their turn.
                if self.gangs.turns.release_surplus(now):
                    continue
                break
            if self._preempting:
                # Victims may leave at once: what comes of it must not depend on how calls are sliced.
                self._preempting = False
                self.tries += done
                break
            self.tries += done
            left -= min(done, left) if left > 0 else 0
        self.gangs.settle(now)
        actions += self.gangs.outbox
        self.gangs.outbox.clear()
        return actions

    @property
    def _max_binds(self) -> int:
        return self.config.podium.max_binds_in_flight

    def next_due(self) -> int | None:
        """Return when a pod is due without anything happening, None if none ever is."""
        return _earliest(
            self.engine.next_due(MAX_PARKED), self.binder.waiting.next_time(), self.gangs.next_time()
        )

    def next_retry(self) -> int | None:
        """Return when the next backoff, or the next wait in Permit, ends; None if there is none."""
        return _earliest(self.engine.next_retry(), self.binder.waiting.next_time(), self.gangs.next_time())

    def follow(self, observer: Observer) -> None:
        """Let another observer hear of bindings and roll-backs."""
        self._observers.append(observer)

    def _take_requests(self, now: int, actions: list[Action]) -> None:
        """Apply what came from plugins and other threads, in order of arrival."""
        self.gangs.permits.permit()
        self.binder.take_decisions(now, actions)
        changed = self._columns.take_changed()
        if changed:
            rows = (self.engine.row(name) for name in changed)
            self.engine.touch([row for row in rows if row is not None])
        uids, events = self.inbox.take()
        for uid in uids:
            entry = self.state.entry(uid)
            if entry is not None:
                self.engine.activate(entry.handle)
        actions += events

    def _apply(self, events: Iterable[Event], now: int, actions: list[Action]) -> None:
        objects: list[Event] = []
        strict = self.config.podium.strict
        binder = self.binder
        for event in events:
            if isinstance(event, Applied):
                objects.append(Applied(documented(event.object)) if strict else event)
                continue
            if isinstance(event, Removed):
                objects.append(event)
                continue
            if objects:
                self.state.apply(objects, now)
                objects.clear()
            if isinstance(event, Returned):
                binder.returned(event, now, actions)
            elif isinstance(event, Bound):
                binder.bound(event.uids, actions)
            else:
                binder.bind_failed(event.uid, event.message, now, actions)
        self.state.apply(objects, now)

    def _cycles(self, limit: int, now: int, actions: list[Action]) -> int:
        """Run up to ``limit`` cycles; returns how many."""
        if self.observer.detailed:
            return self._detailed_cycle(now, actions)
        batch = self._batch(limit, now)
        placed = len(batch)
        if placed:
            if self.observer.timing:
                self.observer.timed(batch.nanos)
            self._begin_binding(batch, now, actions)
        if batch.stopped is None:
            return placed
        if batch.stopped & GROUP:
            self._gang_stopped(batch, now, actions)
            return placed + 1
        entry = self.state.by_handle(batch.stopped)
        if batch.decision is not None:
            self._failed(entry, batch.decision, now, actions)
        elif batch.assumed is not None:
            self._go_on(entry, batch.assumed, now, actions)
        else:
            self._python_cycle(entry, now, actions)
        return placed + 1

    def _batch(self, limit: int, now: int) -> Batch:
        """Let the core run cycles, and tell it what Python plugins say of the nodes that it asks about.

        A batch ends after the pod for which a plugin made a request: that is heard before the next cycle.
        """
        batch = self.engine.run_batch(limit, now, self.observer.timing)
        while batch.asks is not None:
            assert batch.stopped is not None, "a batch asks for a pod"
            entry = self.state.by_handle(batch.stopped)
            plugins = self.profiles.of(entry.pod)
            assert plugins is not None, "only profiles with Python plugins ask"
            answers = self.profiles.remembered.ask(entry, plugins.runner, batch.asks)
            if answers is None:
                break
            heard = self.inbox or self.binder.waiting.decided or self._columns
            more = self.engine.resume(batch, *answers, len(batch) + 1 if heard else limit, now)
            if more is None:
                break
            batch = more
        return batch

    def _go_on(self, entry: Entry, row: int, now: int, actions: list[Action]) -> None:
        """Take a pod from the node that the core has found for it to the binding cycle."""
        plugins = self.profiles.of(entry.pod)
        assert plugins is not None, "only profiles with Python plugins go on"
        state = CycleState(concerned=entry.concerned)
        assumed = Assumed(entry, self.engine.node_name(row), plugins.runner, state)
        self._cycle.go_on(assumed, now, actions)

    def _python_cycle(self, entry: Entry, now: int, actions: list[Action]) -> None:
        """Run the cycle of a popped pod that Python plugins concern."""
        plugins = self.profiles.of(entry.pod)
        assert plugins is not None, "only profiles with Python plugins need the caller"
        if plugins.gates and self.engine.attempts(entry.handle) > 1:
            gate = plugins.runner.pre_enqueue(entry.pod, entry.concerned)
            if not gate.is_success:
                refusal = Refusal("unschedulable", gate.message, (gate.plugin,))
                self.failures.requeue(entry, refusal, now)
                return
        failed = self._cycle.run(entry, plugins.runner, now, actions)
        if failed is None:
            return
        state, why = failed
        if isinstance(why, Unexpected):
            self.failures.put_back(entry, Refusal("error", why.message), now, actions)
            return
        attempt = self._post_filter(entry, plugins.runner, state, why, actions)
        self.failures.record(attempt, actions)
        self.failures.requeue(entry, Refusal("unschedulable", attempt.message, why.plugins), now)

    def _post_filter(
        self, entry: Entry, runner: Runner, state: CycleState, why: Misfit, actions: list[Action]
    ) -> Attempt:
        """Ask the PostFilter plugins to make room, the native one in its place among them."""
        plugins = self.profiles.of(entry.pod)
        extenders = plugins.extenders if plugins is not None else ()
        self._preemption.failed = Failed(entry, runner, why, extenders)
        self._preemption.eviction = None
        statuses = Statuses(self.engine, entry.handle, self._preemption.services.facts, why)
        result = runner.post_filter(state, entry.pod, statuses)
        self._preemption.failed = None
        eviction = self._preemption.eviction
        text = result.status.message
        if eviction is not None and result.status.is_success:
            text = eviction.message
        message = f"{why.message} {text}" if text else why.message
        victims: list[Entry] = []
        if result.nominated_node:
            self.engine.nominate(entry.handle, result.nominated_node)
            if eviction is not None and eviction.row is not None:
                victims = self._evict(entry, eviction, result.nominated_node, actions)
        elif result.nominated_node == "":
            self.engine.nominate(entry.handle, None)
        return Attempt(
            entry,
            "unschedulable",
            message=message,
            nominated=self.engine.nominated(entry.handle),
            victims=victims,
            feasible=self._cycle.feasible,
        )

    def _evict(self, entry: Entry, eviction: Eviction, node: str, actions: list[Action]) -> list[Entry]:
        victims = self.state.by_handles(eviction.victims)
        for victim in victims:
            held = self.binder.waiting.get(victim.pod.metadata.uid)
            if held is not None:
                # It has no more than a place in the snapshot: there is nothing to delete.
                held.preempt(DEFAULT_PREEMPTION, "preempted")
            elif not victim.pod.metadata.deletion_timestamp:
                actions.append(Preempt(victim.pod, entry.pod, node))
        self._preempting = True
        return victims

    def _detailed_cycle(self, now: int, actions: list[Action]) -> int:
        """Run one cycle, asking before it which nodes are feasible."""
        handle = self.engine.pop()
        if handle is None:
            return 0
        if handle & GROUP:
            return self._detailed_gang_cycle(handle, now, actions)
        entry = self.state.by_handle(handle)
        if entry.concerned:
            self._python_cycle(entry, now, actions)
            return 1
        feasible = self.engine.feasible(handle)
        batch = self.engine.run_popped(handle, now)
        if batch.stopped is None:
            node = self.engine.node_name(int(batch.rows[0]))
            self.observer.attempted(Attempt(entry, "scheduled", node=node, feasible=feasible))
            self._begin_binding(batch, now, actions)
        else:
            assert batch.decision is not None, "native profiles decide in the core"
            self._failed(entry, batch.decision, now, actions, feasible)
        return 1

    def _detailed_gang_cycle(self, handle: int, now: int, actions: list[Action]) -> int:
        """Run the cycle of a gang, asking before it which nodes are feasible for each member alone."""
        pending = list(self.gangs.by_handle(handle).pending())
        feasible = {entry.pod.metadata.uid: self.engine.feasible(entry.handle) for entry in pending}
        batch = self.engine.run_popped(handle, now)
        rows = [*zip(batch.pods.tolist(), batch.rows.tolist(), strict=True), *batch.kept]
        for at, (pod, row) in enumerate(rows):
            entry, node = self.state.by_handle(pod), self.engine.node_name(row)
            alone = feasible.get(entry.pod.metadata.uid)
            attempt = Attempt(entry, "scheduled", node=node, feasible=alone, together=at > 0)
            self.observer.attempted(attempt)
        if batch.stopped is None:
            self._begin_binding(batch, now, actions)
        else:
            self._gang_stopped(batch, now, actions, feasible)
        return max(1, len(batch.pods))

    def _gang_stopped(
        self, batch: Batch, now: int, actions: list[Action], feasible: Feasible = NOBODY
    ) -> None:
        """Bind the members that were kept, and say why the others have no places."""
        if batch.decision is None and batch.shortage is None:
            self._python_gang_cycle(self.gangs.by_handle(batch.stopped or 0), now, actions)
            return
        if batch.kept:
            pods, rows = zip(*batch.kept, strict=True)
            self._bind_placed(pods, rows, now, actions)
        self._preempting |= self._gang_cycle.failed(batch, now, actions, feasible)

    def _python_gang_cycle(self, group: Group, now: int, actions: list[Action]) -> None:
        """Run the cycle of a popped gang with a member that Python plugins concern."""
        outcome, fitting = self._one_by_one.place(group)
        if outcome.placed:
            self._permit_together(group, outcome, now, actions)
        if outcome.refused is not None:
            self._preempting |= self._gang_cycle.refused(group, outcome, fitting, now, actions)

    def _permit_together(self, group: Group, outcome: Outcome, now: int, actions: list[Action]) -> None:
        """Hold placed members in Permit until nothing else holds one; a refusal takes all of them back."""
        hold, placed = self.gangs.permits.wait_of(group), outcome.placed
        self.gangs.given_nodes([each.entry for each in placed], held=True)
        for at, assumed in enumerate(placed):
            if not self._one_by_one.permit(outcome, assumed, hold, now, actions):
                self._seats.undo(placed[at:])
                for earlier in reversed(placed[:at]):
                    if self.binder.of(earlier.entry.pod.metadata.uid) is earlier:
                        self.binder.take_back(earlier)
                self.gangs.permits.turned_away(group, [each.entry for each in placed])
                return
        self.observer.placed([each.entry for each in placed], [each.node for each in placed])
        if self.observer.detailed:
            self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        result = "waiting" if outcome.waits else "scheduled"
        for at, assumed in enumerate(outcome.placed):
            entry = assumed.entry
            feasible = outcome.feasible.get(entry.pod.metadata.uid)
            attempt = Attempt(entry, result, node=assumed.node, feasible=feasible, together=at > 0)
            self.observer.attempted(attempt)

    def _begin_binding(self, batch: Batch, now: int, actions: list[Action]) -> None:
        self._bind_placed(batch.pods.tolist(), batch.rows.tolist(), now, actions)

    def _bind_placed(
        self, handles: Sequence[int], rows: Sequence[int], now: int, actions: list[Action]
    ) -> None:
        entries = self.state.by_handles(handles)
        nodes = self.state.names_of(rows)
        self.observer.placed(entries, nodes)
        self.gangs.given_nodes(entries)
        self._gang_cycle.reservation.started(entries, now)
        if not self.profiles:
            self.binder.begin_plain(entries, nodes, actions)
            return
        plain: list[tuple[Entry, str]] = []
        for entry, node in zip(entries, nodes, strict=True):
            if not entry.concerned:
                plain.append((entry, node))
                continue
            plugins = self.profiles.of(entry.pod)
            if plugins is None or not plugins.binds(entry.concerned):
                plain.append((entry, node))
                continue
            self._begin_plain(plain, actions)
            state = CycleState(concerned=entry.concerned)
            self.binder.begin(Assumed(entry, node, plugins.runner, state), now, actions)
        self._begin_plain(plain, actions)

    def _begin_plain(self, plain: list[tuple[Entry, str]], actions: list[Action]) -> None:
        """Bind pods that are a matter of the core alone, and empty the list."""
        if plain:
            self.binder.begin_plain([entry for entry, _ in plain], [node for _, node in plain], actions)
            plain.clear()

    def _failed(
        self,
        entry: Entry,
        decision: Decision,
        now: int,
        actions: list[Action],
        feasible: Sequence[str] | None = None,
    ) -> None:
        if self._fills_a_gap(entry, now, actions):
            return
        if decision.result == "failed":
            attempt = Attempt(entry, "error", message=decision.message, feasible=feasible)
            refusal = Refusal("error", decision.message)
            self.engine.nominate(entry.handle, None)
        else:
            attempt = self._unschedulable(entry, decision, feasible, now, actions)
            refusal = Refusal("unschedulable", attempt.message, tuple(decision.plugins))
        self.failures.record(attempt, actions)
        self.failures.requeue(entry, refusal, now)

    def _unschedulable(
        self,
        entry: Entry,
        decision: Decision,
        feasible: Sequence[str] | None,
        now: int,
        actions: list[Action],
    ) -> Attempt:
        """Make room by priority, else as fair shares do."""
        relief = self.relief
        if relief is not None and relief.awaits(entry):
            nominated = self.engine.nominated(entry.handle)
            message = f"{decision.message} reclaim: waiting for pods to leave {nominated}."
            return Attempt(entry, "unschedulable", message=message, nominated=nominated, feasible=feasible)
        attempt = self._preempt(entry, decision, feasible, actions)
        if relief is None or attempt.nominated is not None or "DRF" in decision.plugins:
            return attempt
        attempt = relief.give(attempt, now, actions)
        self._preempting |= bool(attempt.victims)
        return attempt

    def _fills_a_gap(self, entry: Entry, now: int, actions: list[Action]) -> bool:
        """Place a pod where room is held for a gang that will not need it before the pod ends."""
        group = self._gang_cycle.reservation.gap_for(entry, now)
        row = None if group is None else self.engine.fill_gap(entry.handle, group.handle)
        if row is None:
            return False
        self.engine.settle(entry.handle)
        self._bind_placed([entry.handle], [row], now, actions)
        return True

    def _preempt(
        self,
        entry: Entry,
        decision: Decision,
        feasible: Sequence[str] | None,
        actions: list[Action],
    ) -> Attempt:
        """PostFilter: make room if evicting pods can, and say what came of it."""
        message = decision.message
        if entry.group is not None:
            # A member beyond its gang's minimum takes what is free, it evicts nobody.
            return Attempt(entry, "unschedulable", message=message, feasible=feasible)
        eviction = self.engine.preempt(entry.handle, self.engine.attempts(entry.handle))
        if eviction is None:
            return Attempt(entry, "unschedulable", message=message, feasible=feasible)
        if eviction.message:
            message = f"{message} {eviction.message}"
        nominated: str | None = self.engine.nominated(entry.handle)
        victims: list[Entry] = []
        if eviction.row is not None:
            nominated = self.engine.node_name(eviction.row)
            self.engine.nominate(entry.handle, nominated)
            victims = self._evict(entry, eviction, nominated, actions)
        elif eviction.result == "helpless":
            nominated = None
            self.engine.nominate(entry.handle, None)
        return Attempt(
            entry,
            "unschedulable",
            message=message,
            nominated=nominated,
            victims=victims,
            feasible=feasible,
        )


def _earliest(*times: int | None) -> int | None:
    return min((time for time in times if time is not None), default=None)
