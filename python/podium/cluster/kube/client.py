"""Requests to one API server: authentication, TLS, rate limits, retries, errors. JSON in, JSON out.

How to use it::

    connection = connect("kubeconfig")  # podium.cluster.kube.connect
    async with KubeClient(connection, TokenBucket(qps=50, burst=100)) as client:
        listed = await client.get("/api/v1/nodes", {"resourceVersion": "0"})  # bytes: decode with msgspec
        await client.post("/api/v1/namespaces/a/pods/b/eviction", body)  # bytes or anything msgspec encodes
        await client.patch("/api/v1/namespaces/a/pods/b/status", patch, MERGE)
        async for line in client.watch("/api/v1/pods", {"resourceVersion": "5"}):
            ...  # one watch event as JSON bytes

``path_of`` gives the paths of the kinds in ``podium.api.KINDS``; ``podium.cluster.kube.listing.list_kind``
lists one kind, decoded. Every method raises ``ApiError`` (the server refused; ``status``, ``reason``) or
``Unreachable`` (no answer: whether the request was carried out is unknown). A client belongs to the asyncio
loop on which it was entered. Tokens and bodies are never logged and are in no error text.
"""

import asyncio
import contextlib
import ipaddress
import ssl
import urllib.request
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import aiohttp
import msgspec

from podium._core import __version__
from podium.api import Kind
from podium.cluster.kube.connection import Connection, Pem
from podium.cluster.kube.credentials import Exec
from podium.cluster.kube.pace import TokenBucket
from podium.errors import ApiError, ClusterError, Unreachable

JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"

#: Requests that run at once; more wait for a free connection.
CONNECTIONS: Final = 100

#: Seconds until a request without an answer counts as lost.
TIMEOUT: Final = 30.0

#: Tries while the server answers 429, or 5xx with Retry-After (client-go's number).
_TRIES: Final = 10
_TOO_MANY: Final = 429
_UNAUTHORIZED: Final = 401
_REFUSED: Final = 400
_BROKEN: Final = 500

#: Seconds between two looks at certificate files.
_LOOK: Final = 10.0


class _Status(msgspec.Struct, rename="camel"):
    message: str = ""
    reason: str = ""
    code: int = 0


def path_of(kind: Kind, namespace: str = "", name: str = "", *, below: str = "") -> str:
    """Return the path of a kind, of its objects in a namespace, of an object, or of its subresource."""
    version = kind.api_version
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    inside = f"/namespaces/{namespace}" if kind.namespaced and namespace else ""
    path = f"{root}{inside}/{kind.plural}"
    return "/".join(part for part in (path, name, below) if part)


