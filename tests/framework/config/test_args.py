import msgspec
import pytest

# kube-scheduler v1.37.2, pkg/scheduler/apis/config/testing/defaults: PluginConfigsV1, in the versioned API.
DEFAULTS = {
    "DefaultPreemption": {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100},
    "DynamicResources": {"filterTimeout": "10s", "bindingTimeout": "10m0s"},
    "InterPodAffinity": {"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": False},
    "NodeAffinity": {},
    "NodeResourcesBalancedAllocation": {
        "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
    },
    "NodeResourcesFit": {
        "ignoredResources": [],
        "ignoredResourceGroups": [],
        "scoringStrategy": {
            "type": "LeastAllocated",
            "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
        },
    },
    "PodTopologySpread": {"defaultConstraints": [], "defaultingType": "System"},
    "VolumeBinding": {
        "bindTimeoutSeconds": 600,
        "shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}],
    },
}


def args_of(read, plugin, args):
    config = read(f"profiles: [{{pluginConfig: [{{name: {plugin}, args: {args}}}]}}]")
    return msgspec.json.decode(config.profiles[0].native_json())["args"][plugin]


def test_defaults_are_upstreams(read):
    assert msgspec.json.decode(read().profiles[0].native_json())["args"] == DEFAULTS


@pytest.mark.parametrize(
    ("plugin", "args", "changed"),
    [
        ("DefaultPreemption", "{minCandidateNodesPercentage: 50}", {"minCandidateNodesPercentage": 50}),
        ("DynamicResources", "{filterTimeout: 0s}", {"filterTimeout": "0s"}),
        ("InterPodAffinity", "{hardPodAffinityWeight: 0}", {"hardPodAffinityWeight": 0}),
        ("InterPodAffinity", "null", {}),
        (
            "InterPodAffinity",
            "{apiVersion: kubescheduler.config.k8s.io/v1, kind: InterPodAffinityArgs}",
            {},
        ),
        (
            "NodeAffinity",
            "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
            "[{matchExpressions: [{key: foo, operator: In, values: [bar]}]}]}}}",
            {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [{"key": "foo", "operator": "In", "values": ["bar"]}],
                                "matchFields": [],
                            }
                        ]
                    },
                    "preferredDuringSchedulingIgnoredDuringExecution": [],
                }
            },
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu}, {name: cpu, "
            "weight: 3}]}}",
            {
                "scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "nvidia.com/gpu", "weight": 1}, {"name": "cpu", "weight": 3}],
                }
            },
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: "
            "{shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}}",
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                    "requestedToCapacityRatio": {
                        "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
                    },
                }
            },
        ),
        (
            "PodTopologySpread",
            "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
            "ScheduleAnyway}]}",
            {
                "defaultingType": "List",
                "defaultConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "zone",
                        "whenUnsatisfiable": "ScheduleAnyway",
                        "matchLabelKeys": [],
                    }
                ],
            },
        ),
        ("VolumeBinding", "{bindTimeoutSeconds: 0, shape: []}", {"bindTimeoutSeconds": 0}),
    ],
)
def test_given_arguments_replace_defaults(read, plugin, args, changed):
    assert args_of(read, plugin, args) == DEFAULTS[plugin] | changed


PATH = "profiles[0].pluginConfig[0].args"
SHAPE = f"{PATH}.scoringStrategy.requestedToCapacityRatio.shape"
TERM = f"{PATH}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"


def expression(text):
    terms = f"{{nodeSelectorTerms: [{{matchExpressions: [{text}]}}]}}"
    return f"{{addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}}"


