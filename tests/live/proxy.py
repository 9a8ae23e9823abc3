"""A reverse proxy before the API server that delays, refuses, loses and cuts, as a test asks for."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from tests.live.control_plane import ControlPlane

_HOP = {"host", "connection", "keep-alive", "transfer-encoding", "content-length", "upgrade"}


@dataclass
class Faults:
    """What goes wrong. May be changed while the proxy runs.

    ``refusals``: statuses that the next bindings get in place of being sent. ``lost``: so many bindings are
    carried out, but their answer never comes. ``cut``: seconds after which every watch breaks.
    """

    delay: float = 0.0
    bind_delay: float = 0.0
    refusals: list[int] = field(default_factory=list)
    lost: int = 0
    cut: float = 0.0
    bindings: list[tuple[str, int]] = field(default_factory=list)
    watches: int = 0
    pod_watches: int = 0
    lists: int = 0


class Proxy:
    def __init__(self, plane: ControlPlane) -> None:
        self.faults = Faults()
        self._plane = plane
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.url = ""

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(20)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(20)

    def _run(self) -> None:
        self._loop.run_until_complete(self._main())
        self._loop.run_until_complete(_cancel_the_rest())
        # Connections are closed by the loop in its next rounds, not at once.
        self._loop.run_until_complete(asyncio.sleep(0.25))
        self._loop.close()

    async def _main(self) -> None:
        self._stopping = asyncio.Event()
        context = ssl.create_default_context(cafile=str(self._plane.folder / "ca.crt"))
        connector = aiohttp.TCPConnector(limit=0, ssl=context)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as self._session:
            app = web.Application(client_max_size=1 << 26)
            app.router.add_route("*", "/{path:.*}", self._handle)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            self._ready.set()
            await self._stopping.wait()
            await runner.cleanup()
            # Before the session ends: what they hold of it is given back while it can still close it.
            await _cancel_the_rest()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        faults = self.faults
        is_bind = request.path.endswith("/binding")
        is_watch = request.query.get("watch") == "true"
        of_pods = request.method == "GET" and request.path.endswith("/pods")
        faults.watches += is_watch
        faults.pod_watches += is_watch and of_pods
        faults.lists += of_pods and not is_watch
        await asyncio.sleep(faults.delay + (faults.bind_delay if is_bind else 0.0))
        if is_bind and faults.refusals:
            status = faults.refusals.pop(0)
            body = {"kind": "Status", "status": "Failure", "message": f"refused by the test: {status}"}
            return web.json_response(body, status=status)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        data = await request.read() if request.can_read_body else None
        try:
            return await self._relay(request, headers, data, is_bind=is_bind, is_watch=is_watch)
        except (aiohttp.ClientError, OSError):
            _break(request)
            raise

    async def _relay(
        self, request: web.Request, headers: dict[str, str], data: Any, *, is_bind: bool, is_watch: bool
    ) -> web.StreamResponse:
        faults = self.faults
        url = self._plane.url + request.raw_path
        async with self._session.request(
            request.method, URL(url, encoded=True), headers=headers, data=data
        ) as answer:
            if is_bind:
                faults.bindings.append((request.path.split("/")[-2], answer.status))
            if is_bind and faults.lost > 0:
                faults.lost -= 1
                _break(request)
            if not is_watch:
                body = await answer.read()
                kept = {n: v for n, v in answer.headers.items() if n.lower() not in _HOP}
                return web.Response(status=answer.status, headers=kept, body=body)
            stream = web.StreamResponse(status=answer.status, headers={"Content-Type": "application/json"})
            await stream.prepare(request)
            try:
                async with asyncio.timeout(faults.cut or None):
                    async for chunk in answer.content.iter_any():
                        await asyncio.sleep(faults.delay)
                        await stream.write(chunk)
            except TimeoutError:
                _break(request)
            return stream


async def _cancel_the_rest() -> None:
    """End the handlers of connections that are still open."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _break(request: web.Request) -> None:
    """Close the connection without a word."""
    if request.transport is not None:
        request.transport.abort()


@contextmanager
def proxied(plane: ControlPlane) -> Iterator[Proxy]:
    proxy = Proxy(plane)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
