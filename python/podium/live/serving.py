"""The secure port: ``/healthz /livez /readyz /metrics /configz``, as kube-scheduler serves them.

TLS always; without a certificate one is made for this process. Whoever asks is authenticated and authorised
by the API server (TokenReview, SubjectAccessReview); only the health endpoints are open to everybody.
"""

import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import web

from podium.cluster.kube.connection import Connection
from podium.errors import InputError
from podium.live.access import Access, Denied, Unknown
from podium.live.certificate import self_signed

log = logging.getLogger("podium.live")

#: Paths that everybody may read.
OPEN_PATHS = ("/healthz", "/readyz", "/livez")

_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Health(Protocol):
    """What liveness depends on."""

    def healthy(self) -> bool:
        """Whether the lease is renewed as it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served, and where.

    Attributes:
        address, port: where; port 0 takes any that is free.
        certificate, key: PEM files; empty: a certificate is made for this process.
        open_paths: paths that need no authorisation; ``/x/*`` is everything below.
        client_ca: a PEM file; client certificates that it signed say who asks.
        authentication, authorization: the clusters that say who asks and whether they may; None: the one
            that is scheduled.
        ready: checks by name, each returns an empty string or what is wrong.
        metrics: returns the text of ``/metrics``.
        config: returns the JSON of ``/configz``.

    """

    address: str = "0.0.0.0"
    port: int = 10259
    certificate: str = ""
    key: str = ""
    open_paths: tuple[str, ...] = OPEN_PATHS
    client_ca: str = ""
    authentication: Connection | None = None
    authorization: Connection | None = None
    ready: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    metrics: Callable[[], bytes] = lambda: b""
    config: Callable[[], bytes] = lambda: b"{}"


class Server:
    """Serves until stopped."""

    def __init__(self, serving: Serving, access: Access, health: Health) -> None:
        self._serving = serving
        self._health = health
        self._access = access
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """Listen; returns the port. Raises InputError where that is not possible."""
        serving = self._serving
        app = web.Application(middlewares=[self._authorise])
        app.router.add_get("/healthz", self._live)
        app.router.add_get("/livez", self._live)
        app.router.add_get("/readyz", self._ready)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/configz", self._config)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            site = web.TCPSite(self._runner, serving.address, serving.port, ssl_context=self._tls())
            await site.start()
        except OSError as error:
            raise InputError(f"--secure-port {serving.port}: {error.strerror or error}") from None
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    def _tls(self) -> ssl.SSLContext:
        serving = self._serving
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            if serving.certificate:
                context.load_cert_chain(serving.certificate, serving.key)
            else:
                with self_signed() as (certificate, key):
                    context.load_cert_chain(certificate, key)
            if serving.client_ca:
                context.load_verify_locations(serving.client_ca)
                context.verify_mode = ssl.CERT_OPTIONAL
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"--tls-cert-file {serving.certificate}, --tls-private-key-file {serving.key}: {error}"
            ) from None
        return context

    @web.middleware
    async def _authorise(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if not self._is_open(request.path):
            try:
                await self._access.check(request)
            except Unknown:
                return web.Response(status=401, text="Unauthorized\n")
            except Denied as error:
                return web.Response(status=403, text=f"{error}\n")
        return await handler(request)

    def _is_open(self, path: str) -> bool:
        return any(
            path.startswith(each[:-1]) if each.endswith("/*") else path == each
            for each in self._serving.open_paths
        )

    async def _live(self, request: web.Request) -> web.Response:
        return _checks(
            request, {"ping": "", "leaderElection": "" if self._health.healthy() else "lease expired"}
        )

    async def _ready(self, request: web.Request) -> web.Response:
        results = {name: check() for name, check in self._serving.ready.items()}
        return _checks(request, {"ping": "", **results})

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._serving.metrics(), headers={"Content-Type": _TEXT})

    async def _config(self, _request: web.Request) -> web.Response:
        return web.Response(body=self._serving.config(), content_type="application/json")


def _checks(request: web.Request, results: Mapping[str, str]) -> web.Response:
    """Answer as the API server's health endpoints do: ``ok``, or one line per check."""
    failed = [name for name, problem in results.items() if problem]
    if not failed and "verbose" not in request.query:
        return web.Response(text="ok")
    lines = [
        f"[-]{name} failed: {problem}" if problem else f"[+]{name} ok" for name, problem in results.items()
    ]
    word = request.path.strip("/")
    lines.append(f"{word} check {'failed' if failed else 'passed'}")
    return web.Response(status=500 if failed else 200, text="\n".join(lines) + "\n")
