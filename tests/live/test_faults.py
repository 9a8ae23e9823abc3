"""Nothing is lost and nothing is bound twice, whatever goes wrong between Podium and the API server."""

from __future__ import annotations

import time
import urllib.request
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.live.objects import Api, Refused, eventually, pod
from tests.live.process import podium_run, podium_running
from tests.live.proxy import Proxy, proxied

_PODS = 150


@pytest.fixture
def proxy(api: Api) -> Iterator[Proxy]:
    with proxied(api.plane) as between:
        yield between


def _through(api: Api, proxy: Proxy) -> str:
    return f"--kubeconfig={api.plane.kubeconfig(server=proxy.url, name='proxied')}"


def _drain(api: Api, proxy: Proxy, pods: int = _PODS) -> None:
    run = podium_run(api, "--once", _through(api, proxy))
    assert run.returncode == 0, run.stderr
    assert len(api.placements()) == pods, run.stderr


def _bound_once(proxy: Proxy) -> None:
    """No pod got two bindings that the server carried out."""
    done = Counter(name for name, status in proxy.faults.bindings if status == 201)
    assert done
    assert set(done.values()) == {1}


def test_watches_that_break_every_few_hundred_milliseconds(api: Api, proxy: Proxy):
    api.nodes(10)
    proxy.faults.cut = 0.3
    with podium_running(api, _through(api, proxy)) as running:
        for batch in range(3):
            before = proxy.faults.pod_watches
            api.pods(_PODS // 3, f"b{batch}")
            # Every batch is heard of over another watch than the one before.
            eventually(lambda seen=before: proxy.faults.pod_watches > seen, 120, what=running.log[-2000:])
        eventually(lambda: len(api.placements()) == _PODS, 90, what=running.log[-2000:])
        assert proxy.faults.lists == 1, "a cut watch goes on from the last version: no new list"
        assert running.stop() == 0, running.log
    _bound_once(proxy)


def test_refused_bindings_are_tried_again(api: Api, proxy: Proxy):
    api.nodes(10)
    api.pods(_PODS)
    proxy.faults.refusals = [500, 429, 503, 500, 429] * 12
    _drain(api, proxy)
    _bound_once(proxy)


def test_a_binding_whose_answer_is_lost_counts_once(api: Api, proxy: Proxy):
    api.nodes(10)
    api.pods(_PODS)
    proxy.faults.lost = 40
    _drain(api, proxy)
    assert proxy.faults.lost == 0
    _bound_once(proxy)
    scheduled = Counter(event["regarding"]["name"] for event in api.events("Scheduled"))
    assert set(scheduled.values()) == {1}
    assert len(scheduled) == _PODS


def test_a_slow_server(api: Api, proxy: Proxy):
    api.nodes(10)
    api.pods(60)
    proxy.faults.delay = 0.15
    _drain(api, proxy, 60)
    _bound_once(proxy)


def test_another_scheduler_is_faster(api: Api, proxy: Proxy):
    """Half of the pods are bound elsewhere while their bindings are on the way."""
    api.nodes(4)
    api.pods(40)
    proxy.faults.bind_delay = 1.5
    with podium_running(api, _through(api, proxy)) as running:
        eventually(lambda: proxy.faults.watches >= 15 and "synced" in running.log, 60)
        taken = [f"p-{i:04}" for i in range(0, 40, 2)]
        for name in taken:
            body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "node-0003"}}
            path = f"/api/v1/namespaces/default/pods/{name}/binding"
            body |= {"apiVersion": "v1", "kind": "Binding"}
            try:
                api.create(path, body)
            except Refused as error:
                assert error.status == 409  # noqa: PT017 (Podium was faster after all)
        eventually(lambda: len(api.placements()) == 40, 60)
        # What is on node-0003 now counts: 8 cpu, so that much of it is left.
        used = sum(node == "node-0003" for node in api.placements().values())
        api.create(
            "/api/v1/namespaces/default/pods",
            pod(
                "big",
                requests={"cpu": f"{8000 - 100 * used}m"},
                nodeSelector={"kubernetes.io/hostname": "node-0003"},
            ),
        )
        eventually(lambda: "big" in api.placements(), 40, what=running.log[-2000:])
        assert running.stop() == 0, running.log
    _bound_once(proxy)


