"""The scheduler as a step function: events in, actions out, never waiting.

One call of :meth:`Scheduler.step` applies what happened, then runs scheduling cycles until the queue has
nothing to try, the limit is reached, or as many bindings are under way as may be. The cycle of one pod is
pop → filter → score → pick → reserve (in the core), and on failure preempt → put back. How calls are sliced
changes nothing.

The core runs cycles in batches. What it leaves to Python ends in ``single`` or ``gangs.stopped``; what it has
placed goes by ``placements`` to the binding cycle (``binding``).
"""

from collections.abc import Callable, Iterable

from podium.cluster.extender import ExtenderClient
from podium.cluster.port import Action, Event
from podium.collector import collector_paused
from podium.framework.config import SchedulerConfig
from podium.framework.config.v1 import Extender
from podium.framework.metrics import FrameworkMetrics
from podium.scheduler import assembly
from podium.scheduler.batches import Batches
from podium.scheduler.binding import Binder
from podium.scheduler.columns import CustomColumns
from podium.scheduler.cycle import Cycle
from podium.scheduler.detailed import DetailedCycles
from podium.scheduler.extenders import Client, with_extenders
from podium.scheduler.failures import Failures
from podium.scheduler.gangs.arranging import Arranger
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import GROUP
from podium.scheduler.gangs.one_by_one import OneByOne
from podium.scheduler.gangs.room import RoomMaker
from podium.scheduler.gangs.seats import Seats
from podium.scheduler.gangs.stopped import StoppedGangs, no_time
from podium.scheduler.gates import Gates
from podium.scheduler.handle import Services
from podium.scheduler.hinting import Hints
from podium.scheduler.inbox import Inbox
from podium.scheduler.incoming import Incoming
from podium.scheduler.nodes import NodeFacts
from podium.scheduler.observer import Observer
from podium.scheduler.placements import Placements
from podium.scheduler.post_filter import PostFilter
from podium.scheduler.preemption import Preemption
from podium.scheduler.profiles import DEFAULT_PREEMPTION, Profiles
from podium.scheduler.relief import Bindings, Relief
from podium.scheduler.single import SingleTurns
from podium.scheduler.state import State
from podium.scheduler.tenants import Tenants

