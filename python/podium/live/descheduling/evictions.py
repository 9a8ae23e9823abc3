"""Evictions and the events about them through the API server, for a descheduler that runs in a thread."""

import asyncio
import secrets
import socket
import time
from collections.abc import Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from podium.api import BY_NAME, PodDisruptionBudget
from podium.cluster.kube.client import KubeClient, path_of
from podium.descheduler.budgets import Budgets, BudgetState, observe
from podium.descheduler.evictor import Evicted
from podium.descheduler.ports import Eviction, EvictionRefusedError
from podium.descheduler.world import World
from podium.errors import ApiError, ClusterError

_POD: Final = BY_NAME["v1", "Pod"]
_TOO_MANY: Final = 429

#: As upstream names itself.
REQUESTED_BY: Final = "sigs.k8s.io/descheduler"
CONTROLLER: Final = "sigs.k8s.io.descheduler"


class LiveEvictions:
    """The eviction subresource of one API server; refusals are final for the cycle.

    ``evict`` and ``told`` are called from another thread than the one of ``loop``, which serves the client.

    Args:
        client: with the rate limit for evictions.
        loop: where the client was entered.
        dry_run: refuse what the budgets would, and send nothing.

    """

    def __init__(self, client: KubeClient, loop: asyncio.AbstractEventLoop, *, dry_run: bool) -> None:
        self._client = client
        self._loop = loop
        self._dry_run = dry_run
        self._budgets = Budgets(())

    def begin(self, budgets: Iterable[PodDisruptionBudget], world: World) -> None:
        """Take over the budgets as the API server has them."""
        self._budgets = Budgets(_state(budget, world) for budget in budgets)

    def budgets(self) -> Budgets:
        """Return the budgets of now, for planning."""
        return self._budgets.copy()

    def rehearse(self, evictions: Sequence[Eviction]) -> None:
        """Ask the budgets for all of them together, and the server for each as a dry run."""
        self._budgets.check_all([item.pod for item in evictions])
        for eviction in () if self._dry_run else evictions:
            self._post(eviction, _body(eviction, dry_run=True))

    def evict(self, eviction: Eviction) -> None:
        """Evict; raises EvictionRefusedError with the server's text."""
        if self._dry_run:
            self._budgets.take(eviction.pod)
        else:
            self._post(eviction, _body(eviction))

    def _post(self, eviction: Eviction, body: dict[str, Any]) -> None:
        meta = eviction.pod.metadata
        path = path_of(_POD, meta.namespace, meta.name, below="eviction")
        try:
            # A 429 must not be tried again here: the budget has spoken.
            self._wait(self._client.request("POST", path, body=body, tries=1))
        except ApiError as error:
            why = "pdb" if error.status == _TOO_MANY else "error"
            raise EvictionRefusedError(f"error when evicting pod {meta.name!r}: {error}", why) from None
        except ClusterError as error:
            raise EvictionRefusedError(f"error when evicting pod {meta.name!r}: {error}") from None

    def told(self, evicted: Iterable[Evicted]) -> list[str]:
        """Write an event per eviction; returns what could not be written."""
        problems = []
        for item in evicted if not self._dry_run else ():
            path = f"/apis/events.k8s.io/v1/namespaces/{item.pod.metadata.namespace}/events"
            try:
                self._wait(self._client.post(path, _event(item)))
            except ClusterError as error:
                problems.append(str(error))
        return problems

    def _wait(self, work: Coroutine[Any, Any, bytes]) -> bytes:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _state(budget: PodDisruptionBudget, world: World) -> BudgetState:
    status = budget.status
    if status is None:
        return observe(budget, world.everybody)
    return BudgetState(budget, status.current_healthy, status.desired_healthy, status.disruptions_allowed)


def _body(eviction: Eviction, *, dry_run: bool = False) -> dict[str, Any]:
    meta = eviction.pod.metadata
    options: dict[str, Any] = {
        "preconditions": {"uid": meta.uid, "resourceVersion": meta.resource_version},
    }
    if dry_run:
        options["dryRun"] = ["All"]
    if eviction.grace_period_seconds is not None:
        options["gracePeriodSeconds"] = eviction.grace_period_seconds
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {
            "name": meta.name,
            "namespace": meta.namespace,
            "annotations": {"requested-by": REQUESTED_BY, "reason": eviction.reason},
        },
        "deleteOptions": options,
    }


def _event(item: Evicted) -> dict[str, Any]:
    meta = item.pod.metadata
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    regarding = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "namespace": meta.namespace}
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{meta.name[:200]}.{time.time_ns():x}{secrets.token_hex(2)}"},
        "eventTime": now,
        "type": "Normal",
        "reason": item.plugin,
        "action": "Descheduled",
        "note": f"pod eviction from {item.pod.spec.node_name} node by {REQUESTED_BY}",
        "regarding": {**regarding, "uid": meta.uid},
        "reportingController": CONTROLLER,
        "reportingInstance": f"{CONTROLLER}-{socket.gethostname()}"[:128],
    }
