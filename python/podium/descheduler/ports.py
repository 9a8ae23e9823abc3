"""What the descheduler asks of the outside: evictions, measured load, time series. No I/O in here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from podium._core import Quantity
from podium.api import Pod
from podium.errors import PodiumError


class EvictionRefusedError(PodiumError):
    """The API refused an eviction.

    Attributes:
        why: ``pdb`` where a budget forbids it, else ``error``.

    """

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
