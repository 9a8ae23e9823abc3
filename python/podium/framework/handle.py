"""What the scheduler offers to plugins."""

from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from podium.api import Pod
from podium.framework.nodes import NodesView


class WaitingPod(Protocol):
    """A pod held in Permit. ``allow`` and ``reject`` may come from any thread; exactly one decides."""

    @property
    def pod(self) -> Pod:
        """The pod."""

    @property
    def node_name(self) -> str:
        """The node it has been given."""

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        """The Permit plugins that have not allowed it yet."""

    def allow(self, plugin: str) -> None:
        """Say yes for one plugin; the pod goes on when the last one has."""

    def reject(self, plugin: str, message: str) -> bool:
        """Turn the pod away as unschedulable; False if it had been decided before."""


class Overlay(Protocol):
    """A what-if transaction on the snapshot; leaving the ``with`` block undoes it."""

    def place(self, pod: Pod, node_name: str) -> None:
        """Put a pod on a node."""

    def evict(self, pod: Pod) -> None:
        """Take a pod off its node."""

    def nodes(self) -> NodesView:
        """Return the nodes as they would be."""

    def feasible(self, pod: Pod) -> tuple[str, ...]:
        """Return the nodes on which the pod would pass every filter of its profile."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Handle(Protocol):
    """Given to every plugin when it is made; safe to call from any thread unless said otherwise."""

    @property
    def profile_name(self) -> str:
        """The scheduler name of the profile."""

    def snapshot(self) -> NodesView:
        """Return the nodes as of the current scheduling cycle; call it in the cycle only."""

    def overlay(self) -> Overlay:
        """Open a what-if transaction; call it in the cycle only."""

    def iterate_over_waiting_pods(self) -> Iterator[WaitingPod]:
        """Walk over the pods held in Permit, of all profiles."""

    def get_waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return a pod held in Permit, or None."""

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move waiting pods to the active queue at the start of the next cycle, without backoff."""

    def nominated_pods(self, node_name: str) -> tuple[Pod, ...]:
        """Return the pods that are nominated to a node."""

    def record_event(self, pod: Pod, reason: str, message: str, *, warning: bool = False) -> None:
        """Emit a Kubernetes event about a pod."""

    def now(self) -> float:
        """Return the scheduler's clock in seconds since the epoch; virtual in a simulation."""

    def register_column(self, name: str, dtype: type[np.generic], default: object) -> None:
        """Add a custom column to every node view, filled with ``default``; the name is prefixed by nothing.

        Raises:
            PluginError: if another plugin registered the name.

        """

    def update_column(self, name: str, values: Mapping[str, object]) -> None:
        """Set values by node name; views made from the next cycle on show them. Unknown nodes are ignored."""