@pytest.mark.parametrize(
    ("plugin", "args", "problems"),
    [
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 101, minCandidateNodesAbsolute: -1}",
            [
                f"{PATH}.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]",
                f"{PATH}.minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)",
            ],
        ),
        (
            "DefaultPreemption",
            "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
            [
                f"{PATH}.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
                "minCandidateNodesAbsolute",
                f"{PATH}.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as "
                "minCandidateNodesPercentage",
            ],
        ),
        (
            "DynamicResources",
            "{filterTimeout: -1s, bindingTimeout: 999ms}",
            [
                f'{PATH}.filterTimeout: Invalid value: "-1s": must be zero or positive',
                f'{PATH}.bindingTimeout: Invalid value: "999ms": must be at least 1 second',
            ],
        ),
        (
            "InterPodAffinity",
            "{hardPodAffinityWeight: 101}",
            [f"{PATH}.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"],
        ),
        (
            "NodeAffinity",
            expression("{key: foo, operator: Equals}"),
            [
                f'{TERM}.matchExpressions[0].operator: Unsupported value: "Equals": supported values: "In", '
                f'"NotIn", '
                '"Exists", "DoesNotExist", "Gt", "Lt"'
            ],
        ),
        (
            "NodeAffinity",
            expression("{key: foo, operator: Gt, values: [x]}"),
            [
                f"{TERM}.matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
                f"value "
                "must be an integer"
            ],
        ),
        (
            "NodeAffinity",
            expression("{key: foo, operator: Exists, values: [x]}"),
            [
                f'{TERM}.matchExpressions[0].values: Invalid value: ["x"]: values set must be empty for '
                f"exists and "
                "does not exist"
            ],
        ),
        (
            "NodeAffinity",
            expression("{key: foo, operator: In}"),
            [
                f"{TERM}.matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values "
                f"set "
                "can't be empty"
            ],
        ),
        (
            "NodeResourcesBalancedAllocation",
            "{resources: [{name: cpu}, {name: cpu, weight: 2}]}",
            [
                f'{PATH}.resources[1].name: Duplicate value: "cpu"',
                f"{PATH}.resources[1].weight: Invalid value: 2: must be 1",
            ],
        ),
        (
            "NodeResourcesFit",
            "{ignoredResourceGroups: [a/b], scoringStrategy: {type: Best, resources: [{name: cpu, weight: "
            "101}]}}",
            [
                f'{PATH}.ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can\'t '
                f"contain '/'",
                f'{PATH}.scoringStrategy.type: Unsupported value: "Best": supported values: '
                f'"LeastAllocated", '
                '"MostAllocated", "RequestedToCapacityRatio"',
                f"{PATH}.scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu "
                f"not in "
                "valid range (0, 100]",
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: RequestedToCapacityRatio}}",
            [
                f"{PATH}.scoringStrategy.requestedToCapacityRatio: Required value: must be specified when "
                f"type is "
                "RequestedToCapacityRatio"
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}}",
            [
                f"{PATH}.scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
                "RequestedToCapacityRatio"
            ],
        ),
        (
            "NodeResourcesFit",
            "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
            "[{utilization: 50, score: 11}, {utilization: 50, score: 1}, {utilization: 101, score: -1}]}}}",
            [
                f"{SHAPE}[1].utilization: Invalid value: 50: values must be sorted in increasing order",
                f"{SHAPE}[0].score: Invalid value: 11: not in valid range [0, 10]",
                f"{SHAPE}[2].utilization: Invalid value: 101: not in valid range [0, 100]",
                f"{SHAPE}[2].score: Invalid value: -1: not in valid range [0, 10]",
            ],
        ),
        (
            "PodTopologySpread",
            "{defaultConstraints: [{maxSkew: 0, whenUnsatisfiable: Maybe, labelSelector: {}}]}",
            [
                f'{PATH}.defaultingType: Invalid value: "System": when .defaultConstraints are not empty',
                f"{PATH}.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
                f"{PATH}.defaultConstraints[0].topologyKey: Required value: can not be empty",
                f'{PATH}.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Maybe": supported '
                f"values: "
                '"DoNotSchedule", "ScheduleAnyway"',
                f"{PATH}.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a "
                f"selector, as "
                "they deduced for each pod",
            ],
        ),
        (
            "VolumeBinding",
            "{bindTimeoutSeconds: -1}",
            [
                f"{PATH}.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a "
                f"negative "
                "value"
            ],
        ),
        (
            "VolumeBinding",
            "{kind: NodeAffinityArgs}",
            [
                f"{PATH}: args for plugin VolumeBinding were not of type "
                "VolumeBindingArgs.kubescheduler.config.k8s.io/v1, got "
                "NodeAffinityArgs.kubescheduler.config.k8s.io/v1"
            ],
        ),
        ("VolumeBinding", "[]", [f"{PATH}: expected a map, got a list"]),
    ],
)
def test_bad_arguments_are_refused_with_upstreams_text(read, plugin, args, problems):
    assert read.problems(f"profiles: [{{pluginConfig: [{{name: {plugin}, args: {args}}}]}}]") == problems


def test_a_repeated_default_constraint(read):
    constraint = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}"
    args = f"{{defaultingType: List, defaultConstraints: [{constraint}, {constraint}]}}"
    problems = read.problems(f"profiles: [{{pluginConfig: [{{name: PodTopologySpread, args: {args}}}]}}]")
    assert problems == [f'{PATH}.defaultConstraints[1]: Duplicate value: "{{zone, ScheduleAnyway}}"']
