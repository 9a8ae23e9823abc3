"""The contract of descheduler plugins.

A plugin is built once per profile with its arguments and a :class:`Handle`. Each cycle calls ``deschedule``
of all profiles' plugins, then ``balance``, with the nodes of the cycle; a plugin evicts through the handle
alone. An evictor plugin says which pods may be evicted at all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, Literal, NamedTuple, Protocol, runtime_checkable

from podium.api import Node, Pod
from podium.descheduler.ports import LoadSource, PrometheusClient
from podium.descheduler.world import World
from podium.errors import PodiumError


class PluginFailedError(PodiumError):
    """A plugin could not do its work in this cycle; the other plugins go on."""


class Point(Enum):
    """Extension points, named as in the policy file."""

    DESCHEDULE = "deschedule"
    BALANCE = "balance"
    FILTER = "filter"
    PRE_EVICTION_FILTER = "preevictionfilter"


EVICTOR_POINTS: Final = frozenset({Point.FILTER, Point.PRE_EVICTION_FILTER})


class Outcome(Enum):
    """How an eviction ended."""

    EVICTED = auto()
    NODE_LIMIT = auto()
    """No more from this node in this cycle."""
    NAMESPACE_LIMIT = auto()
    """No more from this namespace in this cycle."""
    TOTAL_LIMIT = auto()
    """No more at all in this cycle: the plugin returns."""
    REFUSED = auto()
    """The API refused; other pods may still be evicted."""


@runtime_checkable
class DeschedulePlugin(Protocol):
    """Evicts pods that should not be where they are, each for itself."""

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Run once per cycle; raises PluginFailedError."""


@runtime_checkable
class BalancePlugin(Protocol):
    """Evicts pods because of how groups of them are spread."""

    def balance(self, nodes: Sequence[Node]) -> None:
        """Run once per cycle, after all ``deschedule``; raises PluginFailedError."""


@runtime_checkable
class EvictorPlugin(Protocol):
    """Decides which pods may be evicted."""

    def filter(self, pod: Pod) -> bool:
        """Tell whether a pod may be evicted."""

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Tell the same right before the eviction; may cost more."""


NodeClass = Literal["over", "under", "within"]


@runtime_checkable
class Classifier(Protocol):
    """A plugin that classifies nodes by how full they are."""

    def report(self, nodes: Sequence[Node]) -> Mapping[str, tuple[NodeClass, Mapping[str, float]]]:
        """Return class and percent by resource of every node; raises PluginFailedError."""


class Evictor(Protocol):
    """What a plugin may ask of the evictor of its profile."""

    def filter(self, pod: Pod) -> bool:
        """Ask all ``filter`` plugins of the profile."""

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Ask all ``preevictionfilter`` plugins of the profile."""

    @property
    def plans(self) -> bool:
        """Whether evictions are planned first, so that their order may be chosen."""

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain; 0 where nothing is planned."""

    def bound(self, node: str) -> float:
        """Return what no promise of a pod of a node exceeds; 0 where nothing is planned."""

    def gain(self, pod: Pod, plugin: str) -> float | None:
        """Ask the scheduler what moving a pod would gain; None if the plan would not take it."""

    def evict(self, pod: Pod, plugin: str, reason: str = "") -> Outcome:
        """Evict a pod, within the limits."""

    def limit(self, pod: Pod, plugin: str) -> None:
        """Note a pod that the plugin's own limit per node keeps."""


@dataclass(slots=True)
class Handle:
    """What a plugin gets: the cluster of the cycle, the evictor, and the sources of load.

    ``world`` is replaced before every cycle; a plugin must not keep it.
    """

    world: World
    evictor: Evictor
    metrics: LoadSource | None = None
    prometheus: PrometheusClient | None = None


class PluginType(NamedTuple):
    """One row of the table of plugins.

    Attributes:
        name: as policies name it.
        points: where it may be enabled.
        args: the struct of its arguments, decoded strictly.
        build: makes the plugin; raises InputError if the arguments are of no use.
        validate: returns what is wrong with decoded arguments.

    """

    name: str
    points: frozenset[Point]
    args: type[Any]
    build: Callable[[Any, Handle], Any]
    validate: Callable[[Any], list[str]]


def evict_all(evictor: Evictor, pods: Iterable[Pod], plugin: str) -> bool:
    """Evict pods of one node until its limit; returns False if nothing more may be evicted in this cycle."""
    for pod in pods:
        outcome = evictor.evict(pod, plugin)
        if outcome is Outcome.TOTAL_LIMIT:
            return False
        if outcome is Outcome.NODE_LIMIT:
            return True
    return True
