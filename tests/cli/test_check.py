"""``podium check``."""

import gzip

from tests.cli.manifests import deployment, node, pod, text, write
from tests.command import ask, podium

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


def test_counts_what_the_inputs_say_and_finds_nothing(tmp_path):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    path = write(tmp_path / "all.yaml", node("n1"), node("n2"), deployment("web", 3), secret)
    assert ask("check", "-f", path) == {
        "objects": {"Node": 2, "Deployment": 1, "Secret": 1},
        "rejected": [],
        "warnings": [],
    }


def test_something_rejected_is_exit_status_1_and_stops_nothing_else(tmp_path):
    path = write(tmp_path / "pods.yaml", pod("good"), pod("bad", cpu="-1"))
    answer = podium("check", "-f", path, "-o", "json")
    assert answer.status == 1
    assert answer.json["objects"] == {"Pod": 1}
    assert [note["object"] for note in answer.json["rejected"]] == ["Pod default/bad"]
    assert answer.json["rejected"][0]["source"] == f"{path}:2"
    assert "spec.containers[0].resources.requests[cpu]" in answer.json["rejected"][0]["message"]


def test_files_folders_standard_input_and_gzip_form_one_cluster(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / "a.yaml", node("n1"))
    (folder / "b.yaml.gz").write_bytes(gzip.compress(text(node("n2")).encode()))
    (folder / "notes.txt").write_text("not a manifest")
    own = write(tmp_path / "own.yml", pod("p"))
    answer = ask("check", "-f", folder, "-f", own, "-f", "-", stdin=text(node("n3")))
    assert answer["objects"] == {"Node": 3, "Pod": 1}


def test_duplicates_identical_are_one_different_are_rejected(tmp_path):
    path = write(tmp_path / "pods.yaml", pod("p"), pod("p"), pod("p", cpu="2"))
    answer = podium("check", "-f", path, "-o", "json").json
    assert answer["objects"] == {"Pod": 1}
    assert [note["message"] for note in answer["rejected"]] == ['pods "p" already exists']


def test_validation_modes(tmp_path):
    stored = pod("bad", cpu="-1")
    stored["metadata"]["resourceVersion"] = "7"
    path = write(tmp_path / "pods.yaml", stored)
    for arguments, status, rejected, warned in (
        ([], 0, 0, 1),
        (["--validate=create"], 1, 1, 0),
        (["--validate=persisted"], 0, 0, 1),
        (["--validate", "off"], 0, 0, 0),
    ):
        answer = podium("check", "-f", path, *arguments, "-o=json")
        assert answer.status == status, arguments
        assert (len(answer.json["rejected"]), len(answer.json["warnings"])) == (rejected, warned), arguments


def test_a_gate_that_changes_nothing_here_is_named(tmp_path):
    path = write(tmp_path / "n.yaml", node("n1"))
    answer = ask("check", "-f", path, "--feature-gates=StorageCapacityScoring=true,GenericWorkload=true")
    assert [note["object"] for note in answer["warnings"]] == ["FeatureGate GenericWorkload"]


def test_a_configuration_alone(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    assert ask("check", "--config", path) == {"objects": {}, "rejected": [], "warnings": []}


def test_a_refused_configuration_is_rejected_with_the_field(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG + "profiles:\n- plugins:\n    score:\n      enabled: [{name: Nothing}]\n")
    answer = podium("check", "--config", path, "-o", "json")
    assert answer.status == 1
    (note,) = answer.json["rejected"]
    assert note["source"] == str(path)
    assert "Nothing" in note["message"]


def test_a_table_names_what_scheduling_does_not_read(tmp_path):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    answer = podium("check", "-f", write(tmp_path / "a.yaml", node("n1"), secret))
    assert answer.status == 0
    assert "scheduling does not read it" in answer.out
    assert "nothing to object to" in answer.out