def proxy_of(server: str) -> str:
    """Return the proxy that the environment names for a server, empty if none; never one for loopback."""
    parts = urlsplit(server)
    host = parts.hostname or ""
    if _is_loopback(host) or urllib.request.proxy_bypass(host):
        return ""
    return urllib.request.getproxies().get(parts.scheme, "")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class KubeClient:
    """One client: a pool of connections, one identity, one rate limit.

    Args:
        connection: the server.
        limit: the rate limit; None: none.
        connections: the most requests at once.
        timeout: seconds until a request without an answer counts as lost.

    """

    def __init__(
        self,
        connection: Connection,
        limit: TokenBucket | None = None,
        *,
        connections: int = CONNECTIONS,
        timeout: float = TIMEOUT,
    ) -> None:
        self.connection = connection
        self._limit = limit
        self._connections = connections
        # Once: aiohttp would ask the environment for every request, on another thread.
        self._proxy = connection.proxy or proxy_of(connection.server)
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        self._session: aiohttp.ClientSession | None = None
        self._ssl: ssl.SSLContext | None = None
        self._stamp: object = None
        self._looked = float("-inf")

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=self._connections, enable_cleanup_closed=True)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeout,
            headers={
                "Accept": JSON,
                "Accept-Encoding": "identity",  # inside a cluster packing costs more than it saves
                "User-Agent": f"podium/{__version__}",
            },
            auto_decompress=True,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """Read an object or a list."""
        return await self.request("GET", path, query=query)

    async def post(self, path: str, body: Any) -> bytes:
        """Create an object."""
        return await self.request("POST", path, body=body)

    async def put(self, path: str, body: Any) -> bytes:
        """Replace an object."""
        return await self.request("PUT", path, body=body)

    async def patch(self, path: str, body: Any, content_type: str = MERGE) -> bytes:
        """Change an object."""
        return await self.request("PATCH", path, body=body, content_type=content_type)

    async def delete(self, path: str, body: Any = None) -> bytes:
        """Delete an object; ``body`` are DeleteOptions."""
        return await self.request("DELETE", path, body=body)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
        tries: int = _TRIES,
    ) -> bytes:
        """Send one request and return the body of the answer; asks again where the server wants that."""
        data = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        for attempt in range(tries):
            try:
                if self._limit is not None:
                    await self._limit.wait()
                async with self._send(method, path, query, data, content_type) as answer:
                    return await answer.read()
            except ApiError as error:
                wait = self._again(error)
                if wait is None or attempt + 1 == tries:
                    raise
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                raise self._lost(method, path, error) from None
            await asyncio.sleep(wait)
        raise AssertionError("the last try raises")

    async def watch(self, path: str, query: Mapping[str, str], *, quiet: float) -> AsyncIterator[bytes]:
        """Yield the events of a watch, one JSON object each, until the server ends it.

        Args:
            path: of the kind.
            query: field selector, resource version and so on; ``watch=true`` is added.
            quiet: seconds after which a silent connection counts as broken.

        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=quiet)
        parameters = {**query, "watch": "true"}
        rest = b""
        try:
            async with self._send("GET", path, parameters, None, JSON, timeout) as answer:
                async for chunk in answer.content.iter_any():
                    lines = (rest + chunk if rest else chunk).split(b"\n")
                    rest = lines.pop()
                    for line in lines:
                        if line:
                            yield line
        except ApiError as error:
            self._again(error)
            raise
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._lost("WATCH", path, error) from None

    @contextlib.asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        data: bytes | None,
        content_type: str,
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            raise ClusterError("the client is not open: use it in an async with block")
        headers = {} if data is None else {"Content-Type": content_type}
        authorization = await self.connection.credentials.header()
        if authorization is not None:
            headers["Authorization"] = authorization
        async with self._session.request(
            method,
            self.connection.server + path,
            params=query,
            data=data,
            headers=headers,
            ssl=await self._context(),
            server_hostname=self.connection.tls.server_name or None,
            proxy=self._proxy or None,
            timeout=timeout or self._timeout,
            allow_redirects=False,
        ) as answer:
            if answer.status >= _REFUSED:
                raise _refusal(answer, await answer.read())
            yield answer

    async def _context(self) -> ssl.SSLContext:
        """Return the TLS context, a new one where a certificate has changed."""
        now = asyncio.get_running_loop().time()
        if self._ssl is not None and now - self._looked < _LOOK:
            return self._ssl
        self._looked = now
        tls, credentials = self.connection.tls, self.connection.credentials
        given = await credentials.certificate() if isinstance(credentials, Exec) else None
        if given is not None:
            tls = replace(tls, certificate=Pem(data=given[0]), key=Pem(data=given[1]))
        stamp = (tls.stamp(), given)
        if self._ssl is None or stamp != self._stamp:
            self._ssl = tls.context()
            self._stamp = stamp
        return self._ssl

    def _again(self, error: ApiError) -> float | None:
        """Return after how many seconds a refused request may be sent again, None if never."""
        if error.status == _UNAUTHORIZED:
            self._looked = float("-inf")
            return 0.0 if self.connection.credentials.reject() else None
        return error.retry_after if error.status == _TOO_MANY or error.status >= _BROKEN else None

    def _lost(self, method: str, path: str, error: BaseException) -> Unreachable:
        text = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        return Unreachable(f"{method} {self.connection.server}{path}: {text}")


def _refusal(answer: aiohttp.ClientResponse, body: bytes) -> ApiError:
    """Return the server's own words, which name the verb and the resource where access is denied."""
    try:
        status = msgspec.json.decode(body, type=_Status)
    except msgspec.DecodeError:
        text = body[:200].decode("utf-8", "replace").strip()
        status = _Status(message=f"HTTP {answer.status}: {text or answer.reason}")
    after = answer.headers.get("Retry-After", "")
    return ApiError(answer.status, status.reason, status.message, float(after) if after.isdecimal() else None)
