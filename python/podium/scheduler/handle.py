"""What the scheduler offers to plugins: see ``podium.framework.handle``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.cluster.port import Emit
from podium.errors import PluginError
from podium.framework.runner import NativeVerdicts, Runner
from podium.framework.state import CycleState
from podium.scheduler.columns import CustomColumns
from podium.scheduler.inbox import Inbox
from podium.scheduler.nodes import NodeFacts, SnapshotNodes
from podium.scheduler.state import State
from podium.scheduler.waiting import HeldPod, WaitingRoom

SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Services:
    """What all handles of a scheduler share."""

    state: State
    facts: NodeFacts
    waiting: WaitingRoom
    inbox: Inbox
    columns: CustomColumns

    def view(self) -> SnapshotNodes:
        """Return the nodes as the core has them now, hypothetical or not."""
        self.facts.refresh(self.state.nodes_version)
        return SnapshotNodes(self.facts, self.state.engine.columns())

    def view_at(self, rows: NDArray[np.uint32]) -> SnapshotNodes:
        """Return some nodes, given as rows of the core, as they are now."""
        self.facts.refresh(self.state.nodes_version)
        columns = self.state.engine.columns_at(rows)
        return SnapshotNodes(self.facts, columns, self.facts.position(rows), picked=True)

    def mask(self, rows: Sequence[int] | None) -> NDArray[np.bool_] | None:
        """Return which nodes are on some rows of the core, shape (nodes,); None stands for all."""
        if rows is None:
            return None
        mask = np.zeros(len(self.view()), np.bool_)
        mask[self.facts.position(np.asarray(rows, np.uint32))] = True
        return mask


class PluginHandle:
    """The handle of one plugin in one profile."""

    def __init__(self, profile_name: str, plugin: str, services: Services) -> None:
        self.profile_name = profile_name
        self._plugin = plugin
        self._services = services
        self.runner: Runner | None = None
        """Set once all plugins of the profile are made; overlays call them."""

    def snapshot(self) -> SnapshotNodes:
        """Return the nodes as of the current scheduling cycle."""
        return self._services.view()

    def overlay(self) -> "SnapshotOverlay":
        """Open a what-if transaction."""
        return SnapshotOverlay(self._services, self.runner)

    def iterate_over_waiting_pods(self) -> Iterator[HeldPod]:
        """Walk over the pods held in Permit, of all profiles."""
        return iter(self._services.waiting)

    def get_waiting_pod(self, uid: str) -> HeldPod | None:
        """Return a pod held in Permit, or None."""
        return self._services.waiting.get(uid)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move waiting pods to the active queue at the start of the next cycle, without backoff."""
        self._services.inbox.activate(pods)

    def nominated_pods(self, node_name: str) -> tuple[Pod, ...]:
        """Return the pods that are nominated to a node."""
        state = self._services.state
        return tuple(state.by_handle(handle).pod for handle in state.engine.nominated_to(node_name))

    def record_event(self, pod: Pod, reason: str, message: str, *, warning: bool = False) -> None:
        """Emit a Kubernetes event about a pod."""
        kind = "Warning" if warning else "Normal"
        self._services.inbox.emit(Emit(pod, kind, reason, "Scheduling", message))

    def now(self) -> float:
        """Return the scheduler's clock in seconds."""
        return self._services.inbox.now / SECOND

    def register_column(self, name: str, dtype: type[np.generic], default: object) -> None:
        """Add a custom column to every node view."""
        self._services.columns.register(self._plugin, name, dtype, default)

    def update_column(self, name: str, values: Mapping[str, object]) -> None:
        """Set values of a custom column by node name."""
        self._services.columns.update(self._plugin, name, values)


class SnapshotOverlay:
    """See ``podium.framework.handle.Overlay``.

    Every placed pod goes through Reserve of all plugins, and leaving goes through Unreserve in reverse.
    """

    def __init__(self, services: Services, runner: Runner | None) -> None:
        self._services = services
        self._runner = runner
        self._engine = services.state.engine
        self._placed: list[tuple[CycleState, Pod, str]] = []
        self._open = False

    def place(self, pod: Pod, node_name: str) -> None:
        """Put a pod on a node; from another node if it is on one.

        Raises:
            PluginError: if there is no such pod or node, or a plugin refuses to reserve.

        """
        handle, row = self._handle(pod), self._row(node_name)
        self._engine.evict_in_overlay(handle)
        refused = self._engine.place_in_overlay(handle, row)
        if refused is not None:
            why = f"{refused[0]}: {', '.join(refused[2])}"
            raise PluginError(f"overlay: {pod.metadata.name} on {node_name}: {why}")
        if self._runner is None:
            return
        state = CycleState()
        self._placed.append((state, pod, node_name))
        status = self._runner.reserve(state, pod, node_name)
        if not status.is_success:
            self._placed.pop()
            self._runner.unreserve(state, pod, node_name)
            self._engine.evict_in_overlay(handle)
            raise PluginError(f"overlay: {pod.metadata.name} on {node_name}: {status}")

    def evict(self, pod: Pod) -> None:
        """Take a pod off its node."""
        self._check()
        self._engine.evict_in_overlay(self._handle(pod))

    def nodes(self) -> SnapshotNodes:
        """Return the nodes as they would be."""
        self._check()
        return self._services.view()

    def feasible(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes on which the pod would pass every filter of its profile."""
        handle = self._handle(pod)
        native = self._engine.feasible(handle)
        if self._runner is None:
            return tuple(native)
        view, state = self._services.view(), CycleState()
        outcome = self._runner.pre_filter(state, pod, view)
        if not outcome.status.is_success:
            return ()
        allowed = set(native) if outcome.node_names is None else outcome.node_names.intersection(native)
        first = np.array([-1 if name in allowed else 0 for name in view.names], np.int16)
        filtered = self._runner.filter(state, pod, view, NativeVerdicts.of(first))
        if not filtered.status.is_success:
            raise PluginError(f"overlay: {filtered.status.message}")
        fits = filtered.feasible
        return tuple(name for name in native if fits[view.index(name)])

    def _handle(self, pod: Pod) -> int:
        self._check()
        entry = self._services.state.entry(pod.metadata.uid)
        if entry is None:
            name = f"{pod.metadata.namespace}/{pod.metadata.name}"
            raise PluginError(f"overlay: the scheduler knows no pod {name}")
        return entry.handle

    def _row(self, node_name: str) -> int:
        row = self._engine.row(node_name)
        if row is None:
            raise PluginError(f"overlay: there is no node {node_name}")
        return row

    def _check(self) -> None:
        if not self._open:
            raise PluginError("overlay: use it within its with block")

    def __enter__(self) -> Self:
        self._engine.begin_overlay()
        self._open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        if self._runner is not None:
            for state, pod, node in reversed(self._placed):
                self._runner.unreserve(state, pod, node)
        self._placed.clear()
        self._engine.end_overlay()
