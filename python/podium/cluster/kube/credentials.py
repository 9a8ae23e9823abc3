"""Who we are: the header of a request, renewed when it must be. Nothing here is ever logged."""

import asyncio
import base64
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec

from podium.errors import ClusterError

#: A token file is read again after this many seconds: kubelets rotate service account tokens in place.
TOKEN_PERIOD = 60.0

#: How long an exec plugin may take, in seconds.
_EXEC_TIMEOUT = 60.0

#: A credential is renewed this many seconds before it expires.
_EXPIRY_LEEWAY = 10.0


class Credentials(Protocol):
    """Says who sends a request."""

    async def header(self) -> str | None:
        """Return the value of ``Authorization``, None for none."""

    def reject(self) -> bool:
        """Hear that the server did not accept them; returns whether asking again may help."""


class Anonymous:
    """Nobody, or whoever the client certificate names."""

    async def header(self) -> str | None:
        """Return None."""
        return None

    def reject(self) -> bool:
        """Return False: there is nothing to renew."""
        return False


class Fixed:
    """A token or a password that never changes."""

    def __init__(self, value: str) -> None:
        self._value = value

    @classmethod
    def bearer(cls, token: str) -> "Fixed":
        """Return credentials for a bearer token."""
        return cls(f"Bearer {token}")

    @classmethod
    def basic(cls, user: str, password: str) -> "Fixed":
        """Return credentials for a user name and password."""
        return cls("Basic " + base64.b64encode(f"{user}:{password}".encode()).decode())

    async def header(self) -> str | None:
        """Return the value."""
        return self._value

    def reject(self) -> bool:
        """Return False: there is nothing to renew."""
        return False


class TokenFile:
    """A bearer token in a file that somebody else rotates."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._token = ""
        self._read_at = float("-inf")

    async def header(self) -> str | None:
        """Return the token, as the file has it at most a minute ago."""
        now = time.monotonic()
        if now - self._read_at >= TOKEN_PERIOD:
            try:
                self._token = Path(self._path).read_text(encoding="utf-8").strip()
            except OSError as error:
                if not self._token:
                    raise ClusterError(f"token file {self._path}: {error.strerror or error}") from None
            self._read_at = now
        return f"Bearer {self._token}"

    def reject(self) -> bool:
        """Read the file again for the next request."""
        fresh = self._read_at > float("-inf")
        self._read_at = float("-inf")
        return fresh


class _ExecStatus(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str = ""


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _ExecStatus | None = None


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """The command that a kubeconfig names under ``users[].user.exec``."""

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    api_version: str = "client.authentication.k8s.io/v1"
    cluster: Mapping[str, Any] | None = None
    install_hint: str = ""


class Exec:
    """Credentials that a command prints, kept until they expire or are refused."""

    def __init__(self, plugin: ExecPlugin) -> None:
        self._plugin = plugin
        self._status: _ExecStatus | None = None
        self._lock = asyncio.Lock()
        self._asked = False

    async def header(self) -> str | None:
        """Return the token that the command printed."""
        async with self._lock:
            if self._status is None or _expired(self._status):
                self._status = await self._run()
                self._asked = True
        return f"Bearer {self._status.token}" if self._status.token else None

    def reject(self) -> bool:
        """Forget what the command printed."""
        asked, self._asked, self._status = self._asked, False, None
        return asked

    async def certificate(self) -> tuple[bytes, bytes] | None:
        """Return certificate and key if the command gives them in place of a token."""
        await self.header()
        status = self._status
        if status is None or not status.client_certificate_data:
            return None
        return status.client_certificate_data.encode(), status.client_key_data.encode()

    async def _run(self) -> _ExecStatus:
        plugin = self._plugin
        spec: dict[str, Any] = {"interactive": False}
        if plugin.cluster is not None:
            spec["cluster"] = plugin.cluster
        info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
        env = {**os.environ, **plugin.env, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command, *plugin.args, env=env, stdout=asyncio.subprocess.PIPE
            )
        except OSError as error:
            hint = f" {plugin.install_hint}" if plugin.install_hint else ""
            raise ClusterError(f"exec plugin {plugin.command}: {error.strerror or error}.{hint}") from None
        try:
            out, _ = await asyncio.wait_for(process.communicate(), _EXEC_TIMEOUT)
        except TimeoutError:
            process.kill()
            raise ClusterError(f"exec plugin {plugin.command}: no answer in {_EXEC_TIMEOUT:.0f} s") from None
        if process.returncode:
            raise ClusterError(f"exec plugin {plugin.command}: exit status {process.returncode}")
        return self._read(out)

    def _read(self, out: bytes) -> _ExecStatus:
        command = self._plugin.command
        try:
            answer = msgspec.json.decode(out, type=_ExecCredential)
        except msgspec.DecodeError:
            # The text may hold a secret, so it is not repeated.
            raise ClusterError(f"exec plugin {command}: its output is no ExecCredential") from None
        if answer.api_version != self._plugin.api_version:
            raise ClusterError(
                f"exec plugin {command}: it answers in {answer.api_version or 'no version'}, "
                f"the kubeconfig says {self._plugin.api_version}"
            )
        if answer.status is None or not (answer.status.token or answer.status.client_certificate_data):
            raise ClusterError(f"exec plugin {command}: it gives neither a token nor a certificate")
        return answer.status


def _expired(status: _ExecStatus) -> bool:
    if not status.expiration_timestamp:
        return False
    expires = datetime.fromisoformat(status.expiration_timestamp)
    return (expires - datetime.now(UTC)).total_seconds() < _EXPIRY_LEEWAY
