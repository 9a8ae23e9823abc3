"""Finds a cluster: a kubeconfig file, or the service account of the pod we run in."""

import base64
import binascii
import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from podium.cluster.kube.connection import Connection, Pem, Tls
from podium.cluster.kube.credentials import Anonymous, Credentials, Exec, ExecPlugin, Fixed, TokenFile
from podium.errors import InputError

_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_EXEC_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


def connect(kubeconfig: str = "", *, context: str = "", master: str = "") -> Connection:
    """Return how to reach a cluster.

    Args:
        kubeconfig: a file; several as in ``$KUBECONFIG`` are merged, the first says. Empty: in the cluster.
        context: of the kubeconfig; empty: its current one.
        master: the server's URL in place of the one that is found.

    Raises:
        InputError: one line that names the file and the field.

    """
    if kubeconfig:
        found = _from_files([part for part in kubeconfig.split(os.pathsep) if part], context)
    elif "KUBERNETES_SERVICE_HOST" in os.environ:
        found = in_cluster()
    elif master:
        found = Connection(server=_url(master, "--master"), source="--master")
    else:
        raise InputError(
            "no cluster: give --kubeconfig FILE (or clientConnection.kubeconfig in the configuration); "
            "without it Podium must run in a pod with a service account"
        )
    return dataclasses.replace(found, server=_url(master, "--master")) if master else found


def in_cluster(account: Path = _ACCOUNT) -> Connection:
    """Return the connection of the pod we run in; its token is read again as the kubelet rotates it."""
    host = os.environ["KUBERNETES_SERVICE_HOST"]
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    token = account / "token"
    if not token.exists():
        raise InputError(f"{token}: no service account is mounted into this pod; give --kubeconfig FILE")
    namespace = account / "namespace"
    return Connection(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        tls=Tls(ca=Pem(file=str(account / "ca.crt"))),
        credentials=TokenFile(str(token)),
        namespace=namespace.read_text(encoding="utf-8").strip() if namespace.exists() else "default",
        source="the pod's service account",
    )


def _from_files(paths: list[str], context: str) -> Connection:
    tables: dict[str, dict[str, tuple[Any, Path]]] = {"clusters": {}, "users": {}, "contexts": {}}
    current = context
    for name in paths:
        document, folder = _read(name), Path(name).resolve().parent
        current = current or _text(document, "current-context", name)
        for kind, table in tables.items():
            for number, entry in enumerate(document.get(kind) or ()):
                where = f"{name}: {kind}[{number}]"
                if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
                    raise InputError(f"{where}.name: Required value")
                body = entry.get(kind[:-1])
                table.setdefault(entry["name"], (body if isinstance(body, dict) else {}, folder))
    source = os.pathsep.join(paths)
    if not current:
        raise InputError(f"{source}: current-context: Required value")
    chosen, _ = _entry(tables, "contexts", current, source)
    cluster, cluster_folder = _entry(tables, "clusters", _text(chosen, "cluster", source), source)
    user_name = _text(chosen, "user", source)
    user, user_folder = _entry(tables, "users", user_name, source) if user_name else ({}, cluster_folder)
    return _connection(cluster, cluster_folder, user, user_folder, chosen, source)


