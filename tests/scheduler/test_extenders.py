"""HTTP extenders, asked over HTTP: a server of the test's own says what it is told to."""

import base64
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from podium.framework.config import parse_config
from podium.scheduler.loop import Scheduler
from podium.testing import make_node, make_pod

from tests.scheduler.world import World


class Server(ThreadingHTTPServer):
    """Answers each verb with what a function of the request makes."""

    def __init__(self, verbs, context=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.verbs, self.asked = verbs, []
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        verb = self.path.rpartition("/")[2]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((verb, request))
        answer = self.server.verbs[verb](request)
        body = json.dumps(answer).encode()
        self.send_response(500 if answer is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(context=None, **verbs):
        servers.append(Server(verbs, context))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def world(server, *, scheme="http", nodes=("n1", "n2", "n3"), **settings):
    verbs = {f"{verb}Verb": verb for verb in server.verbs}
    extender = {"urlPrefix": f"{scheme}://127.0.0.1:{server.port}/x/", **verbs, **settings}
    if "prioritize" in server.verbs:
        extender.setdefault("weight", 1)
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [extender],
    }
    made = World(nodes=nodes)
    made.scheduler = Scheduler(parse_config(json.dumps(document).encode(), "test"), made.log)
    return made


def names(request):
    return request["NodeNames"] or [item["metadata"]["name"] for item in request["Nodes"]["items"]]


def keep(*kept):
    """Filter: these nodes will do, the others fail; written as extenders in Go or Python might."""

    def answer(request):
        failed = {name: "too far" for name in names(request) if name not in kept}
        if request["NodeNames"] is not None:
            return {"nodenames": list(kept), "failedNodes": failed}
        return {"Nodes": {"items": [{"metadata": {"name": name}} for name in kept]}, "FailedNodes": failed}

    return answer


@pytest.mark.parametrize("cached", [False, True])
def test_filter(serve, cached):
    server = serve(filter=keep("n2"))
    made = world(server, nodeCacheCapable=cached)
    pod = make_pod("p").request(cpu="1").build()
    made.add(pod).run()
    assert made.node_of(pod) == "n2"
    ((verb, request),) = server.asked
    assert verb == "filter"
    assert request["Pod"]["metadata"]["name"] == "p"
    assert sorted(names(request)) == ["n1", "n2", "n3"]
    assert (request["Nodes"] is None) == cached


def test_only_nodes_that_passed_the_plugins_are_sent_and_its_reasons_are_told(serve):
    server = serve(filter=keep())
    made = world(server)
    made.cluster.apply([make_node("small").capacity(cpu="1", pods="9").build()])
    pod = make_pod("p").request(cpu="2").build()
    made.add(pod).run()
    assert sorted(names(server.asked[0][1])) == ["n1", "n2", "n3"]
    assert "0/4 nodes are available: 1 Insufficient cpu, 3 too far." in made.message_of(pod)


def test_prioritize_is_added_with_its_weight(serve):
    server = serve(
        prioritize=lambda request: [{"Host": n, "Score": 10 if n == "n3" else 0} for n in names(request)]
    )
    made = world(server, weight=5)
    pods = [make_pod(f"p{at}").request(cpu="1").build() for at in range(3)]
    made.add(*pods).run()
    assert [made.node_of(pod) for pod in pods] == ["n3"] * 3


def test_a_prioritize_that_fails_is_no_opinion(serve):
    made = world(serve(prioritize=lambda request: None))
    pod = make_pod("p").build()
    made.add(pod).run()
    assert made.node_of(pod)


@pytest.mark.parametrize("ignorable", [False, True])
def test_a_filter_that_fails(serve, ignorable):
    made = world(serve(filter=lambda request: None), ignorable=ignorable)
    pod = make_pod("p").build()
    made.add(pod).run()
    assert bool(made.node_of(pod)) == ignorable
    assert ("code 500" in made.message_of(pod)) != ignorable
    (attempt, *_) = made.log.attempts
    assert attempt.result == ("scheduled" if ignorable else "error")


def test_an_error_in_the_answer_and_a_node_that_was_not_sent(serve):
    for answer in ({"Error": "no licence"}, {"nodenames": ["n9"]}):
        made = world(serve(filter=lambda request, answer=answer: answer), nodeCacheCapable=True)
        pod = make_pod("p").build()
        made.add(pod).run()
        assert ("no licence" in made.message_of(pod)) or ('filtered node "n9"' in made.message_of(pod))


def test_bind(serve):
    server = serve(bind=lambda request: {"Error": "" if request["Node"] == "n1" else "not there"})
    made = world(server, nodes=("n1",))
    pod = make_pod("p").build()
    made.add(pod).run(1)
    assert server.asked[-1] == (
        "bind",
        {"PodName": "p", "PodNamespace": "default", "PodUID": pod.metadata.uid, "Node": "n1"},
    )
    assert made.log.ends == [("bound", "p", "n1")]


def test_a_bind_that_fails_is_rolled_back(serve):
    made = world(serve(bind=lambda request: {"error": "no"}), nodes=("n1",))
    made.add(make_pod("p").build()).step()
    made.cluster.advance(made.cluster.now())
    made.step()
    ((what, _, why),) = made.log.ends
    assert what == "rolled back"
    assert 'running Bind plugin "Extender[0]"' in why


def test_pods_that_name_none_of_its_resources_never_leave_the_core(serve):
    server = serve(filter=keep("n2"))
    made = world(server, managedResources=[{"name": "example.com/fpga", "ignoredByScheduler": True}])
    plain, special = (
        make_pod("plain").build(),
        make_pod("special").request(**{"example.com/fpga": "1"}).build(),
    )
    made.add(plain, special).run()
    assert [request["Pod"]["metadata"]["name"] for _, request in server.asked] == ["special"]
    assert made.node_of(special) == "n2"
    assert made.node_of(plain)


@pytest.mark.parametrize("cached", [False, True])
def test_preempt_chooses_among_the_candidates(serve, cached):
    def agree(request):
        victims = request["NodeNameToMetaVictims"] if cached else request["NodeNameToVictims"]
        assert sorted(victims) == ["n1", "n2"]
        (pod,) = victims["n2"]["Pods"]
        uid = pod["UID"] if cached else pod["metadata"]["uid"]
        return {"NodeNameToMetaVictims": {"n2": {"Pods": [{"UID": uid}], "NumPDBViolations": 0}}}

    server = serve(preempt=agree)
    made = world(server, nodes=("n1", "n2"), nodeCacheCapable=cached)
    made.add(*[make_pod(f"low{at}").request(cpu="8").build() for at in range(2)]).run()
    high = make_pod("high").request(cpu="8").priority(9).build()
    made.add(high).run(5)
    assert [verb for verb, _ in server.asked].count("preempt") == 1
    assert made.scheduler.engine.nominated(made.scheduler.state.entry(high.metadata.uid).handle) == "n2"


def test_the_configuration_warns_of_the_cost(serve):
    made = world(serve(filter=keep()))
    assert any("milliseconds instead of microseconds" in text for text in made.scheduler.config.warnings)


@pytest.fixture
def secure(tmp_path):
    """Return a server's context, and an authority that has signed it."""
    certificates = pytest.importorskip("tests.live.certificates", reason="needs the package cryptography")
    authority = certificates.Authority()
    authority.write(tmp_path, "ca", "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    return context, authority, tmp_path


def pem(data):
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("tls", "trusted"),
    [
        (lambda ca, folder: {"caData": pem(ca)}, True),
        (lambda ca, folder: {"caFile": str(folder / "ca.crt"), "serverName": "localhost"}, True),
        (lambda ca, folder: {"caData": pem(ca), "serverName": "elsewhere"}, False),
        (lambda ca, folder: {"insecure": True}, True),
        (lambda ca, folder: {}, False),
    ],
    ids=["data", "file and name", "wrong name", "insecure", "unknown authority"],
)
def test_tls(serve, secure, tls, trusted):
    context, authority, folder = secure
    made = world(serve(context, filter=keep("n2")), scheme="https", tlsConfig=tls(authority.pem, folder))
    pod = make_pod("p").build()
    made.add(pod).run()
    assert made.node_of(pod) == ("n2" if trusted else None)
    if not trusted:
        assert "CERTIFICATE_VERIFY_FAILED" in made.message_of(pod)


def test_clients_show_their_certificate(serve, secure):
    context, authority, folder = secure
    context.load_verify_locations(folder / "ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    certificate, key = authority.issue("scheduler")
    server = serve(context, filter=keep("n2"))
    for tls, accepted in (({"certData": pem(certificate), "keyData": pem(key)}, True), ({}, False)):
        made = world(server, scheme="https", tlsConfig={"caData": pem(authority.pem), **tls})
        pod = make_pod("p").build()
        made.add(pod).run()
        assert bool(made.node_of(pod)) == accepted
