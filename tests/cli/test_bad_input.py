"""Whatever comes in: one clear line and status 2, or an entry under ``rejected``; never a traceback."""

import gzip
import itertools
from pathlib import Path

import pytest

from tests.cli.manifests import node, pod, text
from tests.command import podium

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

#: What nothing can be read of: name -> content.
UNREADABLE = {
    "truncated.yaml": b"apiVersion: v1\nkind: Pod\nmetadata: {name: x",
    "binary.yaml": bytes(itertools.islice(itertools.cycle(range(256)), 4096)),
    "zeros.json": b"\0" * 1000,
    "nested.yaml": b"[" * 10_000_000,
    "nested.json": b"[" * 10_000_000,
    "nested-whole.json": b"[" * 5_000_000 + b"]" * 5_000_000,
    "nested-maps.json": b'{"a":' * 2_000_000,
    "damaged.yaml.gz": gzip.compress(b"kind: Pod\n" * 1000)[:60],
    "utf16.yaml": "kind: Pod".encode("utf-16"),
}
COMMANDS = ["simulate", "explain", "check"]


def one_line(answer, *texts):
    assert answer.status == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("podium: "), answer.err[:200]
    assert answer.err.count("\n") == 1, answer.err[:500]
    assert len(answer.err) < 1000
    for part in texts:
        assert part in answer.err


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_named_in_one_line(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(UNREADABLE[name])
    one_line(podium("check", "-f", path), name)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_so(tmp_path, command):
    path = tmp_path / "cut.yaml"
    path.write_bytes(UNREADABLE["truncated.yaml"])
    one_line(podium(command, "-f", path), "cut.yaml:1", "line 4")
    one_line(podium(command, "-f", tmp_path / "nothing.yaml"), "nothing.yaml", "No such file")
    one_line(podium(command, "-f", "-", stdin=b"\xff\xfe\0"), "-: not text in UTF-8")
    one_line(podium(command, "-f", tmp_path / "cut.yaml" / "x"), "Not a directory")


def test_a_folder_without_manifests_is_a_mistake(tmp_path):
    one_line(podium("check", "-f", tmp_path), str(tmp_path), "no .yaml")


def test_a_nul_in_a_name_is_no_traceback():
    one_line(podium("check", "-f", "a\0b"))


@pytest.mark.parametrize(
    ("trace", "part"),
    [
        ("openb", "expected FORMAT:PATH"),
        ("nothing:x.csv", "unknown trace format 'nothing'"),
        ("openb:only-one.csv", "expected two files"),
        ("philly:/nowhere.csv", "/nowhere.csv"),
        ("sktrace:/nowhere", "/nowhere"),
        ("openb:BINARY,BINARY", "binary"),
        ("philly:BINARY", "binary"),
        ("sktrace:BINARY", "binary"),
    ],
)
def test_a_bad_trace_is_one_line(tmp_path, trace, part):
    path = tmp_path / "binary"
    path.write_bytes(UNREADABLE["binary.yaml"])
    one_line(podium("simulate", "--trace", trace.replace("BINARY", str(path))), part)


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ("profiles: [", "line"),
        (CONFIG + "profiles:\n- plugins: {score: {enabled: [{name: Nothing}]}}\n", '"Nothing"'),
        (CONFIG + "profils: []\n", "profils"),
        (CONFIG + "percentageOfNodesToScore: 200\n", "percentageOfNodesToScore"),
        (
            CONFIG + "---\napiVersion: podium.dev/v1alpha1\nkind: PodiumConfiguration\nchoose: best\n",
            "choose",
        ),
        ("apiVersion: v1\nkind: Pod\n", '"Pod" is no configuration'),
        ("", "no configuration in it"),
        ("[" * 100_000, "nesting depth"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_a_bad_configuration_is_one_line_with_the_field(tmp_path, command, config, part):
    path = tmp_path / "config.yaml"
    path.write_text(config)
    manifest = tmp_path / "node.yaml"
    manifest.write_text(text(node("n1")))
    one_line(podium(command, "-f", manifest, "--config", path), "config.yaml", part)


def test_a_configuration_that_is_not_there_is_one_line(tmp_path):
    for command in COMMANDS:
        one_line(podium(command, "-f", "-", "--config", tmp_path / "none.yaml"), "No such file")


#: Objects that are refused one by one while the rest is scheduled.
REFUSED = {
    "negative": pod("bad", cpu="-1"),
    "no quantity": pod("bad", cpu="1.5.2"),
    "list for a map": {"apiVersion": "v1", "kind": "Pod", "metadata": [], "spec": {}},
    "text for a list": {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bad"},
        "spec": {"containers": "x"},
    },
    "no kind": {"apiVersion": "v1", "metadata": {"name": "bad"}},
    "kind is a list": {"apiVersion": "v1", "kind": ["Pod"], "metadata": {"name": "bad"}},
    "no name": {"apiVersion": "v1", "kind": "Pod", "spec": pod("x")["spec"]},
    "huge number": {**node("bad"), "status": {"capacity": {"cpu": 10**400}}},
    "replicas is a text": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "bad"},
        "spec": {"replicas": "three"},
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_object_is_rejected_and_the_rest_goes_on(tmp_path, name):
    path = tmp_path / "all.yaml"
    path.write_text(text(node("n1"), REFUSED[name], pod("good")))
    answer = podium("simulate", "-f", path, "-o", "json")
    assert answer.status == 0, answer.err
    assert answer.err == ""
    assert [placement["pod"] for placement in answer.json["placements"]] == ["default/good"]
    (note,) = answer.json["rejected"]
    assert note["source"] == f"{path}:2"
    assert note["message"]


def test_a_broken_document_leaves_the_others(tmp_path):
    path = tmp_path / "all.yaml"
    path.write_text(f"{text(node('n1'))}---\nkind: [\n---\n{text(pod('good'))}")
    answer = podium("simulate", "-f", path, "-o", "json").json
    assert len(answer["placements"]) == 1
    assert [note["source"] for note in answer["rejected"]] == [f"{path}:2"]


@pytest.mark.parametrize("amount", ["1E", "8Ei", "9999999999999999999999", "1e300", 2**70])
def test_huge_quantities_do_no_harm(tmp_path, amount):
    path = tmp_path / "all.yaml"
    path.write_text(text(node("n1"), node("n2", cpu=str(amount)), pod("big", cpu=amount), pod("good")))
    answer = podium("simulate", "-f", path, "-o", "json")
    assert answer.status == 0
    names = [placement["pod"] for placement in answer.json["placements"]]
    assert "default/good" in names


def test_out_that_cannot_be_written_is_one_line(tmp_path):
    taken = Path(tmp_path / "taken")
    taken.write_text("")
    manifest = tmp_path / "node.yaml"
    manifest.write_text(text(node("n1")))
    one_line(podium("simulate", "-f", manifest, "--out", taken), "--out", "taken")
