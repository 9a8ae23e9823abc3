"""Where the API server is, how to trust it, and who we are."""

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from podium.cluster.kube.credentials import Anonymous, Credentials
from podium.errors import InputError


@dataclass(frozen=True, slots=True)
class Pem:
    """A certificate or key: inline data wins over a file, which is read again whenever it has changed."""

    data: bytes = field(default=b"", repr=False)
    file: str = ""

    def __bool__(self) -> bool:
        return bool(self.data or self.file)

    def read(self, what: str) -> bytes:
        """Return the PEM text; raises InputError naming the file."""
        if self.data:
            return self.data
        try:
            return Path(self.file).read_bytes()
        except OSError as error:
            raise InputError(f"{what} {self.file}: {error.strerror or error}") from None

    def stamp(self) -> tuple[int, int]:
        """Return what changes when the file does."""
        if self.data or not self.file:
            return (0, 0)
        try:
            status = Path(self.file).stat()
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class Tls:
    """How the server is verified, and our certificate if we have one. Without a CA the system's count."""

    ca: Pem = Pem()
    certificate: Pem = Pem()
    key: Pem = Pem()
    server_name: str = ""
    insecure: bool = False

    def stamp(self) -> tuple[tuple[int, int], ...]:
        """Return what changes when a file does."""
        return (self.ca.stamp(), self.certificate.stamp(), self.key.stamp())

    def context(self) -> ssl.SSLContext:
        """Return a context for new connections; raises InputError for what is no certificate."""
        try:
            authority = self.ca.read("certificate authority").decode() if self.ca else None
            context = ssl.create_default_context(cadata=authority)
            if self.insecure:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if self.certificate:
                with _on_disk(self.certificate, self.key) as (certificate, key):
                    context.load_cert_chain(certificate, key)
        except (ssl.SSLError, ValueError) as error:
            where = self.certificate.file or self.ca.file or "inline data"
            raise InputError(f"certificates of the API server's connection ({where}): {error}") from None
        return context


@contextlib.contextmanager
def _on_disk(certificate: Pem, key: Pem) -> Iterator[tuple[str, str]]:
    """Lend files that hold both: OpenSSL reads no keys from memory. They are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="podium-") as folder:
        paths = []
        for name, pem in (("tls.crt", certificate), ("tls.key", key)):
            path = Path(folder, name)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(pem.read("client certificate or key"))
            paths.append(str(path))
        yield paths[0], paths[1]


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything that a client needs to know of a cluster.

    Attributes:
        server: the URL, without a slash at the end.
        proxy: an HTTP proxy for all requests; empty: as the environment says.
        source: where this is from, for messages.

    """

    server: str
    tls: Tls = Tls()
    credentials: Credentials = field(default_factory=Anonymous, repr=False)
    namespace: str = "default"
    proxy: str = ""
    source: str = ""
