"""What a policy file may say, and the words in which it is refused (those of descheduler v0.36.0)."""

import pytest
import yaml
from podium.descheduler.framework import Point
from podium.descheduler.policy.load import load_policy
from podium.descheduler.table import IN_TREE
from podium.errors import InputError

from tests.descheduler.scene import cycle, load, node, policy

DECODING = 'failed decoding descheduler\'s policy config "policy.yaml": '


def refusal(body, classes=None):
    with pytest.raises(InputError) as error:
        load(body, classes)
    return str(error.value)


def low(thresholds, targets, **more):
    args = {"thresholds": thresholds, "targetThresholds": targets, **more}
    return policy("LowNodeUtilization", args)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            low({"cpu": 20}, {"cpu": 50}, evictableNamespace={"exclude": ["a"]}),
            DECODING + 'strict decoding error: unknown field "evictableNamespace"',
        ),
        (
            low({"cpu": 20, "memory": 20}, {"cpu": 50, "memory": 120}),
            "in profile p: targetThresholds config is not valid: memory threshold not in [0, 100] range",
        ),
        (
            low({"cpu": 60}, {"cpu": 50}),
            "in profile p: thresholds' cpu percentage is greater than targetThresholds'",
        ),
        (
            low({"cpu": 20, "memory": 20}, {"cpu": 50}),
            "in profile p: thresholds and targetThresholds configured different resources",
        ),
        (
            low({"cpu": "20"}, {"cpu": "50"}),
            DECODING + "json: cannot unmarshal string into Go struct field "
            "LowNodeUtilizationArgs.targetThresholds of type api.Percentage",
        ),
        (
            policy("PodLifeTime"),
            "in profile p: at least one filtering criterion must be specified "
            "(maxPodLifeTimeSeconds, states, conditions, or exitCodes)",
        ),
        (
            policy(
                "PodLifeTime",
                {"maxPodLifeTimeSeconds": 1, "namespaces": {"include": ["a"], "exclude": ["b"]}},
            ),
            "in profile p: only one of Include/Exclude namespaces can be set",
        ),
        (
            policy("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 1, "states": ["Sleeping"]}),
            "in profile p: states must be one of [CrashLoopBackOff Running]",
        ),
        (
            policy("RemovePodsViolatingNodeTaint"),
            "in profile p: plugin RemovePodsViolatingNodeTaint in pluginConfig not registered",
        ),
        (
            policy(
                "RemovePodsViolatingNodeTaints",
                evictor={
                    "evictLocalStoragePods": True,
                    "podProtections": {"defaultDisabled": ["DaemonSetPods"]},
                },
            ),
            "in profile p: cannot use Deprecated fields alongside PodProtections.ExtraEnabled or "
            "PodProtections.DefaultDisabled",
        ),
        (
            policy(
                "RemovePodsViolatingNodeTaints",
                evictor={"podProtections": {"defaultDisabled": ["PodsWithPVC"]}},
            ),
            'in profile p: invalid pod protection policy in DefaultDisabled: "PodsWithPVC". Valid options '
            "are: [PodsWithLocalStorage SystemCriticalPods FailedBarePods DaemonSetPods]",
        ),
        (
            policy("RemovePodsViolatingNodeTaints", evictor={"priorityThreshold": {"name": "none"}}),
            "unable to get priority value from the priority class: "
            'priorityclasses.scheduling.k8s.io "none" not found',
        ),
        (
            policy("RemovePodsViolatingNodeTaints", evictor={"priorityThreshold": {"value": 2_000_000_001}}),
            "priority threshold can't be greater than 2000000000",
        ),
        (
            policy("RemovePodsViolatingNodeTaints", evictor={"priorityThreshold": {"name": "a", "value": 1}}),
            "in profile p: priority threshold misconfigured, only one of priorityThreshold fields can be set",
        ),
        (
            policy("RemovePodsViolatingNodeTaints", maxNoOfPodsToEvictTotal=-1),
            DECODING + "json: cannot unmarshal number -1 into Go struct field "
            "DeschedulerPolicy.maxNoOfPodsToEvictTotal of type uint",
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap"},
            DECODING
            + 'no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            policy(
                "RemoveDuplicates",
                metricsProviders=[{"source": "Prometheus"}, {"source": "Prometheus"}],
            ),
            '[metric provider "Prometheus" is already configured, each source can be configured only once, '
            "prometheus configuration is required when prometheus source is enabled]",
        ),
    ],
)
def test_refusals(body, text):
    assert refusal(body) == text


