import pytest
from podium.api.features import DEFAULT_GATES, KNOWN, parse_gates
from podium.errors import InputError


def test_reads_settings():
    gates = parse_gates("TaintTolerationComparisonOperators=true, StorageCapacityScoring=F,")
    assert gates.enabled("TaintTolerationComparisonOperators")
    assert not gates.enabled("StorageCapacityScoring")
    assert gates.unimplemented == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Foo=true", "unrecognized feature gate: Foo"),
        ("SidecarContainers=true", "unrecognized feature gate: SidecarContainers"),
        ("GenericWorkload", "missing bool value for GenericWorkload"),
        ("GenericWorkload=maybe", "invalid value of GenericWorkload=maybe"),
        ("NodeDeclaredFeatures=false", "feature is locked to true"),
    ],
)
def test_refuses_in_kube_schedulers_words(text, message):
    with pytest.raises(InputError, match=message):
        parse_gates(text)


def test_defaults_are_those_of_the_release():
    for name in ("StorageCapacityScoring", "VolumeLimitScaling", "PodLevelResources", "DRADeviceTaintRules"):
        assert DEFAULT_GATES.enabled(name)
    for name in ("GenericWorkload", "TaintTolerationComparisonOperators", "SchedulerAsyncAPICalls"):
        assert not DEFAULT_GATES.enabled(name)
    assert parse_gates("NodeDeclaredFeatures=true").enabled("NodeDeclaredFeatures")


def test_all_alpha_and_all_beta():
    gates = parse_gates("AllAlpha=true,AllBeta=false,PodLevelResources=true")
    assert gates.enabled("TaintTolerationComparisonOperators")
    assert not gates.enabled("StorageCapacityScoring")
    assert gates.enabled("PodLevelResources")


def test_names_what_has_no_effect():
    gates = parse_gates("GenericWorkload=true,PodLevelResources=true,SchedulerAsyncPreemption=false")
    assert gates.unimplemented == ["GenericWorkload", "SchedulerAsyncPreemption"]


def test_a_gate_must_be_known_to_be_asked_for():
    assert len(KNOWN) > 200
    with pytest.raises(ValueError, match="unknown"):
        DEFAULT_GATES.enabled("Foo")
