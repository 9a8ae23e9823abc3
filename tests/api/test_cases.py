"""The case bank, as far as loading decides: what is rejected, with which text, and which warnings are due."""

import pytest
import yaml
from podium import api
from podium.api import manifest
from podium.api.features import FeatureGates


def load(folder, **options):
    paths = [str(folder / "cluster.yaml"), str(folder / "pending.yaml")]
    return manifest.load(paths, manifest.Options(**options))


def folders(shared):
    found = sorted((shared / "cases").glob("*/expected.yaml"))
    assert found
    return [path.parent for path in found]


def rejections(loaded):
    return {note.object.removeprefix("Pod "): note.message for note in loaded.rejected}


def test_rejects_exactly_what_the_cases_say_in_the_api_servers_words(shared):
    for folder in folders(shared):
        expected = yaml.safe_load((folder / "expected.yaml").read_text())["pods"]
        rejected = rejections(load(folder))
        for pod in expected:
            text = pod.get("rejected") or pod.get("rejected_by_default")
            if text is None:
                assert pod["pod"] not in rejected, (folder.name, rejected.get(pod["pod"]))
            else:
                assert text is True or text in rejected[pod["pod"]], (folder.name, pod["pod"])


def test_warns_of_the_contested_pods(shared):
    for folder in folders(shared):
        expected = yaml.safe_load((folder / "expected.yaml").read_text())["pods"]
        contested = {f"Pod {pod['pod']}" for pod in expected if pod.get("contested")}
        assert contested == {note.object for note in load(folder).warnings if note.quirk}, folder.name


def test_a_gate_lets_numeric_tolerations_through(shared):
    gates = FeatureGates({"TaintTolerationComparisonOperators": True})
    folder = shared / "cases" / "12-toleration-gt-lt"
    assert len(load(folder).of(api.Pod)) == 0
    assert len(load(folder, gates=gates).of(api.Pod)) >= 3


@pytest.mark.parametrize("bank", ["cases-groups", "cases-descheduler"])
def test_nothing_is_rejected_in_the_other_banks(shared, bank):
    for folder in sorted(path.parent for path in (shared / bank).glob("*/cluster.yaml")):
        paths = [str(path) for path in (folder / "cluster.yaml", folder / "pending.yaml") if path.exists()]
        assert manifest.load(paths).rejected == [], folder.name
