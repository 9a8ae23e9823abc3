"""A certificate for a process that was given none, as kube-scheduler makes one."""

import contextlib
import datetime
import ipaddress
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID = datetime.timedelta(days=365)


@contextlib.contextmanager
def self_signed() -> Iterator[tuple[str, str]]:
    """Lend the paths of a certificate and its key; the files are gone afterwards."""
    key = ec.generate_private_key(ec.SECP256R1())
    host = socket.gethostname()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{host[:50]}@podium")])
    now = datetime.datetime.now(datetime.UTC)
    hosts = [x509.DNSName(host), x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with tempfile.TemporaryDirectory(prefix="podium-") as folder:
        paths = []
        for file, data in (
            ("tls.crt", certificate.public_bytes(serialization.Encoding.PEM)),
            ("tls.key", secret),
        ):
            path = Path(folder, file)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as out:
                out.write(data)
            paths.append(str(path))
        yield paths[0], paths[1]
