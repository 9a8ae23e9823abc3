"""Lease and endpoints, on a thread and an asyncio loop of their own: no load on the scheduler delays them."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from podium.cluster.kube.client import KubeClient
from podium.cluster.kube.connection import Connection
from podium.cluster.kube.lease import Election, Elector
from podium.errors import PodiumError

if TYPE_CHECKING:
    from podium.live.access import Access
    from podium.live.serving import Serving

log = logging.getLogger("podium.live")


class Control:
    """The thread.

    Args:
        connection: the cluster.
        election: None: this process always leads.
        serving: None: nothing is served.
        changed: called on the control thread when this process begins to lead or has lost its lease.

    """

    def __init__(
        self,
        connection: Connection,
        election: Election | None,
        serving: "Serving | None",
        changed: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._election = election
        self._serving = serving
        self._changed = changed
        self._elector: Elector | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)
        self.leads = election is None
        self.port = 0
        """Where the endpoints are; 0 if nowhere."""
        self.error: PodiumError | None = None
        """Why the lease was lost."""

    def start(self) -> None:
        """Start; raises what keeps the endpoints from being served."""
        self._thread.start()
        self._started.result()

    def stop(self) -> None:
        """Release the lease and end."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def healthy(self) -> bool:
        """Whether the lease is renewed as it should be."""
        return self._elector is None or self._elector.healthy()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)
            else:
                log.exception("the control thread ended")

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        timeout = 10.0 if self._election is None else max(self._election.renew_deadline / 2, 1.0)
        async with contextlib.AsyncExitStack() as stack:
            client = await stack.enter_async_context(KubeClient(self._connection, timeout=timeout))
            server = None
            if self._serving is not None:
                from podium.live.serving import Server

                access = await self._access(self._serving, client, stack)
                server = Server(self._serving, access, self)
                self.port = await server.start()
            try:
                self._started.set_result(None)
                await self._elect(client)
            finally:
                if server is not None:
                    await server.stop()

    async def _access(
        self, serving: "Serving", client: KubeClient, stack: contextlib.AsyncExitStack
    ) -> "Access":
        """Open the clients that say who asks and whether they may."""
        from podium.live.access import Access

        others = [
            client if other is None else await stack.enter_async_context(KubeClient(other))
            for other in (serving.authentication, serving.authorization)
        ]
        return Access(*others)

    async def _elect(self, client: KubeClient) -> None:
        assert self._stop is not None
        stopped = asyncio.create_task(self._stop.wait())
        if self._election is None:
            await stopped
            return
        elector = self._elector = Elector(client, self._election, self._began)
        election = asyncio.create_task(elector.run())
        await asyncio.wait({stopped, election}, return_when=asyncio.FIRST_COMPLETED)
        self.leads = False
        if election.done():
            error = election.exception()
            self.error = error if isinstance(error, PodiumError) else PodiumError(f"election: {error!r}")
            log.error("%s", self.error)
            self._changed()
            await stopped
        else:
            election.cancel()
            await asyncio.gather(election, return_exceptions=True)
            await elector.release()

    def _began(self) -> None:
        self.leads = True
        log.info("this process leads now")
        self._changed()
