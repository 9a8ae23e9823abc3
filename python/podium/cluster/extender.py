"""Calls of HTTP extenders: the only requests that a scheduling cycle waits for."""

import http.client
import ssl
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from podium.errors import ExtenderError
from podium.framework.config.v1 import Extender, ExtenderTLS

#: Seconds to wait where ``httpTimeout`` is not set (kube-scheduler's ``DefaultExtenderTimeout``).
DEFAULT_TIMEOUT: Final = 5.0


class ExtenderClient:
    """Posts JSON to one extender."""

    def __init__(self, extender: Extender) -> None:
        self.url = extender.url_prefix.rstrip("/")
        split = urlsplit(self.url)
        self._host, self._port, self._path = split.hostname or "", split.port, split.path
        self._timeout = extender.http_timeout.seconds or DEFAULT_TIMEOUT
        self._context = None
        if split.scheme == "https":
            self._context = _context(
                extender.tls_config or ExtenderTLS(), insecure_without_ca=extender.enable_https
            )
        self._server_name = extender.tls_config.server_name if extender.tls_config else ""

    def post(self, verb: str, body: bytes) -> bytes:
        """Send a request and return the body of the answer.

        Raises:
            ExtenderError: if the extender cannot be reached in time, or answers anything but 200.

        """
        connection = self._connect()
        try:
            connection.request("POST", f"{self._path}/{verb}", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ExtenderError(f"Post {self.url}/{verb}: {error or type(error).__name__}") from error
        finally:
            connection.close()
        if response.status != http.client.OK:
            text = f"failed {verb} with extender at URL {self.url}/{verb}, code {response.status}"
            raise ExtenderError(text)
        return answer

    def _connect(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        return _Secure(self._host, self._port, self._timeout, self._context, self._server_name)


class _Secure(http.client.HTTPConnection):
    """HTTPS, where the certificate may be for another name than the host's."""

    default_port = http.client.HTTPS_PORT

    def __init__(
        self, host: str, port: int | None, timeout: float, context: ssl.SSLContext, server_name: str
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._context = context
        self._server_name = server_name or host

    def connect(self) -> None:
        """Connect, and agree on keys."""
        super().connect()
        self.sock = self._context.wrap_socket(self.sock, server_hostname=self._server_name)


def _context(tls: ExtenderTLS, *, insecure_without_ca: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    has_ca = bool(tls.ca_data or tls.ca_file)
    if has_ca:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if tls.ca_data:
            context.load_verify_locations(cadata=tls.ca_data.decode())
        else:
            context.load_verify_locations(tls.ca_file)
    if tls.insecure or (insecure_without_ca and not has_ca):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.cert_data:
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = Path(folder, "cert.pem"), Path(folder, "key.pem")
            certificate.write_bytes(tls.cert_data)
            key.write_bytes(tls.key_data)
            context.load_cert_chain(certificate, key)
    elif tls.cert_file:
        context.load_cert_chain(tls.cert_file, tls.key_file)
    return context
