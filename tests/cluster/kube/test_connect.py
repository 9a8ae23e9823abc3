"""Kubeconfigs: what is found, and what is said of those that are wrong."""

from __future__ import annotations

import asyncio
import base64
import stat
from pathlib import Path

import pytest
from podium.cluster.kube.connect import connect, in_cluster
from podium.cluster.kube.connection import Connection
from podium.errors import ClusterError, InputError

_CLUSTER = '{name: c, cluster: {server: "https://10.0.0.1:6443"CLUSTER}}'


def _config(folder: Path, *, user: str = "{token: secret}", cluster: str = "", context: str = "x") -> str:
    path = folder / "config"
    path.write_text(
        f"apiVersion: v1\nkind: Config\nclusters: [{_CLUSTER.replace('CLUSTER', cluster)}]\n"
        f"users: [{{name: u, user: {user}}}]\n"
        f"contexts: [{{name: x, context: {{cluster: c, user: u, namespace: apps}}}}]\n"
        f"current-context: {context}\n"
    )
    return str(path)


def _header(connection: Connection) -> str | None:
    return asyncio.run(connection.credentials.header())


def test_a_token(tmp_path):
    found = connect(_config(tmp_path))
    assert (found.server, found.namespace) == ("https://10.0.0.1:6443", "apps")
    assert _header(found) == "Bearer secret"
    assert "secret" not in repr(found)
    assert not found.tls.insecure


def test_a_user_and_password(tmp_path):
    found = connect(_config(tmp_path, user="{username: a, password: b}"))
    assert _header(found) == "Basic " + base64.b64encode(b"a:b").decode()


def test_files_are_relative_to_the_kubeconfig(tmp_path, monkeypatch):
    (tmp_path / "ca.crt").write_text("pem")
    monkeypatch.chdir("/")
    found = connect(_config(tmp_path, cluster=", certificate-authority: ca.crt"))
    assert found.tls.ca.read("ca") == b"pem"


def test_the_first_of_several_files_says(tmp_path):
    (tmp_path / "b").mkdir()
    first = _config(tmp_path)
    second = _config(tmp_path / "b", user="{token: other}", context="y")
    assert _header(connect(f"{first}:{second}")) == "Bearer secret"


def test_an_exec_plugin_is_asked_once_and_again_when_refused(tmp_path, monkeypatch):
    script = tmp_path / "plugin"
    script.write_text(
        "#!/bin/sh\necho x >> calls\n"
        'case "$KUBERNETES_EXEC_INFO" in *"client.authentication.k8s.io/v1"*) ;; *) exit 3;; esac\n'
        'echo \'{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",'
        ' "status": {"token": "made"}}\'\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    user = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, interactiveMode: Never}}"
    found = connect(_config(tmp_path, user=user))

    async def ask() -> None:
        for _ in range(3):
            assert await found.credentials.header() == "Bearer made"
        assert found.credentials.reject()
        assert await found.credentials.header() == "Bearer made"

    monkeypatch.chdir(tmp_path)
    asyncio.run(ask())
    assert (tmp_path / "calls").read_text().split() == ["x", "x"]


def test_what_an_exec_plugin_prints_is_not_repeated(tmp_path):
    user = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: echo, args: [hidden-text]}}"
    with pytest.raises(ClusterError, match="is no ExecCredential") as caught:
        _header(connect(_config(tmp_path, user=user)))
    assert "hidden-text" not in str(caught.value)


def test_a_token_file_is_read_again_after_a_refusal(tmp_path):
    token = tmp_path / "token"
    token.write_text("one\n")
    found = connect(_config(tmp_path, user="{tokenFile: token}"))

    async def ask() -> list[str | None]:
        heard = [await found.credentials.header()]
        token.write_text("two\n")
        heard.append(await found.credentials.header())
        found.credentials.reject()
        return [*heard, await found.credentials.header()]

    assert asyncio.run(ask()) == ["Bearer one", "Bearer one", "Bearer two"]


def test_the_service_account_of_a_pod(tmp_path, monkeypatch):
    (tmp_path / "token").write_text("mounted")
    (tmp_path / "namespace").write_text("here")
    (tmp_path / "ca.crt").write_text("pem")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    found = in_cluster(tmp_path)
    assert (found.server, found.namespace) == ("https://[fd00::1]:6443", "here")
    assert _header(found) == "Bearer mounted"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"context": "y"}, 'contexts: there is no "y"; it has x'),
        ({"cluster": ", certificate-authority-data: '###'"}, "certificate-authority-data: not base64"),
        (
            {"cluster": ", certificate-authority: a, insecure-skip-tls-verify: true"},
            "exclude each other",
        ),
        ({"user": "{client-certificate: a}"}, "client-certificate and client-key go together"),
        ({"user": "{exec: {command: a, apiVersion: v9}}"}, "apiVersion: 'v9' is not supported"),
        ({"user": "{auth-provider: {name: gcp}}"}, "use an exec plugin"),
        ({"cluster": ", proxy-url: 'socks5://a:1'"}, "only http and https proxies"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, parts, text):
    with pytest.raises(InputError) as caught:
        connect(_config(tmp_path, **parts))
    assert text in str(caught.value)


def test_a_broken_file_is_named_and_not_repeated(tmp_path):
    path = tmp_path / "config"
    path.write_text("users: [{user: {token: very-secret\n")
    with pytest.raises(InputError, match="not a YAML document") as caught:
        connect(str(path))
    assert "very-secret" not in str(caught.value)
    with pytest.raises(InputError, match="No such file"):
        connect(str(tmp_path / "none"))
