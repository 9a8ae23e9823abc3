import msgspec
import pytest
from podium import api
from podium.api.objects import base


def decode(kind, text):
    return msgspec.json.decode(text, type=kind)


def encode(item):
    return msgspec.json.encode(item).decode()


@pytest.mark.parametrize("kind", api.KINDS, ids=lambda kind: f"{kind.api_version}/{kind.name}")
def test_every_kind_decodes_from_almost_nothing_and_names_itself(kind):
    item = decode(kind.type, b'{"metadata":{"name":"x"},"unknown":{"a":[1]}}')
    assert item.metadata.name == "x"
    assert encode(item).startswith(f'{{"kind":"{kind.name}"')
    assert decode(kind.type, encode(item)) == item
    assert api.to_wire(item)["apiVersion"] == kind.api_version


def test_a_kind_does_not_decode_as_another():
    with pytest.raises(msgspec.ValidationError):
        decode(api.Pod, b'{"kind":"Node"}')


@pytest.mark.parametrize(
    "spec",
    [
        '{"nodeSelector":{}}',
        '{"topologySpreadConstraints":[{"labelSelector":{}}]}',
        '{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}}',
        '{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]}}}',
        '{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"namespaceSelector":{}}]}}}',
        '{"overhead":{}}',
        '{"resources":{}}',
        '{"volumes":[{"emptyDir":{}}]}',
    ],
)
def test_what_is_explicitly_empty_survives_encoding(spec):
    assert encode(decode(api.PodSpec, spec)) == spec


def test_absent_and_empty_allocatable_differ():
    assert decode(api.NodeStatus, b"{}").allocatable is None
    assert encode(decode(api.NodeStatus, b'{"allocatable":{}}')) == '{"allocatable":{}}'


def test_claims_distinguish_no_class_from_the_default_class():
    claim = decode(api.PersistentVolumeClaim, b'{"spec":{"storageClassName":""}}')
    assert claim.spec.storage_class_name == ""
    assert decode(api.PersistentVolumeClaim, b"{}").spec.storage_class_name is None


@pytest.mark.parametrize(
    "text",
    [
        '{"ports":[{"hostIP":"1.2.3.4"}],"resources":{}}',
        '{"resources":{"requests":{"cpu":"100m","memory":1,"nvidia.com/gpu":0.5}}}',
    ],
)
def test_wire_names_are_the_api_servers(text):
    assert encode(decode(api.Container, text)) == text


def test_the_table_has_no_kind_twice():
    assert len(api.BY_NAME) == len(api.KINDS) == len(api.BY_TYPE)
    assert {kind.name for kind in api.KINDS if kind.type in base.Object.__subclasses__()} == {
        kind.name for kind in api.KINDS
    }
