"""A control plane on loopback: etcd and kube-apiserver with RBAC, TLS and tokens, started in seconds."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.live.build import program
from tests.live.certificates import Authority, account_key

ADMIN_TOKEN = "admin-token"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ControlPlane:
    """etcd and kube-apiserver in a folder; further programs on demand.

    ServiceAccount and TaintNodesByCondition admission are off, so that bare pods and nodes are accepted as
    they are. The server's certificate is signed by ``authority``, whose certificate is in ``ca.crt``.
    """

    def __init__(self, folder: Path, *, api_flags: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.port = free_port()
        self._etcd_port, self._peer_port = free_port(), free_port()
        self._flags = api_flags
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.authority = Authority()
        self.url = f"https://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.authority.write(self.folder, "ca", "server")
        (self.folder / "sa.key").write_bytes(account_key())
        tokens = [f'{ADMIN_TOKEN},admin,1,"system:masters"', "podium-token,podium,2", "nobody-token,nobody,3"]
        (self.folder / "tokens.csv").write_text("\n".join(tokens) + "\n")
        self.start_etcd()
        self.start_api()

    def start_etcd(self) -> None:
        client = f"http://127.0.0.1:{self._etcd_port}"
        peer = f"http://127.0.0.1:{self._peer_port}"
        self.spawn(
            "etcd",
            *("--data-dir", str(self.folder / "etcd")),
            *("--listen-client-urls", client, "--advertise-client-urls", client),
            *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
            *("--initial-cluster", f"default={peer}", "--unsafe-no-fsync", "--log-level", "error"),
        )

    @property
    def etcd_url(self) -> str:
        return f"http://127.0.0.1:{self._etcd_port}"

    def start_api(self) -> None:
        self.spawn(
            "kube-apiserver",
            *(
                "--etcd-servers",
                self.etcd_url,
                "--bind-address",
                "127.0.0.1",
                "--secure-port",
                str(self.port),
            ),
            *("--cert-dir", str(self.folder / "api-certs")),
            *("--tls-cert-file", "server.crt", "--tls-private-key-file", "server.key"),
            *("--service-cluster-ip-range", "10.0.0.0/24"),
            *("--service-account-issuer", "https://kubernetes.default"),
            *("--service-account-key-file", "sa.key", "--service-account-signing-key-file", "sa.key"),
            *("--token-auth-file", "tokens.csv", "--authorization-mode", "RBAC"),
            *("--client-ca-file", "ca.crt"),
            *("--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition"),
            "--enable-priority-and-fairness=false",
            *("--feature-gates", "GenericWorkload=true"),
            *("--runtime-config", "scheduling.k8s.io/v1beta1=true"),
            *("--max-requests-inflight", "0", "--max-mutating-requests-inflight", "0"),
            *self._flags,
        )
        self.wait_ready()

    def spawn(self, name: str, *arguments: str, env: dict[str, str] | None = None, under: str = "") -> None:
        """Start a program; its output goes to a file of its name."""
        with (self.folder / f"{under or name}.log").open("ab") as log:
            self._processes[under or name] = subprocess.Popen(
                [str(program(name)), *arguments],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                env={**os.environ, **(env or {})},
            )

    def wait_ready(self, seconds: float = 240.0) -> None:
        context = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        request = urllib.request.Request(
            self.url + "/readyz", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}
        )
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(request, context=context, timeout=2) as answer:
                    if answer.read() == b"ok":
                        return
            except (OSError, urllib.error.HTTPError):
                pass
            time.sleep(0.1)
        tail = (self.folder / "kube-apiserver.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"kube-apiserver did not become ready:\n{tail}")

    def kubeconfig(self, token: str = ADMIN_TOKEN, *, server: str = "", name: str = "admin") -> Path:
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(
            f"""\
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{server or self.url}", certificate-authority: ca.crt}}}}]
users: [{{name: u, user: {{token: {token}}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""
        )
        return path

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """End one program and wait for it."""
        process = self._processes.pop(name, None)
        if process is not None:
            process.send_signal(number)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def stop(self) -> None:
        for name in [*self._processes][::-1]:
            self.kill(name)
