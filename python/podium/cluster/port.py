"""The port between the scheduler and a cluster: events come in, actions go out.

Both backends turn the world into events and carry out actions; how an action ended comes back as an event.
Times are nanoseconds since the epoch of the backend's clock.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from podium.api import Object, Pod


class Applied(msgspec.Struct, frozen=True, gc=False):
    """An object was added or changed. There is one per pod, so it is the cheapest kind of object."""

    object: Object


@dataclass(frozen=True, slots=True)
class Removed:
    """An object is gone; a pod that ended counts as gone too."""

    object: Object


@dataclass(frozen=True, slots=True)
class Bound:
    """Bindings that succeeded, by pod uid."""

    uids: Sequence[str]


@dataclass(frozen=True, slots=True)
class BindFailed:
    """A binding that was refused; the pod is still pending."""

    uid: str
    message: str


class Answer(Protocol):
    """What a plugin says to a call; a backend hands it on and needs to know only this of it."""

    @property
    def is_success(self) -> bool:
        """Whether the plugin did what it was asked."""


class Returned(msgspec.Struct, frozen=True, gc=False):
    """A call of a binding-cycle plugin came back; an answer to an earlier epoch of the pod is dropped."""

    uid: str
    epoch: int
    point: str
    plugin: str
    message: str = ""
    """Why it failed; empty on success. Only where there is no ``answer``."""
    answer: Answer | None = None
    """What ``Call.run`` gave."""


Event = Applied | Removed | Bound | BindFailed | Returned


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind pods to nodes; ``uids`` and ``nodes`` have equal length."""

    uids: Sequence[str]
    nodes: Sequence[str]


class Call(msgspec.Struct, frozen=True, gc=False):
    """Call a plugin of the binding cycle, and answer with ``Returned``.

    A backend runs ``run()`` where it may take time: a coroutine (``is_async``) on its event loop, anything
    else on a worker thread. ``run`` does not raise. A ``bind`` that succeeds has bound the pod to ``node``.
    """

    uid: str
    epoch: int
    point: str
    """``preBind``, ``bind`` or ``postBind``."""
    plugin: str
    node: str
    run: Callable[[], Answer | Awaitable[Answer]]
    is_async: bool = False


@dataclass(frozen=True, slots=True)
class BindVolumes:
    """PreBind of VolumeBinding: write claims and volumes, wait until all claims are bound, answer."""

    uid: str
    epoch: int
    writes: Sequence["VolumeWrite"]


@dataclass(frozen=True, slots=True)
class VolumeWrite:
    """A JSON merge patch of a PersistentVolume or a PersistentVolumeClaim.

    It carries the resource version of the object as it was read, so it fails if that has changed meanwhile.
    """

    kind: str
    namespace: str
    name: str
    patch: bytes
    action: bytes = b""
    """The same as the core's volume controller takes it."""


@dataclass(frozen=True, slots=True)
class Preempt:
    """Delete a victim so that a pod of higher priority fits."""

    victim: Pod
    by: Pod
    node: str
    message: str = "preempting to accommodate a higher priority pod"


@dataclass(frozen=True, slots=True)
class Evict:
    """Delete a pod whose gang cannot be completed."""

    pod: Pod
    message: str


@dataclass(frozen=True, slots=True)
class PatchGroup:
    """Merge into the status of a PodGroup, of whichever API."""

    group: Object
    status: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PatchStatus:
    """Write condition PodScheduled=False and, where it changed, the nominated node of a pod."""

    uid: str
    reason: str
    message: str
    nominated: str | None = None
    """The node, the empty string to clear it, None to leave it."""


class Emit(msgspec.Struct, frozen=True):
    """Record an event about a pod."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str
    related: Pod | None = None


Action = Bind | BindVolumes | Call | Preempt | Evict | PatchStatus | PatchGroup | Emit


class Cluster(Protocol):
    """What a backend offers to the driver of a scheduler."""

    def events(self) -> Sequence[Event]:
        """Return what happened since the last call, in order; never waits."""

    def perform(self, actions: Sequence[Action]) -> None:
        """Begin to carry out actions."""

    def now(self) -> int:
        """Return the time in nanoseconds."""
