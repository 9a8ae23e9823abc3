import gzip
import io
import json
import sys

import pytest
from podium import api
from podium.api import manifest
from podium.errors import InputError

POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers: [{{name: main, image: x, resources: {{requests: {{cpu: {cpu}}}}}}}]
"""


def pod(name, cpu="100m"):
    return POD.format(name=name, cpu=cpu)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def names(loaded, kind=api.Pod):
    return [item.metadata.name for item in loaded.of(kind)]


def test_reads_yaml_documents_in_order_with_their_sources(write):
    path = write("a.yaml", "# first\n---\n" + pod("a") + "---\n# nothing\n---\n" + pod("b"))
    loaded = manifest.load([path])
    assert names(loaded) == ["a", "b"]
    assert [entry.source for entry in loaded.entries(api.Pod)] == [f"{path}:1", f"{path}:2"]
    assert loaded.counts() == {"Pod": 2}


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_reads_json_lists_and_gzip(write, suffix):
    items = [
        {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}} for name in "ab"
    ]
    data = json.dumps({"apiVersion": "v1", "kind": "PodList", "items": items}).encode()
    path = write("pods.json" + suffix, gzip.compress(data) if suffix else data)
    loaded = manifest.load([path])
    assert names(loaded) == ["a", "b"]
    assert loaded.entries(api.Pod)[1].source == f"{path}:1.items[1]"


def test_reads_json_documents_one_after_the_other_and_yaml_lists(write):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    stream = json.dumps(node) + "\n" + json.dumps({**node, "metadata": {"name": "m"}})
    listed = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: k}}\n"
    loaded = manifest.load([write("a.json", stream), write("b.yaml", listed)])
    assert names(loaded, api.Node) == ["n", "m", "k"]


def test_reads_a_folder_in_order_without_its_folders(tmp_path, write):
    write("b.yaml", pod("b"))
    write("a.yml", pod("a"))
    write("notes.txt", "nothing")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.yaml").write_text(pod("c"))
    assert names(manifest.load([str(tmp_path)])) == ["a", "b"]


def test_reads_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pod("a").encode())))
    loaded = manifest.load(["-"])
    assert names(loaded) == ["a"]
    assert loaded.entries(api.Pod)[0].source == "-:1"


def test_everything_is_one_cluster_whatever_the_order_of_inputs(write):
    pending = write("pending.yaml", pod("a").replace("spec:", "spec:\n  priorityClassName: high"))
    classes = write(
        "classes.yaml",
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n",
    )
    (item,) = manifest.load([pending, classes]).of(api.Pod)
    assert item.spec.priority == 7


def test_one_bad_object_never_stops_the_rest(write):
    documents = [
        pod("good"),
        "kind: Pod\nmetadata: {name: versionless}\n",
        "just text",
        "[1, 2]",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: typed}\nspec: {priority: high}\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: broken\n",
        pod("negative", cpu="-1"),
        pod("nonsense", cpu="1GB"),
        "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: old}\n",
        "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: older}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
        pod("last"),
    ]
    path = write("all.yaml", "\n---\n".join(documents))
    loaded = manifest.load([path])
    assert names(loaded) == ["good", "last"]
    assert loaded.ignored == {"ConfigMap": 1}
    rejected = {note.source.removeprefix(path + ":"): (note.object, note.message) for note in loaded.rejected}
    assert rejected["2"][0] == "Pod default/versionless"
    assert "apiVersion" in rejected["2"][1]
    assert rejected["3"] == ("", "not an object but a text")
    assert rejected["5"] == ("Pod default/typed", "spec.priority: Expected `int | null`, got `str`")
    assert "line" in rejected["6"][1]
    assert "spec.containers[0].resources.requests[cpu]" in rejected["7"][1]
    assert "spec.containers[0].resources.requests[cpu]: quantities must match" in rejected["8"][1]
    assert 'no matches for kind "Deployment" in version "extensions/v1beta1"' in rejected["9"][1]
    assert "policy/v1" in rejected["10"][1]
    assert all("\n" not in note.message for note in loaded.rejected)


def test_a_list_in_json_isolates_its_members(write):
    good = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    items = [good, 5, {"kind": "Node"}, {**good, "metadata": {"name": "m"}, "spec": {"taints": {}}}]
    path = write("a.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    loaded = manifest.load([path])
    assert names(loaded, api.Node) == ["n"]
    assert [note.source for note in loaded.rejected] == [f"{path}:1.items[{index}]" for index in (1, 2, 3)]


def test_nulls_are_absent_fields(write):
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "labels": None, "annotations": {"x": None}, "creationTimestamp": None},
        "spec": {"containers": [{"name": "c", "image": "x", "ports": None}], "tolerations": None},
        "status": None,
    }
    for name in ("a.json", "a.yaml"):
        (item,) = manifest.load([write(name, json.dumps(body))]).of(api.Pod)
        assert item.metadata.annotations == {"x": ""}
        assert len(item.spec.tolerations) == 2


def test_identical_objects_are_one_and_others_exist_already(write):
    first, second = write("a.yaml", pod("a")), write("b.yaml", pod("a"))
    other = write("c.yaml", pod("a", cpu="2"))
    loaded = manifest.load([first, second, other])
    assert names(loaded) == ["a"]
    (note,) = loaded.rejected
    assert (note.object, note.message) == ("Pod default/a", 'pods "a" already exists')
    assert note.source == f"{other}:1"


def test_one_priority_class_is_the_default():
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name, "namespace": "dropped"},
            "value": value,
            "globalDefault": True,
        }
        for name, value in (("first", 5), ("second", 3))
    ]
    loaded = manifest.load_objects(classes, "test")
    assert names(loaded, api.PriorityClass) == ["first"]
    (note,) = loaded.rejected
    assert note.object == "PriorityClass second"
    assert "PriorityClass first is already marked as default" in note.message


def test_a_refused_object_does_not_take_a_name(write):
    loaded = manifest.load([write("a.yaml", pod("a", cpu="-1") + "---" + pod("a"))])
    assert names(loaded) == ["a"]


def test_uids_are_derived_and_stable(write):
    path = write("a.yaml", pod("a"))
    first, second = (manifest.load([path]).of(api.Pod)[0].metadata.uid for _ in range(2))
    assert first == second
    generated = (
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: g-}\nspec: {containers: [{name: a, image: b}]}"
    )
    (item,) = manifest.load([write("g.yaml", generated)]).of(api.Pod)
    assert item.metadata.name.startswith("g-")
    assert len(item.metadata.name) == len("g-") + 5


MODES = [("create", 0, 1, 0), ("persisted", 1, 0, 1), ("off", 1, 0, 0), ("auto", 0, 1, 0)]


@pytest.mark.parametrize(("mode", "kept", "rejected", "warned"), MODES)
def test_modes_of_validation(write, mode, kept, rejected, warned):
    loaded = manifest.load([write("a.yaml", pod("a", cpu="-1"))], manifest.Options(validate=mode))
    counts = (len(loaded.of(api.Pod)), len(loaded.rejected), len(loaded.warnings))
    assert counts == (kept, rejected, warned)


def test_what_is_stored_already_is_warned_of_and_not_admitted_again(write):
    stored = pod("a", cpu="-1").replace("{name: a}", "{name: a, resourceVersion: '5'}")
    loaded = manifest.load([write("a.yaml", stored)])
    (item,) = loaded.of(api.Pod)
    assert item.spec.priority is None
    assert not item.spec.tolerations
    (note,) = loaded.warnings
    assert "must be greater than or equal to 0" in note.message
    assert not note.quirk


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("junk.yaml", bytes(range(256)), "not text in UTF-8"),
        ("cut.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: [", "cut.yaml:1: line 4"),
        ("cut.json", '{"kind": "Pod", "metadata": {', "cut.json:1: not JSON"),
        ("nested.json", "[" * 10_000_000, "nested.json:1: not JSON"),
        ("nested.yaml", "a: " + "[" * 10_000_000, "nest"),
        ("broken.gz", b"\x1f\x8bnothing", "damaged gzip"),
        ("zeros.yaml", b"\x00" * 100, "control characters"),
    ],
)
def test_input_that_cannot_be_read_is_one_line_with_the_file(write, name, content, message):
    path = write(name, content)
    with pytest.raises(InputError) as caught:
        manifest.load([path])
    text = str(caught.value)
    assert text.startswith(path)
    assert message in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"name": "a\xff"}', "UTF-8"),
        (b'{"name": "\\ud800"}', "not valid Unicode"),
        (b'{"name": "a", "generation": 99999999999999999999}', "metadata.generation"),
        (b'{"name": 5}', "metadata.name: Expected `str`, got `int`; put it in quotes"),
    ],
)
def test_odd_texts_and_numbers_are_rejected_alone(write, body, message):
    item = b'{"apiVersion": "v1", "kind": "Node", "metadata": ' + body + b"}"
    good = b'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "good"}}'
    path = write("a.json", b'{"apiVersion": "v1", "kind": "List", "items": [' + item + b"," + good + b"]}")
    loaded = manifest.load([path])
    assert names(loaded, api.Node) == ["good"]
    (note,) = loaded.rejected
    assert message in note.message


def test_numbers_have_the_api_servers_width(write):
    text = pod("a").replace("spec:", "spec:\n  priority: 4294967296")
    (note,) = manifest.load([write("a.yaml", text)]).rejected
    assert note.message == "spec.priority: Expected `int` <= 2147483647"


def test_paths_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        manifest.load([str(tmp_path / "none.yaml")])
    with pytest.raises(InputError, match=r"no \.yaml, \.yml, \.json file"):
        manifest.load([str(tmp_path)])
    with pytest.raises(InputError):
        manifest.load(["a\0b"])


def test_an_empty_file_is_an_empty_cluster(write):
    loaded = manifest.load([write("empty.yaml", "# nothing\n---\n")])
    assert list(loaded) == []
    assert loaded.rejected == []


def test_plain_data_loads_too():
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": 4}}}
    (entry,) = manifest.load_objects([body], "trace")
    assert entry.source == "trace:1"
    assert entry.item.status.allocatable == {"cpu": "4"}
