"""What the descheduler asks of the outside: evictions, measured load, time series. No I/O in here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from podium._core import Quantity
from podium.api import Pod
from podium.api.gangs import Description
from podium.errors import PodiumError

if TYPE_CHECKING:
    from podium.descheduler.budgets import Budgets


class EvictionRefusedError(PodiumError):
    """The API refused an eviction.

    Attributes:
        why: ``pdb`` where a budget forbids it, else ``error``.
        ends_plan: whether nothing more can be evicted, whatever is asked for.

    """

    ends_plan = False

    def __init__(self, message: str, why: str = "error") -> None:
        super().__init__(message)
        self.why = why


@dataclass(frozen=True, slots=True)
class Eviction:
    """One request to the eviction subresource (policy/v1), with its preconditions.

    Attributes:
        pod: the pod as it was judged: uid and resourceVersion are preconditions.
        reason: the text of the annotation ``reason``, "triggered by PROFILE/PLUGIN: WHY".
        grace_period_seconds: of ``deleteOptions``; None: the pod's own.

    """

    pod: Pod
    reason: str
    grace_period_seconds: int | None = None


class Evictions(Protocol):
    """The eviction subresource."""

    def evict(self, eviction: Eviction) -> None:
        """Evict; raises EvictionRefusedError. Returns when the API has answered."""

    def rehearse(self, evictions: Sequence[Eviction]) -> None:
        """Raise EvictionRefusedError if one of these would be refused now; nothing is evicted."""

    def budgets(self) -> "Budgets":
        """Return the budgets as they are now, for planning."""


@dataclass(frozen=True, slots=True)
class Landing:
    """Where the scheduler would put the pod that takes an evicted one's place.

    Attributes:
        node: None if it would stay pending, and for a pod that nobody replaces.
        successor: whether anybody makes a new pod at all.
        message: the scheduler's text where it stays pending.

    """

    node: str | None
    successor: bool = True
    message: str = ""


class WhatIf(Protocol):
    """The scheduler with its own configuration, asked what it would do; nothing is done."""

    @property
    def gang_label(self) -> str:
        """The key of the label that names a gang."""

    def gang(self, pod: Pod) -> Description | None:
        """Return what the gang of a pod asks for, None if the scheduler knows of no such gang."""

    def move(self, pods: Sequence[Pod]) -> list[Landing]:
        """Take pods off their nodes and place their successors, on top of the moves so far."""

    def undo(self) -> None:
        """Take back the last move, of all its pods."""

    def together(self, pods: Sequence[Pod]) -> list[Landing]:
        """Take back all moves, then make these at once, as they happen when all are evicted together."""


Usage = Mapping[str, Quantity]
"""Resource to what is used of it."""


class LoadSource(Protocol):
    """Load as the metrics API reports it, smoothed per node."""

    def nodes(self) -> Mapping[str, Usage]:
        """Return the usage (cpu, memory) of every node that was ever seen."""

    def pod(self, namespace: str, name: str) -> Mapping[str, Usage] | None:
        """Return the usage of a pod by container, None if there is no sample."""


class PrometheusClient(Protocol):
    """A Prometheus server."""

    def query(self, query: str) -> Mapping[str, Any]:
        """Ask an instant query for now.

        Returns ``data`` of the HTTP API: ``resultType`` and ``result``. Raises PodiumError.
        """
