"""Leader election through a Lease, by client-go's rules and defaults.

::

    Standby ──the lease is free, expired or ours──> Leading ──not renewed in time──> lost (an error)
                                                       └──cancelled──> released: the next one need not wait

Whether a lease has expired is judged by how long *we* have seen no change of it, on a clock that never jumps;
what other machines' clocks say does not matter.
"""

import asyncio
import logging
import random
import socket
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import msgspec

from podium.cluster.kube.client import KubeClient
from podium.errors import ApiError, ClusterError, LostLease

log = logging.getLogger("podium.lease")

_NOT_FOUND, _CONFLICT = 404, 409

#: A standby asks every retry period, up to this share later, so that standbys do not march in step.
_JITTER: Final = 1.2


class _Meta(msgspec.Struct, rename="camel", omit_defaults=True):
    name: str
    namespace: str
    resource_version: str = ""
    uid: str = ""


class _Spec(msgspec.Struct, rename="camel", omit_defaults=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct, rename="camel"):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    api_version: str = "coordination.k8s.io/v1"
    kind: str = "Lease"


_DECODER = msgspec.json.Decoder(_Lease)


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """How to elect; times are seconds, the defaults client-go's."""

    namespace: str = "kube-system"
    name: str = "kube-scheduler"
    lease: float = 15.0
    renew_deadline: float = 10.0
    retry: float = 2.0
    identity: str = field(default_factory=lambda: f"{socket.gethostname()}_{uuid.uuid4()}")


class Elector:
    """Takes part in one election.

    Args:
        client: without a rate limit: a renewal must not wait for anything.
        election: the rules.
        leading: called when the lease is ours.

    """

    def __init__(self, client: KubeClient, election: Election, leading: Callable[[], None]) -> None:
        self.election = election
        self._client = client
        self._leading = leading
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{election.namespace}/leases"
        self._lease: _Lease | None = None
        self._seen: _Spec = _Spec()
        self._seen_at = float("-inf")
        self._reported = ""
        self.is_leader = False

    async def run(self) -> None:
        """Wait for the lease, then hold it until cancelled.

        Raises:
            LostLease: it could not be renewed in time.

        """
        await self._acquire()
        self.is_leader = True
        self._leading()
        try:
            await self._hold()
        finally:
            self.is_leader = False

    def healthy(self, slack: float = 20.0) -> bool:
        """Whether a leader has renewed its lease lately; a standby always is healthy."""
        return not self.is_leader or time.monotonic() - self._seen_at <= self.election.lease + slack

    async def _acquire(self) -> None:
        retry = self.election.retry
        while not await self._try():
            await asyncio.sleep(retry * (1 + random.random() * _JITTER))

    async def _hold(self) -> None:
        election = self.election
        while True:
            await asyncio.sleep(election.retry)
            try:
                async with asyncio.timeout(election.renew_deadline):
                    await self._renew()
            except TimeoutError:
                raise LostLease(
                    f"leaderelection lost: lease {election.namespace}/{election.name} was not renewed "
                    f"within {election.renew_deadline:g} s"
                ) from None

    async def _renew(self) -> None:
        while not await self._try():
            await asyncio.sleep(self.election.retry)

    async def _try(self) -> bool:
        """Take or renew the lease; returns whether it is ours now."""
        try:
            return await self._try_once()
        except ClusterError as error:
            log.warning("lease %s/%s: %s", self.election.namespace, self.election.name, error)
            return False

    async def _try_once(self) -> bool:
        if self._mine() and self._valid() and self._lease is not None:
            try:
                return await self._write(self._lease, fresh=False)
            except ApiError as error:
                if error.status != _CONFLICT:
                    raise
        try:
            current = _DECODER.decode(await self._client.get(f"{self._path}/{self.election.name}"))
        except ApiError as error:
            if error.status != _NOT_FOUND:
                raise
            return await self._create()
        if current.spec != self._seen:
            self._observe(current)
        self._lease = current
        if self._seen.holder_identity and self._valid() and not self._mine():
            return False
        return await self._write(current, fresh=not self._mine())

    def _mine(self) -> bool:
        return self._seen.holder_identity == self.election.identity

    def _valid(self) -> bool:
        return time.monotonic() < self._seen_at + (self._seen.lease_duration_seconds or 0)

    def _observe(self, lease: _Lease) -> None:
        self._lease, self._seen, self._seen_at = lease, lease.spec, time.monotonic()
        holder = lease.spec.holder_identity or ""
        if holder and holder != self._reported:
            log.info("leader of %s/%s is %s", self.election.namespace, self.election.name, holder)
            self._reported = holder

    def _spec(self, *, acquired: str, transitions: int) -> _Spec:
        return _Spec(
            holder_identity=self.election.identity,
            lease_duration_seconds=int(self.election.lease),
            acquire_time=acquired,
            renew_time=_now(),
            lease_transitions=transitions,
        )

    async def _create(self) -> bool:
        meta = _Meta(self.election.name, self.election.namespace)
        spec = self._spec(acquired=_now(), transitions=0)
        self._observe(_DECODER.decode(await self._client.post(self._path, _Lease(meta, spec))))
        return True

    async def _write(self, lease: _Lease, *, fresh: bool) -> bool:
        old = lease.spec
        transitions = (old.lease_transitions or 0) + fresh
        spec = self._spec(acquired=_now() if fresh else old.acquire_time or _now(), transitions=transitions)
        body = await self._client.put(f"{self._path}/{self.election.name}", _Lease(lease.metadata, spec))
        self._observe(_DECODER.decode(body))
        return True

    async def release(self) -> None:
        """Give the lease up if it is ours, so that a standby takes over at once."""
        if not self._mine() or self._lease is None:
            return
        now = _now()
        for _ in range(3):
            spec = _Spec(
                lease_duration_seconds=1,
                acquire_time=now,
                renew_time=now,
                lease_transitions=self._lease.spec.lease_transitions,
                holder_identity="",
            )
            try:
                lease = _Lease(self._lease.metadata, spec)
                self._observe(
                    _DECODER.decode(await self._client.put(f"{self._path}/{self.election.name}", lease))
                )
            except ApiError as error:
                if error.status != _CONFLICT:
                    log.warning("releasing the lease: %s", error)
                    return
                self._lease = _DECODER.decode(await self._client.get(f"{self._path}/{self.election.name}"))
                if self._lease.spec.holder_identity != self.election.identity:
                    return
            except ClusterError as error:
                log.warning("releasing the lease: %s", error)
                return
            else:
                return


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
