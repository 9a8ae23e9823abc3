"""How a plugin is written: one class, and a method for each extension point it takes part in.

A plugin derives from ``Plugin`` and has the methods of the points it wants; the classes below give their
signatures, and may be named as further bases so that a type checker sees a wrong one. Every method that
returns a status may return ``None`` for success; a method that raises ends the attempt with an error that
names the plugin.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.framework.events import EventRegistration
from podium.framework.handle import Handle
from podium.framework.nodes import NodeRow, NodesView
from podium.framework.results import FilterResult, NodeStatuses, PostFilterResult, PreFilterResult, PreFlight
from podium.framework.state import CycleState
from podium.framework.status import Status

MIN_SCORE: Final = 0
MAX_SCORE: Final = 100


@dataclass(frozen=True, slots=True)
class DependsOn:
    """What the answer of filter or score depends on besides the pod; it decides what may be remembered."""

    kind: Literal["node", "domain", "everything"]
    key: str = ""

    @classmethod
    def domain(cls, key: str) -> "DependsOn":
        """Depend on the node and on the pods of its domain, the nodes with its value of label ``key``."""
        return cls("domain", key)


#: The node alone: what it says of itself, its custom columns, and the pods on it. Filter and score are asked
#: about some nodes at a time, and about a node again only when it has changed. Not for plugins that write to
#: the state there, nor for answers that depend on the time.
NODE: Final = DependsOn("node")
#: Anything: called in every cycle, for all nodes, never remembered.
EVERYTHING: Final = DependsOn("everything")
#: ``DOMAIN(key)``.
DOMAIN: Final = DependsOn.domain


class Plugin:
    """Base of every Python plugin; made once per profile as ``cls(args, handle)``.

    Class attributes:
        name: the name in configurations and messages.
        Args: a msgspec struct for ``pluginConfig[].args``, or None if the plugin takes none.
        depends_on: see ``DependsOn``.
    """

    name: ClassVar[str]
    Args: ClassVar[type[msgspec.Struct] | None] = None
    depends_on: ClassVar[DependsOn] = EVERYTHING

    def __init__(self, args: Any, handle: Handle) -> None:
        self.args = args
        self.handle = handle

    def applies_to(self, pod: Pod) -> bool:  # noqa: ARG002 (the default concerns every pod)
        """Whether the plugin concerns pods of this pod's class; asked once per class.

        A class shares everything that scheduling reads, so do not look at name, uid, times or node. Pods that
        no Python plugin concerns are scheduled without leaving Rust.
        """
        return True

    def pod_key(self, pod: Pod) -> Hashable | None:  # noqa: ARG002 (the default tells all classes apart)
        """Return what of the pod filter and score look at; asked once per class, and only with ``NODE``.

        Pods with equal keys share what is remembered of their nodes. None, the default, stands for everything
        that a class shares; a plugin that looks at the nodes alone returns ``()``.
        """
        return None

    def events_to_register(self) -> Sequence[EventRegistration] | None:
        """Return what can help a pod this plugin rejected; None stands for everything.

        An empty answer leaves the pod to the 5-minute flush. Read once at start; it counts for PreEnqueue,
        PreFilter, Filter, Reserve and Permit.
        """
        return None


class PreEnqueuePlugin(Protocol):
    """Decides whether a pod may enter the queue; must be quick."""

    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Reject to gate the pod until an event of this plugin comes."""


class QueuedPod(Protocol):
    """A pod in the queue, for ``less``."""

    @property
    def pod(self) -> Pod:
        """The pod."""

    @property
    def timestamp(self) -> float:
        """When it was last added to the queue, seconds."""

    @property
    def attempts(self) -> int:
        """How often it was tried."""


class QueueSortPlugin(Protocol):
    """Orders the queue; every profile must use the same one."""

    @abstractmethod
    def less(self, a: QueuedPod, b: QueuedPod) -> bool:
        """Whether ``a`` goes first; a strict weak order that does not change while both are queued."""


class PreFilterPlugin(Protocol):
    """Looks at the pod and the cluster once, before any node is judged."""

    @abstractmethod
    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodesView) -> PreFilterResult | Status | None:
        """Compute what filter needs and write it to ``state``; may narrow the nodes or reject the pod."""


class PreFilterExtensions(Protocol):
    """Keeps what pre_filter wrote right while preemption and nominations move pods; both or none."""

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: Pod, node: NodeRow) -> Status | None:
        """Update ``state`` (a clone) as if ``added`` were on ``node``."""

    @abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, node: NodeRow) -> Status | None:
        """Update ``state`` (a clone) as if ``removed`` had left ``node``."""


class FilterPlugin(Protocol):
    """Rules nodes out, all of them in one call."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.bool_] | FilterResult:
        """Return True for each node (shape (nodes,)) that the plugin accepts; only candidates matter."""


class PostFilterPlugin(Protocol):
    """Called when no node fits."""

    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        """Try to make room. SUCCESS or UNSCHEDULABLE_AND_UNRESOLVABLE ends the round."""


class PreScorePlugin(Protocol):
    """Looks at the feasible nodes (the candidates) once, before they are scored."""

    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: NodesView) -> Status | None:
        """Compute what score needs; SKIP leaves the plugin out of this attempt's scores."""


class ScorePlugin(Protocol):
    """Ranks the feasible nodes."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, nodes: NodesView) -> NDArray[np.int64]:
        """Return a number per node (shape (nodes,)): the higher the better, 0..100 unless normalised."""


class NormalizeScore(Protocol):
    """Brings the plugin's scores into 0..100."""

    @abstractmethod
    def normalize_score(
        self, state: CycleState, pod: Pod, nodes: NodesView, scores: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return new scores (shape (nodes,)), computed over the candidates; ``scores`` is read-only."""


class ReservePlugin(Protocol):
    """Keeps the books for a pod that has been given a node."""

    @abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Take what the pod needs; also called for placements inside an overlay."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Give it back; idempotent, since it is also called for plugins that did not reserve."""


class PermitPlugin(Protocol):
    """The last word before binding."""

    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Approve, reject, or ``Status.wait(seconds)``."""


class PreBindPlugin(Protocol):
    """Work that must be done before the pod is bound; may be ``async def``."""

    @abstractmethod
    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Status | Awaitable[Status | None] | None:
        """Do the work."""


class PreBindPreFlight(Protocol):
    """Says beforehand whether pre_bind has anything to do for the pod."""

    @abstractmethod
    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> PreFlight | Status | None:
        """Return SUCCESS or SKIP, quickly and without acting."""


class BindPlugin(Protocol):
    """Binds the pod; may be ``async def``."""

    @abstractmethod
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | Awaitable[Status | None] | None:
        """Bind, or SKIP to leave it to the next binder."""


class PostBindPlugin(Protocol):
    """Told about a pod that has been bound; may be ``async def``."""

    @abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> Awaitable[None] | None:
        """Clean up."""