def _read(path: str) -> Mapping[str, Any]:
    try:
        document = yaml.load(Path(path).read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise InputError(f"kubeconfig {path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark is not None else ""
        # The text may hold secrets, so it is not repeated.
        raise InputError(f"kubeconfig {path}: not a YAML document{line}") from None
    if not isinstance(document, dict):
        raise InputError(f"kubeconfig {path}: not a map with clusters, users and contexts")
    return document


def _entry(tables: Mapping[str, Mapping[str, Any]], kind: str, name: str, source: str) -> Any:
    if name not in tables[kind]:
        raise InputError(
            f'{source}: {kind}: there is no "{name}"; it has {", ".join(tables[kind]) or "none"}'
        )
    return tables[kind][name]


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key) or ""
    if not isinstance(value, str):
        raise InputError(f"{where}: {key}: expected a text")
    return value


def _pem(table: Mapping[str, Any], key: str, folder: Path, source: str) -> Pem:
    inline = _text(table, f"{key}-data", source)
    if inline:
        try:
            return Pem(data=base64.b64decode(inline, validate=True))
        except binascii.Error:
            raise InputError(f"{source}: {key}-data: not base64") from None
    file = _text(table, key, source)
    return Pem(file=str(folder / file)) if file else Pem()


def _connection(
    cluster: Mapping[str, Any],
    cluster_folder: Path,
    user: Mapping[str, Any],
    user_folder: Path,
    context: Mapping[str, Any],
    source: str,
) -> Connection:
    server = _text(cluster, "server", source)
    if not server:
        raise InputError(f"{source}: clusters[].cluster.server: Required value")
    tls = Tls(
        ca=_pem(cluster, "certificate-authority", cluster_folder, source),
        certificate=_pem(user, "client-certificate", user_folder, source),
        key=_pem(user, "client-key", user_folder, source),
        server_name=_text(cluster, "tls-server-name", source),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
    )
    if tls.insecure and tls.ca:
        raise InputError(
            f"{source}: certificate-authority and insecure-skip-tls-verify exclude each other; leave one out"
        )
    if bool(tls.certificate) != bool(tls.key):
        raise InputError(f"{source}: client-certificate and client-key go together; one of them is missing")
    return Connection(
        server=_url(server, source),
        tls=tls,
        credentials=_credentials(user, user_folder, cluster, source),
        namespace=_text(context, "namespace", source) or "default",
        proxy=_proxy(_text(cluster, "proxy-url", source), source),
        source=source,
    )


def _url(server: str, source: str) -> str:
    url = server if "://" in server else f"https://{server}"
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise InputError(f"{source}: server: {server!r} is not https://HOST:PORT")
    return url.rstrip("/")


def _proxy(url: str, source: str) -> str:
    if url and urlsplit(url).scheme not in {"http", "https"}:
        raise InputError(f"{source}: proxy-url: {url!r}: only http and https proxies are supported")
    return url


def _credentials(
    user: Mapping[str, Any], folder: Path, cluster: Mapping[str, Any], source: str
) -> Credentials:
    token, file = _text(user, "token", source), _text(user, "tokenFile", source)
    name = _text(user, "username", source)
    plugin = user.get("exec")
    if plugin:
        return Exec(_plugin(plugin, folder, cluster, source))
    if file:
        return TokenFile(str(folder / file))
    if token:
        return Fixed.bearer(token)
    if name:
        return Fixed.basic(name, _text(user, "password", source))
    if user.get("auth-provider"):
        raise InputError(f"{source}: users[].user.auth-provider is gone since v1.26; use an exec plugin")
    return Anonymous()


def _plugin(plugin: Any, folder: Path, cluster: Mapping[str, Any], source: str) -> ExecPlugin:
    where = f"{source}: users[].user.exec"
    if not isinstance(plugin, dict) or not _text(plugin, "command", where):
        raise InputError(f"{where}.command: Required value")
    version = _text(plugin, "apiVersion", where)
    if version not in _EXEC_VERSIONS:
        raise InputError(f"{where}.apiVersion: {version!r} is not supported: use {_EXEC_VERSIONS[0]}")
    if plugin.get("interactiveMode") == "Always":
        raise InputError(f"{where}.interactiveMode: Always: a daemon has no terminal to ask on")
    command = _text(plugin, "command", where)
    if "/" in command and not command.startswith("/"):
        command = str(folder / command)  # as kubectl: relative to the file, while bare names are searched
    lent = {
        "server": _text(cluster, "server", source),
        "certificate-authority-data": _text(cluster, "certificate-authority-data", source),
        "insecure-skip-tls-verify": bool(cluster.get("insecure-skip-tls-verify")),
    }
    return ExecPlugin(
        command=command,
        args=[str(argument) for argument in plugin.get("args") or ()],
        env={str(entry["name"]): str(entry["value"]) for entry in plugin.get("env") or ()},
        api_version=version,
        cluster=lent if plugin.get("provideClusterInfo") else None,
        install_hint=_text(plugin, "installHint", where),
    )