def test_arguments_of_plugins_that_are_not_enabled_are_checked_too():
    body = policy("RemoveDuplicates")
    entry = {
        "name": "LowNodeUtilization",
        "args": {"thresholds": {"cpu": 200}, "targetThresholds": {"cpu": 1}},
    }
    body["profiles"][0]["pluginConfig"].append(entry)
    assert refusal(body) == (
        "in profile p: thresholds config is not valid: cpu threshold not in [0, 100] range"
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"balance": {"enabled": ["RemovePodsViolatingNodeTaints"]}},
            'failed to create new descheduler: unable to create "p" profile: profile "p" configures balance '
            "extension point of non-existing plugins: map[RemovePodsViolatingNodeTaints:{}]",
        ),
        (
            {"deschedule": {"enabled": ["PodLifeTime"]}},
            'failed to create new descheduler: unable to create "p" profile: unable to build PodLifeTime '
            'plugin: unable to find "PodLifeTime" plugin config',
        ),
    ],
)
def test_refusals_at_the_start(change, text):
    body = policy("RemovePodsViolatingNodeTaints")
    body["profiles"][0]["plugins"] = change
    with pytest.raises(InputError) as error:
        cycle([], body)
    assert str(error.value) == text


def test_what_has_no_effect_is_a_warning():
    body = policy("RemoveDuplicates", maxNoOfPodsPerNode=0)
    profile = body["profiles"][0]
    profile["pluginConfig"].append({"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 1}})
    profile["plugins"] |= {"evict": {"enabled": []}, "sort": {"enabled": ["other"]}}
    profile["plugins"]["balance"]["disabled"] = ["other"]
    warnings = load(body).warnings
    assert warnings == [
        "maxNoOfPodsPerNode: unknown field, ignored",
        "profiles[0].plugins.evict: unknown field, ignored",
        'profile "p": plugin PodLifeTime is configured but not enabled, so it does nothing',
        'profile "p": plugins.balance.disabled has no effect',
        'profile "p": plugins.sort has no effect',
    ]


def test_default_evictor_is_always_there_and_comes_first():
    body = policy("RemoveDuplicates")
    loaded = load(body).profiles[0]
    assert loaded.enabled[Point.FILTER] == ["DefaultEvictor"]
    assert loaded.enabled[Point.PRE_EVICTION_FILTER] == ["DefaultEvictor"]
    assert loaded.args["DefaultEvictor"].priority_threshold.value == 2_000_000_000


def test_a_threshold_by_name_is_resolved():
    body = policy("RemoveDuplicates", evictor={"priorityThreshold": {"name": "batch"}})
    assert load(body, {"batch": 7}).profiles[0].args["DefaultEvictor"].priority_threshold.value == 7


def test_json_and_the_first_of_several_documents():
    text = '{"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "nodeSelector": "a=b"}'
    assert load_policy(text, "p", IN_TREE, {}).policy.node_selector == "a=b"
    documents = yaml.safe_dump_all([policy("RemoveDuplicates"), {"kind": "Other"}])
    assert len(load_policy(documents, "p", IN_TREE, {}).profiles) == 1


def test_text_that_is_no_yaml_is_refused_with_its_line():
    with pytest.raises(InputError, match="yaml: line 3"):
        load_policy("a: 1\nb: [", "p", IN_TREE, {})


def test_a_policy_without_profiles_does_nothing():
    done = cycle([node("a"), node("b")], {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"})
    assert not done.evicted


def test_a_bad_node_selector_is_refused_at_the_start():
    with pytest.raises(InputError, match=r"failed to create new descheduler: .*found '\)'"):
        cycle([], policy("RemoveDuplicates", nodeSelector="a in )"))
