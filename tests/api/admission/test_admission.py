import msgspec
import pytest
from podium import api
from podium.api.admission import Admission, tolerations
from podium.api.defaults import set_defaults
from podium.api.objects.affinity import Toleration
from podium.errors import InputError


def decode(kind, body):
    item = msgspec.convert(body, kind)
    set_defaults(item)
    return item


def pod(spec=None, **metadata):
    containers = [{"name": "c", "image": "x"}]
    body = {"metadata": {"name": "p", "namespace": "default", **metadata}}
    return decode(api.Pod, {**body, "spec": {"containers": containers, **(spec or {})}})


def priority_class(name, value, **fields):
    return decode(api.PriorityClass, {"metadata": {"name": name}, "value": value, **fields})


def admit(item, *objects):
    Admission.over(objects).mutate_pod(item)
    return item.spec


@pytest.mark.parametrize(
    ("name", "value"), [("system-node-critical", 2000001000), ("system-cluster-critical", 2000000000)]
)
def test_built_in_classes_are_there(name, value):
    spec = admit(pod({"priorityClassName": name}))
    assert (spec.priority, spec.preemption_policy) == (value, "PreemptLowerPriority")


def test_no_class_is_the_global_default_or_zero():
    assert admit(pod()).priority == 0
    high = priority_class("high", 9, globalDefault=True)
    low = priority_class("low", 3, globalDefault=True, preemptionPolicy="Never")
    spec = admit(pod(), high, low)
    assert (spec.priority, spec.priority_class_name, spec.preemption_policy) == (3, "low", "Never")


REFUSED = [
    ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
    (
        {"priority": 5},
        "the integer value of priority (5) must not be provided in pod spec; priority admission",
    ),
    ({"preemptionPolicy": "Never"}, "the string value of PreemptionPolicy (Never) must not be provided"),
    ({"runtimeClassName": "none"}, 'pod rejected: RuntimeClass "none" not found'),
]


@pytest.mark.parametrize(("spec", "message"), REFUSED)
def test_refuses_in_the_api_servers_words(spec, message):
    with pytest.raises(InputError) as caught:
        admit(pod(spec))
    assert str(caught.value).startswith('pods "p" is forbidden: ' + message)


@pytest.mark.parametrize("spec", [{"priority": 5}, {"runtimeClassName": "none", "priority": 5}])
def test_a_bound_pod_is_what_it_says(spec):
    item = pod({**spec, "nodeName": "n"})
    assert admit(item).priority == 5
    Admission.over(()).judge_pod(item)


RUNTIME = {
    "metadata": {"name": "vm"},
    "handler": "vm",
    "overhead": {"podFixed": {"cpu": "250m"}},
    "scheduling": {"nodeSelector": {"kind": "vm"}, "tolerations": [{"key": "vm", "operator": "Exists"}]},
}


def test_a_runtime_gives_overhead_nodes_and_tolerations():
    runtime = decode(api.RuntimeClass, RUNTIME)
    tolerated = [{"key": "vm", "operator": "Equal", "value": "x"}, {"key": "other", "operator": "Exists"}]
    item = pod({"runtimeClassName": "vm", "nodeSelector": {"a": "b"}, "tolerations": tolerated})
    spec = admit(item, runtime)
    assert spec.overhead == {"cpu": "250m"}
    assert spec.node_selector == {"a": "b", "kind": "vm"}
    assert [toleration.key for toleration in spec.tolerations][-1] == "vm"
    assert not any(toleration.operator == "Equal" for toleration in spec.tolerations)
    Admission.over([runtime]).judge_pod(item)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"runtimeClassName": "vm", "nodeSelector": {"kind": "x"}}, "conflict: runtimeClass.scheduling"),
        ({"runtimeClassName": "vm", "overhead": {"cpu": "1"}}, "Pod's Overhead doesn't match RuntimeClass's"),
    ],
)
def test_a_runtime_contradicted_is_refused(spec, message):
    with pytest.raises(InputError, match=message):
        admit(pod(spec), decode(api.RuntimeClass, RUNTIME))


def test_overhead_without_a_runtime_is_refused():
    item = pod({"overhead": {"cpu": "1"}})
    admit(item)
    with pytest.raises(InputError, match="Pod Overhead set without corresponding RuntimeClass"):
        Admission.over(()).judge_pod(item)


def test_default_tolerations_unless_the_pod_says_otherwise():
    keys = [toleration.key for toleration in admit(pod()).tolerations]
    assert keys == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    assert admit(pod()).tolerations[0].toleration_seconds == 300
    assert len(admit(pod({"tolerations": [{"operator": "Exists"}]})).tolerations) == 1
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    assert len(admit(pod({"tolerations": [own]})).tolerations) == 2


def test_merged_tolerations_keep_the_wider_one():
    wide = Toleration(key="a", operator="Exists")
    narrow = Toleration(key="a", operator="Equal", value="x", effect="NoSchedule")
    assert tolerations.merge([narrow], [wide]) == [wide]
    assert tolerations.merge([wide, wide], [narrow]) == [wide]
    everything = Toleration(operator="Exists")
    assert tolerations.merge([wide], [everything, narrow]) == [everything]
    short = Toleration(key="a", operator="Exists", effect="NoExecute", toleration_seconds=5)
    assert tolerations.merge([short], [wide]) == [wide]
    assert tolerations.merge([wide], [short]) == [wide]


def test_label_keys_join_the_selectors_once():
    term = {
        "topologyKey": "z",
        "labelSelector": {},
        "matchLabelKeys": ["v"],
        "mismatchLabelKeys": ["t", "no"],
    }
    constraint = {
        "maxSkew": 1,
        "topologyKey": "z",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"a": "b"}},
        "matchLabelKeys": ["v"],
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    spec = {"affinity": {"podAntiAffinity": required}, "topologySpreadConstraints": [constraint]}
    item = pod(spec, labels={"v": "1", "t": "x"})
    admit(item)
    admit(item)
    (merged,) = item.spec.affinity.pod_anti_affinity.required
    found = [(e.key, e.operator, e.values) for e in merged.label_selector.match_expressions]
    assert found == [("v", "In", ["1"]), ("t", "NotIn", ["x"])]
    (spread,) = item.spec.topology_spread_constraints
    assert [e.key for e in spread.label_selector.match_expressions] == ["v"]
    assert spread.label_selector.match_labels == {"a": "b"}


def test_claims_get_the_newest_default_class():
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    classes = [
        decode(api.StorageClass, {"metadata": {"name": name, "annotations": mark, "creationTimestamp": at}})
        for name, at in (("b", "2026-01-01T00:00:00Z"), ("c", "2026-01-01T00:00:00Z"), ("a", None))
    ]
    admission = Admission.over(classes)
    for given, expected in ((None, "b"), ("", ""), ("x", "x")):
        claim = decode(
            api.PersistentVolumeClaim, {"metadata": {"name": "c"}, "spec": {"storageClassName": given}}
        )
        admission.mutate_claim(claim)
        assert claim.spec.storage_class_name == expected


def test_groups_get_a_priority():
    group = decode(api.PodGroup, {"metadata": {"name": "g"}, "spec": {"priorityClassName": "high"}})
    Admission.over([priority_class("high", 9)]).mutate_group(group)
    assert group.spec.priority == 9
    with pytest.raises(InputError, match="must match the priority computed"):
        Admission.over([priority_class("high", 8)]).mutate_group(group)