def test_pods_and_nodes_that_vanish_before_they_are_bound(api: Api, proxy: Proxy):
    api.nodes(6)
    api.pods(60)
    proxy.faults.bind_delay = 1.0
    with podium_running(api, _through(api, proxy)) as running:
        eventually(lambda: "synced" in running.log, 60)
        for i in range(0, 60, 3):
            api.delete(f"/api/v1/namespaces/default/pods/p-{i:04}")
            if i % 2:  # another pod of the same name
                api.create("/api/v1/namespaces/default/pods", pod(f"p-{i:04}"))
        api.delete("/api/v1/nodes/node-0005", None)
        there = {item["metadata"]["name"] for item in api.items("/api/v1/pods")}
        eventually(lambda: set(api.placements()) == there, 60, what=running.log[-2000:])
        assert running.stop() == 0, running.log


def test_sigterm_in_mid_drain_leaves_nothing_half_done(api: Api, proxy: Proxy):
    api.nodes(10)
    api.pods(_PODS)
    proxy.faults.bind_delay = 0.5
    with podium_running(api, _through(api, proxy)) as running:
        eventually(lambda: len(api.placements()) > 0, 60)
        assert running.stop() == 0, running.log
    bound = api.placements()
    told = {event["regarding"]["name"] for event in api.events("Scheduled")}
    assert told == set(bound), "what was bound has been told"
    proxy.faults.bind_delay = 0.0
    _drain(api, proxy)
    _bound_once(proxy)


def test_the_api_server_is_killed_in_mid_drain(own_api: Api):
    plane = own_api.plane
    own_api.nodes(10)
    with proxied(plane) as proxy:
        proxy.faults.bind_delay = 0.3
        with podium_running(own_api, _through(own_api, proxy)) as running:
            own_api.pods(_PODS)
            eventually(lambda: len(own_api.placements()) > 5, 60)
            plane.kill("kube-apiserver")
            time.sleep(1.0)
            plane.start_api()
            eventually(lambda: len(own_api.placements()) == _PODS, 120, what=running.log[-3000:])
            assert running.stop() == 0, running.log
        _bound_once(proxy)


def test_a_compaction_that_makes_the_version_too_old(own_api: Api):
    """Everything is listed anew, and what was deleted meanwhile is noticed."""
    plane = own_api.plane
    own_api.nodes(4)
    own_api.pods(8, requests={"cpu": "4"})
    with podium_running(own_api) as running:
        eventually(lambda: len(own_api.placements()) == 8, 60, what=running.log[-2000:])
        running.pause()
        plane.kill("kube-apiserver")
        plane.start_api()
        for i in range(4):
            own_api.delete(f"/api/v1/namespaces/default/pods/p-{i:04}")
        own_api.pods(4, "new", requests={"cpu": "4"})
        _compact(own_api)
        plane.kill("kube-apiserver")  # its cache of events is gone too
        plane.start_api()
        running.go_on()
        eventually(
            lambda: sum(name.startswith("new") for name in own_api.placements()) == 4,
            90,
            what=running.log[-3000:],
        )
        assert running.stop() == 0, running.log


def _compact(api: Api) -> None:
    newest = int(api.request("GET", "/api/v1/pods")["metadata"]["resourceVersion"])
    body = f'{{"revision": "{newest}", "physical": true}}'
    request = urllib.request.Request(f"{api.plane.etcd_url}/v3/kv/compaction", data=body.encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert answer.status == 200


def test_tokens_are_read_again_when_they_rotate(own_api: Api):
    plane = own_api.plane
    own_api.nodes(2)
    token = plane.folder / "token"
    token.write_text("old-token")
    tokens = plane.folder / "tokens.csv"
    before = tokens.read_text()
    tokens.write_text(before + 'old-token,rotating,7,"system:masters"\n')
    plane.kill("kube-apiserver")
    plane.start_api()
    config = plane.folder / "rotating.kubeconfig"
    config.write_text(plane.kubeconfig().read_text().replace("token: admin-token", "tokenFile: token"))
    with podium_running(own_api, f"--kubeconfig={config}") as running:
        own_api.pods(3, "old")
        eventually(lambda: len(own_api.placements()) == 3, 60)
        tokens.write_text(before + 'new-token,rotating,7,"system:masters"\n')
        token.write_text("new-token")
        plane.kill("kube-apiserver")
        plane.start_api()
        own_api.pods(3, "new")
        eventually(lambda: len(own_api.placements()) == 6, 60, what=running.log[-2000:])
        assert running.stop() == 0, running.log
        assert "old-token" not in running.log
        assert "new-token" not in running.log
