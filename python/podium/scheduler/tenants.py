"""Whose each pod is, and what the configuration and Volcano's queues say of tenants.

The core keeps the books and decides whose turn it is; here tenants get their names. A pod that names a tenant
with children belongs to a leaf below it, which is called ``NAME (own)``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium._core import Engine, Quantity
from podium.api import Object, Pod
from podium.api.gangs import Way, gang_of
from podium.api.objects.groups import Queue, VolcanoPodGroup
from podium.framework.config import GangSettings, TenantSettings
from podium.scheduler.ages import creation_time
from podium.scheduler.tenant_tree import fraction, node_of, tree_of

#: The tenant of pods that lack the label or annotation that would name one; no label has such a value.
NOBODY = "(none)"

#: Volcano's queue for whoever names none.
DEFAULT_QUEUE = "default"

_QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"


class Owned(Protocol):
    """A pod and its handle in the core."""

    pod: Pod
    handle: int


@dataclass(frozen=True, slots=True)
class TenantShare:
    """What a tenant, or an inner queue as a whole, uses.

    Attributes:
        name: unique over the whole tree.
        parent: the inner queue above it; None at the top.
        weight: its weight among its siblings.
        dominant_share: the largest of used / capacity over resources; not divided by the weight.
        dominant_resource: the one of that share; None if nothing is in use.
        used: amounts in use, resources that are not left out.

    """

    name: str
    parent: str | None
    weight: float
    dominant_share: float
    dominant_resource: str | None
    used: Mapping[str, str]


class Tenants:
    """The tenants of one scheduler, in step with the core."""

    def __init__(self, engine: Engine, settings: TenantSettings, gangs: GangSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._gangs = gangs
        self._queues: dict[str, Queue] = {}
        self._groups: dict[tuple[str, str], str] = {}
        self._handles: dict[str, int] = {}
        self._inner: set[str] = set()
        self._namer = self._by(settings.by)
        self._stale = True
        self.groups: Callable[[], Iterable[Owned]] = tuple
        """Groups in the queue, each with a member that stands for it."""

    def _by(self, by: str) -> Callable[[Pod], str]:
        kind, _, key = by.partition(":")
        namers: dict[str, Callable[[Pod], str]] = {
            "namespace": lambda pod: pod.metadata.namespace,
            "label": lambda pod: (pod.metadata.labels or {}).get(key) or NOBODY,
            "annotation": lambda pod: (pod.metadata.annotations or {}).get(key) or NOBODY,
            "queue": self._queue_of,
        }
        return namers[kind]

    def _queue_of(self, pod: Pod) -> str:
        gang = gang_of(pod, self._gangs.label)
        named = self._groups.get(gang[1:]) if gang is not None and gang.way is Way.VOLCANO else None
        return named or (pod.metadata.annotations or {}).get(_QUEUE_ANNOTATION) or DEFAULT_QUEUE

    def name(self, pod: Pod) -> str:
        """Return the name of the leaf that the pod belongs to."""
        name = self._namer(pod)
        return f"{name} (own)" if name in self._inner else name

    def has_children(self, name: str) -> bool:
        """Tell whether it is an inner queue, whose usage is that of its leaves."""
        return name in self._inner

    def not_reclaimable(self) -> list[int]:
        """Return the tenants whose queue says that it gives nothing back."""
        spared = (name for name, queue in self._queues.items() if queue.spec.reclaimable is False)
        return [self._handles[name] for name in spared if name in self._handles]

    def handle(self, pod: Pod) -> int:
        """Return the core's handle of the pod's tenant: the lane it queues in."""
        name = self.name(pod)
        handle = self._handles.get(name)
        if handle is None:
            above = self._handles.get(name.removesuffix(" (own)")) if name.endswith(" (own)") else None
            handle = self._handles[name] = self._engine.add_tenant(name, above)
        return handle

    def assign(self, entries: Iterable[Owned]) -> None:
        """Tell the core whose pods (or queued groups) these are."""
        owned = list(entries)
        handles = np.asarray([entry.handle for entry in owned], dtype=np.uint32)
        self.assign_all(handles, [entry.pod for entry in owned])

    def assign_all(self, handles: NDArray[np.uint32], pods: Sequence[Pod]) -> None:
        """Tell the core whose pods these are; pods that moved to another tenant move in the books too."""
        names = list(map(self.name, pods)) if self._inner else list(map(self._namer, pods))
        if not self._handles.keys() >= set(names):
            for pod in pods:
                self.handle(pod)
        tenants = list(map(self._handles.__getitem__, names))
        self._engine.assign_tenants(handles, np.asarray(tenants, dtype=np.uint32))

    def created(self, pods: Sequence[Pod]) -> NDArray[np.int64]:
        """Return when pods were created, in nanoseconds; those that do not say are the youngest."""
        return np.asarray([creation_time(pod) for pod in pods], dtype=np.int64)

    def observe(self, item: Object, *, gone: bool = False) -> None:
        """Look at an object that may say something of queues."""
        if self._settings.by != "queue":
            return
        name = item.metadata.name
        if isinstance(item, Queue):
            before = self._queues.pop(name, None)
            if not gone:
                self._queues[name] = item
            self._stale |= gone or before is None or before.spec != item.spec
        elif isinstance(item, VolcanoPodGroup):
            at = (item.metadata.namespace, name)
            queue = "" if gone else item.spec.queue
            self._stale |= self._groups.get(at, "") != queue
            self._groups[at] = queue
            if gone:
                del self._groups[at]

    def settle(self, entries: Callable[[], Iterable[Owned]]) -> bool:
        """Build the tree anew where queues changed; returns whether it was."""
        if not self._stale:
            return False
        self._stale = False
        tree = tree_of(self._settings, self._queues)
        self._inner = {node["parent"] for node in tree.values() if node["parent"]}
        owned = [(entry.handle, self.name(entry.pod)) for entry in (*entries(), *self.groups())]
        for _, name in owned:
            above = name.removesuffix(" (own)")
            tree.setdefault(name, node_of(name, above if above != name else None))
        places = {name: place for place, name in enumerate(tree)}
        nodes = [
            {**node, "parent": places[node["parent"]] if node["parent"] else None} for node in tree.values()
        ]
        weights = {name: fraction(weight) for name, weight in self._settings.resource_weights.items()}
        document = {
            "bandFirst": self._settings.order == "band",
            "resourceWeights": weights,
            "tenants": nodes,
        }
        handles = self._engine.set_tenants(
            msgspec.json.encode(document),
            np.asarray([handle for handle, _ in owned], dtype=np.uint32),
            np.asarray([places[name] for _, name in owned], dtype=np.uint32),
        )
        self._handles = dict(zip(tree, handles, strict=True))
        return True

    def report(self, pods: Iterable[Pod]) -> list[TenantShare]:
        """Return every inner queue, and the leaves that are configured or have one of ``pods``; by name."""
        shown = {self.name(pod) for pod in pods} | tree_of(self._settings, self._queues).keys()
        return sorted((share for share in self.all() if share.name in shown), key=lambda share: share.name)

    def all(self) -> list[TenantShare]:
        """Return every tenant that the core knows; may be called from any thread."""
        return [_share(row) for row in self._engine.tenants()]

    def waiting(self) -> list[str]:
        """Return the tenants that have something to try, in the order in which they would go."""
        names = {handle: name for name, handle in self._handles.items()}
        return [names[handle] for handle in self._engine.tenant_order()]


def _share(row: tuple[Any, ...]) -> TenantShare:
    _, name, parent, (numerator, denominator), used, resource, amount, capacity = row
    return TenantShare(
        name=name,
        parent=parent,
        weight=numerator / denominator,
        dominant_share=amount / capacity,
        dominant_resource=resource,
        used={key: _text(key, value) for key, value in used},
    )


#: Resources that are counted in bytes.
_BYTES = ("memory", "ephemeral-storage")


def _text(resource: str, amount: int) -> str:
    if resource == "cpu":
        return str(Quantity(f"{amount}m"))
    if not (resource in _BYTES or resource.startswith("hugepages-")):
        return str(amount)
    for power, unit in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
        if amount and amount % 1024**power == 0:
            return f"{amount // 1024**power}{unit}"
    return str(amount)
