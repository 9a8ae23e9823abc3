"""A handle for tests of plugins: a clock that stands still, waiting pods by hand, everything recorded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from podium.api import Node, Pod
from podium.errors import PluginError
from podium.testing.nodes import ObjectNodes, allocatable, node_view
from podium.testing.requests import pod_requests


@dataclass(slots=True)
class RecordedEvent:
    """An event that a plugin emitted."""

    pod: Pod
    reason: str
    message: str
    warning: bool


@dataclass(slots=True)
class FakeWaitingPod:
    """A pod held in Permit; ``decision`` is None, "allowed", or the message of the rejection."""

    pod: Pod
    node_name: str
    pending: list[str]
    decision: str | None = None

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        """The plugins that have not allowed the pod yet."""
        return tuple(self.pending)

    def allow(self, plugin: str) -> None:
        """Say yes for one plugin."""
        if plugin in self.pending:
            self.pending.remove(plugin)
        if not self.pending and self.decision is None:
            self.decision = "allowed"

    def reject(self, plugin: str, message: str) -> bool:  # noqa: ARG002 (who rejects is not recorded)
        """Turn the pod away."""
        if self.decision is not None:
            return False
        self.decision = message
        return True


@dataclass(slots=True)
class FakeHandle:
    """See ``podium.framework.handle.Handle``. Set ``nodes``, ``pods`` and ``time``, read the rest.

    ``feasible`` of an overlay looks at resources only.
    """

    nodes: Sequence[Node] = ()
    pods: Sequence[Pod] = ()
    profile_name: str = "default-scheduler"
    time: float = 0.0
    waiting: dict[str, FakeWaitingPod] = field(default_factory=dict)
    activated: list[Pod] = field(default_factory=list)
    events: list[RecordedEvent] = field(default_factory=list)
    nominated: dict[str, list[Pod]] = field(default_factory=dict)
    columns: dict[str, tuple[type[np.generic], object, dict[str, object]]] = field(default_factory=dict)

    def hold(self, pod: Pod, node_name: str, plugins: Iterable[str]) -> FakeWaitingPod:
        """Put a pod into Permit, waiting for these plugins."""
        held = FakeWaitingPod(pod, node_name, list(plugins))
        self.waiting[pod.metadata.uid] = held
        return held

    def snapshot(self) -> ObjectNodes:
        """Return the nodes."""
        return node_view(self.nodes, self.pods, columns=self._values())

    def overlay(self) -> "FakeOverlay":
        """Open a what-if transaction."""
        return FakeOverlay(self, list(self.pods))

    def iterate_over_waiting_pods(self) -> Iterator[FakeWaitingPod]:
        """Walk over the undecided pods in Permit."""
        return iter([held for held in self.waiting.values() if held.decision is None])

    def get_waiting_pod(self, uid: str) -> FakeWaitingPod | None:
        """Return an undecided pod in Permit."""
        held = self.waiting.get(uid)
        return held if held is not None and held.decision is None else None

    def activate(self, pods: Iterable[Pod]) -> None:
        """Record pods that should be tried again."""
        self.activated.extend(pods)

    def nominated_pods(self, node_name: str) -> tuple[Pod, ...]:
        """Return the pods nominated to a node."""
        return tuple(self.nominated.get(node_name, ()))

    def record_event(self, pod: Pod, reason: str, message: str, *, warning: bool = False) -> None:
        """Record an event."""
        self.events.append(RecordedEvent(pod, reason, message, warning))

    def now(self) -> float:
        """Return ``time``."""
        return self.time

    def register_column(self, name: str, dtype: type[np.generic], default: object) -> None:
        """Add a custom column."""
        if name in self.columns:
            raise PluginError(f'column "{name}" is registered already')
        self.columns[name] = (dtype, default, {})

    def update_column(self, name: str, values: Mapping[str, object]) -> None:
        """Set values of a custom column."""
        self.columns[name][2].update(values)

    def _values(self) -> dict[str, NDArray[np.generic]]:
        names = [node.metadata.name for node in self.nodes]
        return {
            column: np.array([values.get(name, default) for name in names], dtype)
            for column, (dtype, default, values) in self.columns.items()
        }


@dataclass(slots=True)
class FakeOverlay:
    """See ``podium.framework.handle.Overlay``."""

    handle: FakeHandle
    pods: list[Pod]

    def place(self, pod: Pod, node_name: str) -> None:
        """Put a pod on a node."""
        self.pods.append(replace(pod, spec=replace(pod.spec, node_name=node_name)))

    def evict(self, pod: Pod) -> None:
        """Take a pod away."""
        self.pods = [other for other in self.pods if other.metadata.uid != pod.metadata.uid]

    def nodes(self) -> ObjectNodes:
        """Return the nodes as they would be."""
        return node_view(self.handle.nodes, self.pods)

    def feasible(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes with room for the pod."""
        view, wanted = self.nodes(), {**pod_requests(pod), "pods": 1}
        used = {name: view.pod_count() if name == "pods" else view.requested(name) for name in wanted}
        return tuple(
            node.metadata.name
            for at, node in enumerate(self.handle.nodes)
            if all(used[name][at] + amount <= allocatable(node, name) for name, amount in wanted.items())
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pods = list(self.handle.pods)
