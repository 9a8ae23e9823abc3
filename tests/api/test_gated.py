"""Fields that a closed gate takes out of objects which were loaded all the same."""

from podium.api import CSIDriver, Pod, manifest
from podium.api.features import FeatureGates

DRIVER = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": "csi.example.com"},
    "spec": {"preventPodSchedulingIfMissing": True},
}


def pod(*operators: str) -> dict:
    tolerations = [{"key": "level", "operator": operator, "value": "5"} for operator in operators]
    containers = [{"name": "c", "image": "i"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": containers, "tolerations": tolerations},
    }


def load(body, validate="off", **gates):
    return manifest.load_objects(
        [body], "test", manifest.Options(validate=validate, gates=FeatureGates(gates))
    )


def operators(loaded) -> list[str]:
    (found,) = loaded.of(Pod)
    return [toleration.operator for toleration in found.spec.tolerations if toleration.key == "level"]


def test_comparisons_stay_where_their_gate_is_open():
    assert operators(load(pod("Gt", "Equal"), "create", TaintTolerationComparisonOperators=True)) == [
        "Gt",
        "Equal",
    ]


def test_comparisons_loaded_without_their_gate_tolerate_nothing():
    assert operators(load(pod("Gt", "Equal", "Lt"))) == ["Equal"]
    assert load(pod("Gt"), "create").of(Pod) == []


def test_a_drivers_wish_is_heard_unless_its_gate_is_closed():
    (heard,) = load(DRIVER).of(CSIDriver)
    (unheard,) = load(DRIVER, VolumeLimitScaling=False).of(CSIDriver)
    assert heard.spec.prevent_pod_scheduling_if_missing is True
    assert unheard.spec.prevent_pod_scheduling_if_missing is None