#: Parked pods are tried again after this long even if nothing happened (kube-scheduler's
#: ``--pod-max-in-unschedulable-pods-duration``).
MAX_PARKED = 300 * 1_000_000_000

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
        self.observer = observer or Observer()
        self._observers = [self.observer]
        self._timer = metrics.timer if metrics is not None else no_time
        self.tries = 0
        """Scheduling cycles so far."""
        expanded, extenders = with_extenders(config, extender)
        settings, fair = config.podium, assembly.is_fair(config)
        self.engine = assembly.make_engine(config, expanded.profiles)
        self.tenants = Tenants(self.engine, settings.tenants, settings.gangs) if fair else None
        gates = Gates(self.engine, config)
        self.state = State(self.engine, gates, self.tenants)
        numbers: dict[str, int] = {}
        self.state.plugin_bits = numbers
        self.failures = Failures(self.engine, self.observer, numbers)
        self.inbox = Inbox()
        self.binder = Binder(self.engine, self.state, self.failures, self._observers, self.inbox)
        self.state.follower = self.binder
        self.relief = None
        if self.tenants is not None:
            self.relief = Relief(self.state, self.tenants, settings.tenants)
        if settings.tenants.reclaim.enabled or settings.gangs.backfill != "none":
            self.follow(Bindings(self.binder.waiting))
        self._columns = CustomColumns()
        facts = NodeFacts(self.engine, self.state.nodes, self._columns)
        services = Services(self.state, facts, self.binder.waiting, self.inbox, self._columns)
        preemption = Preemption(services)
        self.profiles = Profiles(expanded, services, {DEFAULT_PREEMPTION: preemption}, extenders, metrics)
        gates.attend(self.profiles)
        if metrics is not None:
            self.binder.watch_waits(metrics.waited)
        found, gates.registered = assembly.register_plugins(
            self.engine, expanded.profiles, self.profiles.events(), fair=fair
        )
        numbers.update(found)
        self._follow_plugins()
        self._make_turns(services, preemption)

    def _follow_plugins(self) -> None:
        """Let Python plugins say which pods concern them, what an event means, and the queue's order."""
        if not self.profiles:
            return
        self.state.classify = self.profiles.classify
        hints = Hints(self.engine, self.state, self.profiles, self.state.plugin_bits)
        if hints:
            self.state.spared = hints.spared
            self.state.gates.hints = hints
        order = assembly.order_of(self.config, self.engine, self.profiles)
        if order is not None:
            self.state.order, self.failures.returning = order, order.returned
            self._observers.append(order)

    def _make_turns(self, services: Services, preemption: Preemption) -> None:
        """Make what ends the cycles that the core leaves to Python, of pods and of gangs."""
        engine, state, observer, binder = self.engine, self.state, self.observer, self.binder
        self.gangs = Gangs(
            engine,
            self.config.podium.gangs,
            binder.waiting,
            requeue=self.failures.requeue_at,
            tenants=self.tenants,
        )
        aware = assembly.gang_aware(self.config)
        if aware:
            state.gangs = self.gangs.members(aware.__contains__)
            self._observers.append(self.gangs)
        if self.tenants is not None:
            self.tenants.groups = self.gangs.turns.queued
        gang_cycle = assembly.make_gang_cycle(self.config, state, self.gangs, self.failures)
        gang_cycle.relief = self.relief
        cycle = Cycle(engine, services, binder, observer, self.config.podium.sampling == "upstream")
        cycle.placed = self.gangs.given_nodes
        reservation = gang_cycle.reservation
        placements = Placements(state, binder, self.profiles, self.gangs, observer)
        post_filter = PostFilter(engine, state, binder.waiting, self.profiles, preemption, cycle)
        singles = SingleTurns(
            engine, self.profiles, cycle, post_filter, self.failures, placements, reservation, self.relief
        )
        seats = Seats(engine, cycle, self.profiles)
        arranger = self.arranger = Arranger(seats)
        if self.profiles:
            gang_cycle.room = RoomMaker(arranger, self.config.podium.gangs.respect_pdb == "always")
        gang_turns = StoppedGangs(
            self.gangs,
            gang_cycle,
            OneByOne(seats, arranger),
            seats,
            binder,
            placements,
            post_filter,
            observer,
            self._timer,
        )
        self._placements, self._post_filter = placements, post_filter
        self.singles, self._gang_turns = singles, gang_turns
        self._batches = Batches(
            engine, state, self.profiles, observer, self.inbox, binder.waiting, self._columns
        )
        strict = self.config.podium.strict
        self._incoming = Incoming(engine, state, binder, self.gangs, self.inbox, self._columns, strict)
        self._detailed = DetailedCycles(engine, state, self.gangs, singles, gang_turns, placements, observer)

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
        self._incoming.apply(events, now, actions)
        self.gangs.tick(now)
        self.engine.flush_queue(now, MAX_PARKED)
        self.state.gates.flush(now, MAX_PARKED)
        left = limit if limit is not None else -1
        while True:
            self._incoming.take_requests(now, actions)
            self.gangs.settle(now)
            room = self.config.podium.max_binds_in_flight - self.binder.in_flight
            if left == 0 or room <= 0:
                break
            done = self._cycles(min(room, left if left > 0 else _BATCH, _BATCH), now, actions)
            if done == 0:
                # All minimums have had their turn.
                if self.gangs.turns.release_surplus(now):
                    continue
                break
            self.tries += done
            if self._post_filter.evicted:
                # Victims may leave at once: what comes of it must not depend on how calls are sliced.
                self._post_filter.evicted = False
                break
            left -= min(done, left) if left > 0 else 0
        self.gangs.settle(now)
        actions += self.gangs.outbox
        self.gangs.outbox.clear()
        return actions

    def next_due(self) -> int | None:
        """Return when a pod is due without anything happening, None if none ever is."""
        return _earliest(
            self.engine.next_due(MAX_PARKED),
            self.state.gates.next_due(MAX_PARKED),
            self.binder.waiting.next_time(),
            self.gangs.next_time(),
        )

    def next_retry(self) -> int | None:
        """Return when the next backoff, or the next wait in Permit, ends; None if there is none."""
        return _earliest(self.engine.next_retry(), self.binder.waiting.next_time(), self.gangs.next_time())

    def follow(self, observer: Observer) -> None:
        """Let another observer hear of bindings and roll-backs."""
        self._observers.append(observer)

    def _cycles(self, limit: int, now: int, actions: list[Action]) -> int:
        """Run up to ``limit`` cycles; returns how many."""
        if self.observer.detailed:
            return self._detailed.run(now, actions)
        batch = self._batches.run(limit, now)
        placed = len(batch)
        if placed:
            if self.observer.timing:
                self.observer.timed(self.state.by_handles(batch.pods.tolist()), batch.nanos)
            self._placements.begin_batch(batch, now, actions)
        if batch.stopped is None:
            return placed
        if batch.stopped & GROUP:
            self._gang_turns.stopped(batch, now, actions)
            return placed + 1
        entry = self.state.by_handle(batch.stopped)
        if batch.decision is not None:
            self.singles.failed(entry, batch.decision, now, actions)
        elif batch.assumed is not None:
            self.singles.go_on(entry, batch.assumed, now, actions)
        else:
            self.singles.run(entry, now, actions)
        return placed + 1


def _earliest(*times: int | None) -> int | None:
    return min((time for time in times if time is not None), default=None)
