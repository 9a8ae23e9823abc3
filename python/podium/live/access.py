"""Asks the API server who sends a request, and whether they may."""

import time
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from aiohttp import web

from podium.cluster.kube.client import KubeClient
from podium.errors import ClusterError

_TOKEN_REVIEW: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS_REVIEW: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

#: Seconds that answers are kept, and how many.
_KEPT: Final = 10.0
_MOST: Final = 1024


class Unknown(Exception):  # noqa: N818 (an answer, not an error)
    """The token is nobody's."""


class Denied(Exception):  # noqa: N818 (an answer, not an error)
    """They may not."""


class _User(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: Sequence[str] = ()


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _User = _User()


class _TokenReview(msgspec.Struct):
    status: _TokenStatus = msgspec.field(default_factory=_TokenStatus)


class _AccessStatus(msgspec.Struct):
    allowed: bool = False


class _AccessReview(msgspec.Struct):
    status: _AccessStatus = msgspec.field(default_factory=_AccessStatus)


_ANONYMOUS: Final = _User("system:anonymous", "", ("system:unauthenticated",))


class Access:
    """Answers for one server; they are kept for some seconds."""

    def __init__(self, authentication: KubeClient, authorization: KubeClient) -> None:
        self._authentication = authentication
        self._authorization = authorization
        self._users: dict[str, tuple[float, _User | None]] = {}
        self._allowed: dict[tuple[Any, ...], tuple[float, bool]] = {}

    async def check(self, request: web.Request) -> None:
        """Let a request pass.

        Raises:
            Unknown: the token is nobody's.
            Denied: whoever asks may not read this path, or the API server could not be asked.

        """
        verb = request.method.lower()
        try:
            user = await self._user(request)
            allowed = await self._may(user, verb, request.path)
        except ClusterError as error:
            raise Denied(f"forbidden: the API server could not be asked: {error}") from None
        if not allowed:
            raise Denied(f'forbidden: User "{user.username}" cannot {verb} path "{request.path}"')

    async def _user(self, request: web.Request) -> _User:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer" and token:
            user = await self._by_token(token)
            if user is None:
                raise Unknown
            return user
        named = _by_certificate(request)
        return named or _ANONYMOUS

    async def _by_token(self, token: str) -> _User | None:
        kept = self._users.get(token)
        if kept is not None and time.monotonic() - kept[0] < _KEPT:
            return kept[1]
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        review = msgspec.json.decode(await self._authentication.post(_TOKEN_REVIEW, body), type=_TokenReview)
        user = review.status.user if review.status.authenticated else None
        _keep(self._users, token, user)
        return user

    async def _may(self, user: _User, verb: str, path: str) -> bool:
        if "system:masters" in user.groups:
            return True
        key = (user.username, tuple(user.groups), verb, path)
        kept = self._allowed.get(key)
        if kept is not None and time.monotonic() - kept[0] < _KEPT:
            return kept[1]
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.username,
                "uid": user.uid,
                "groups": list(user.groups),
                "nonResourceAttributes": {"path": path, "verb": verb},
            },
        }
        answer = msgspec.json.decode(await self._authorization.post(_ACCESS_REVIEW, body), type=_AccessReview)
        _keep(self._allowed, key, answer.status.allowed)
        return answer.status.allowed


def _keep(table: dict[Any, tuple[float, Any]], key: Any, value: Any) -> None:
    if len(table) >= _MOST:
        table.clear()
    table[key] = (time.monotonic(), value)


def _by_certificate(request: web.Request) -> _User | None:
    """Return whom a verified client certificate names: its common name, its organisations as groups."""
    transport = request.transport
    certificate = transport.get_extra_info("peercert") if transport is not None else None
    if not certificate:
        return None
    parts = [pair for part in certificate.get("subject", ()) for pair in part]
    names = [value for name, value in parts if name == "commonName"]
    groups = [value for name, value in parts if name == "organizationName"]
    return _User(names[0], "", (*groups, "system:authenticated")) if names else None
