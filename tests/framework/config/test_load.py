import msgspec
import pytest
from podium.errors import ConfigError
from podium.framework import config as configuration
from podium.framework.config import default_config, load_config, parse_config, with_short_forms
from podium.framework.config.v1 import ClientConnection, LeaderElection
from podium.framework.duration import Duration
from podium.framework.plugin import Plugin
from podium.framework.registry import Registry


def test_an_empty_configuration_is_the_default_one(read):
    assert read() == default_config(read.registry)
    assert read().warnings == ()


def test_defaults_of_the_document(read):
    config = read()
    assert config.parallelism == 16
    assert config.pod_initial_backoff_seconds == 1
    assert config.pod_max_backoff_seconds == 10
    assert config.percentage_of_nodes_to_score == 0
    assert config.leader_election == LeaderElection()
    assert config.client_connection == ClientConnection()
    assert config.enable_profiling
    assert config.enable_contention_profiling
    assert [profile.scheduler_name for profile in config.profiles] == ["default-scheduler"]


def test_empty_values_count_as_absent_where_they_do_upstream(read):
    config = read(
        "leaderElection: {leaderElect: false, resourceName: '', leaseDuration: 0s}\n"
        "clientConnection: {qps: 0, burst: 0, contentType: ''}\nenableProfiling: false"
    )
    assert config.leader_election == LeaderElection(leader_elect=False)
    assert config.client_connection == ClientConnection()
    assert not config.enable_contention_profiling


def test_a_configuration_as_users_have_it(read):
    config = read(
        """
leaderElection: {leaderElect: true, leaseDuration: 30s, renewDeadline: 20s}
clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf, qps: 100.5, burst: 200}
podMaxBackoffSeconds: 30
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      disabled: [{name: NodeResourcesFit}]
      enabled: [{name: ImageLocality, weight: 5}]
    multiPoint:
      disabled: [{name: VolumeBinding}]
- schedulerName: packer
  percentageOfNodesToScore: 50
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy: {type: MostAllocated}
extenders:
- {urlPrefix: "http://a", filterVerb: filter, ignorable: true}
- {urlPrefix: "http://b", prioritizeVerb: rank, weight: 2, httpTimeout: 500ms}
""",
        "sampling: upstream",
    )
    first, second = config.profiles
    assert first.points["score"] == [
        ("ImageLocality", 5),
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("DynamicResources", 2),
        ("NodeResourcesBalancedAllocation", 1),
    ]
    assert "VolumeBinding" not in first.names("reserve")
    assert "VolumeBinding" not in first.args
    assert first.percentage_of_nodes_to_score == 0
    assert second.percentage_of_nodes_to_score == 50
    assert second.args["NodeResourcesFit"].scoring_strategy.type == "MostAllocated"
    assert config.profile("packer") is second
    assert config.profile("nobody") is None
    assert [extender.url_prefix for extender in config.extenders] == ["http://b", "http://a"]
    assert config.extenders[0].http_timeout == Duration.parse("500ms")
    assert len(config.warnings) == 2
    assert all("over HTTP" in warning for warning in config.warnings)


def test_native_json_has_what_the_core_reads(read):
    profile = read("profiles: [{schedulerName: s, percentageOfNodesToScore: 7}]").profiles[0]
    document = msgspec.json.decode(profile.native_json())
    assert set(document) == {
        "schedulerName",
        "percentageOfNodesToScore",
        "preFilter",
        "filter",
        "preScore",
        "score",
        "reserve",
        "postFilter",
        "needsCaller",
        "args",
    }
    assert document["needsCaller"] is False
    assert document["schedulerName"] == "s"
    assert document["percentageOfNodesToScore"] == 7
    assert document["filter"] == profile.names("filter")
    assert document["score"] == [list(entry) for entry in profile.points["score"]]


PROFILES = {
    "two: names": (
        "profiles: [{}, {schedulerName: a}]",
        ["profiles[0].schedulerName: Required value"],
    ),
    "two: unique": (
        "profiles: [{schedulerName: a}, {schedulerName: a}]",
        ["profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName"],
    ),
    "percentage": (
        "percentageOfNodesToScore: 101\nprofiles: [{percentageOfNodesToScore: -1}]",
        [
            "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]",
            "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
        ],
    ),
    "numbers": (
        "parallelism: 0\npodInitialBackoffSeconds: 0\npodMaxBackoffSeconds: -1\nclientConnection: {burst: "
        "-1}",
        [
            "clientConnection.burst: Invalid value: -1: must be non-negative",
            "parallelism: Invalid value: 0: should be an integer value greater than zero",
            "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
            "podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to "
            "PodInitialBackoffSeconds",
        ],
    ),
    "leader election": (
        "leaderElection: {leaseDuration: 5s, retryPeriod: -2s, resourceLock: endpoints}",
        [
            'leaderElection.retryPeriod: Invalid value: "-2s": must be greater than zero',
            'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
            'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
        ],
    ),
    "removed plugins": (
        "profiles: [{plugins: {filter: {enabled: [{name: CinderLimits}]}}, pluginConfig: [{name: "
        "EBSLimits}]}]",
        [
            'profiles[0].plugins.filter.enabled[0]: Invalid value: "CinderLimits": was invalid in version '
            '"v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
            'profiles[0].pluginConfig[0]: Invalid value: "EBSLimits": was invalid in version "v1" '
            '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ],
    ),
    "twice configured": (
        "profiles: [{pluginConfig: [{name: NodeAffinity}, {name: NodeAffinity}]}]",
        ['profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"'],
    ),
    "no such plugin": (
        "profiles: [{plugins: {score: {enabled: [{name: ImageLocality}, {name: Nope}]}}}]",
        ['profiles[0].plugins.score.enabled[1]: ScorePlugin "Nope" does not exist'],
    ),
    "wrong point": (
        "profiles: [{plugins: {permit: {enabled: [{name: NodeName}]}}}]",
        ['profiles[0].plugins.permit.enabled[0]: plugin "NodeName" does not extend PermitPlugin plugin'],
    ),
    "twice enabled": (
        "profiles: [{plugins: {multiPoint: {enabled: [{name: ImageLocality}, {name: ImageLocality}]}}}]",
        [
            'profiles[0].plugins.multiPoint.enabled[1]: plugin "ImageLocality" already registered as '
            '"ScorePlugin"',
        ],
    ),
    "behind a gate": (
        "profiles: [{plugins: {multiPoint: {enabled: [{name: GangScheduling}]}}}]",
        [
            'profiles[0].plugins.multiPoint.enabled[0]: plugin "GangScheduling" is not supported: Podium '
            "places gangs "
            "itself, remove the entry"
        ],
    ),
    "nothing sorts, nothing binds": (
        "profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}]}}}]",
        [
            "profiles[0].plugins.queueSort: only one queue sort plugin required for profile with scheduler "
            "name "
            '"default-scheduler", but got 0',
            "profiles[0].plugins.bind: at least one bind plugin is needed for profile with scheduler name "
            '"default-scheduler"',
        ],
    ),
    "different queue sorts": (
        "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {disabled: [{name: '*'}]}}}]",
        [
            'profiles[1].plugins.queueSort: Invalid value: {"enabled":[],"disabled":[{"name":"*"}]}: must '
            "be the same "
            "for all profiles"
        ],
    ),
    "extenders": (
        "extenders: [{urlPrefix: a, prioritizeVerb: p, bindVerb: b, managedResources: [{name: cpu}]}, "
        "{urlPrefix: c, bindVerb: b, managedResources: [{name: x.io/a}, {name: x.io/a}]}]",
        [
            "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
            'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource '
            "name",
            'extenders[1].managedResources[1].name: Invalid value: "x.io/a": duplicate extender managed '
            "resource name",
            'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can '
            "implement bind",
        ],
    ),
    "unknown fields": (
        "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weigth: 2}]}}}]\nparalelism: 1",
        ["profiles[0].plugins.score.enabled[0].weigth: unknown field", "paralelism: unknown field"],
    ),
    "wrong type": (
        "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: two}]}}}]",
        ["profiles[0].plugins.score.enabled[0].weight: expected an integer, got a string"],
    ),
}


@pytest.mark.parametrize("case", PROFILES, ids=str)
def test_what_is_wrong_is_said_with_upstreams_text(read, case):
    text, problems = PROFILES[case]
    assert read.problems(text) == problems


def test_extenders_can_make_the_fit_filter_ignore_resources(read):
    config = read(
        "extenders: [{urlPrefix: a, managedResources: [{name: x.io/a, ignoredByScheduler: true}, {name: "
        "x.io/b}]}]\n"
        "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [y.io/c]}}]}]"
    )
    assert config.profiles[0].args["NodeResourcesFit"].ignored_resources == ("x.io/a",)


def test_what_has_no_effect_is_a_warning(read):
    config = read(
        "percentageOfNodesToScore: 30\nprofiles: [{pluginConfig: [{name: Elsewhere, args: {a: 1}}, "
        "{name: PrioritySort, args: {b: 2}}]}]"
    )
    assert list(config.warnings) == [
        'profiles[0].pluginConfig[0].args: no effect, plugin "Elsewhere" is not enabled',
        'profiles[0].pluginConfig[1].args: no effect, plugin "PrioritySort" takes no arguments',
        "percentageOfNodesToScore: no effect, Podium scores every node; set sampling: upstream to sample",
    ]


class Packer(Plugin):
    name = "Packer"

    class Args(msgspec.Struct, frozen=True, rename="camel"):
        resource: str
        max_free: int = 3

    def filter(self, state, pod, nodes):
        return nodes.candidates

    def score(self, state, pod, nodes):
        return nodes.allocatable(self.args.resource)


class Sorter(Plugin):
    name = "Sorter"

    def less(self, a, b):
        return a.timestamp < b.timestamp


@pytest.fixture
def with_plugins(read):
    read.registry = Registry.build({"Packer": Packer, "Sorter": Sorter}, installed=())
    return read


def test_python_plugins_take_part_with_typed_arguments(with_plugins):
    config = with_plugins(
        "profiles: [{plugins: {multiPoint: {enabled: [{name: Packer, weight: 4}]}}, "
        "pluginConfig: [{name: Packer, args: {resource: cpu}}]}]"
    )
    profile = config.profiles[0]
    assert profile.args["Packer"] == Packer.Args(resource="cpu")
    assert profile.points["score"][-1] == ("Packer", 4)
    assert profile.names("filter")[-1] == "Packer"
    assert profile.python_plugins() == ["Packer"]
    document = msgspec.json.decode(profile.native_json())
    assert document["needsCaller"] is True
    assert document["filter"][-1] == "Packer"
    assert document["score"][-1] == ["Packer", 4]
    assert "Packer" not in document["args"]


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ("", "profiles[0].pluginConfig.resource: Required value"),
        ("{resource: 1}", "profiles[0].pluginConfig[0].args.resource: expected a string, got an integer"),
        ("{resource: a, maxfree: 1}", "profiles[0].pluginConfig[0].args.maxfree: unknown field"),
    ],
)
def test_arguments_of_python_plugins_are_checked(with_plugins, args, problem):
    plugin_config = f", pluginConfig: [{{name: Packer, args: {args}}}]" if args else ""
    text = f"profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: Packer}}]}}}}{plugin_config}}}]"
    assert with_plugins.problems(text) == [problem]


def test_a_plugin_without_args_takes_none(with_plugins):
    sort = "queueSort: {enabled: [{name: Sorter}], disabled: [{name: '*'}]}"
    config = with_plugins(f"profiles: [{{plugins: {{{sort}}}}}]")
    assert config.profiles[0].points["queueSort"] == [("Sorter", 0)]
    assert not config.profiles[0].needs_caller
    text = f"profiles: [{{plugins: {{{sort}}}, pluginConfig: [{{name: Sorter, args: {{}}}}]}}]"
    assert with_plugins.problems(text) == [
        'profiles[0].pluginConfig[0].args: plugin "Sorter" takes no arguments'
    ]


def test_references_to_classes_are_resolved_everywhere(read):
    reference = f"{__name__}:Packer"
    config = read(
        f"profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: '{reference}', weight: 2}}]}}, "
        f"filter: {{disabled: [{{name: '{reference}'}}]}}}}, "
        f"pluginConfig: [{{name: '{reference}', args: {{resource: cpu}}}}]}}]"
    )
    profile = config.profiles[0]
    assert profile.points["score"][-1] == ("Packer", 2)
    assert "Packer" not in profile.names("filter")
    assert profile.args["Packer"].resource == "cpu"


def test_a_reference_that_leads_nowhere(read):
    problems = read.problems("profiles: [{plugins: {score: {enabled: [{name: 'no_such_module:X'}]}}}]")
    assert problems == [
        'profiles[0].plugins.score.enabled[0]: plugin "no_such_module:X" cannot be imported: '
        "ModuleNotFoundError: No module named 'no_such_module'"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "f: no configuration in it: expected a KubeSchedulerConfiguration "
            "(kubescheduler.config.k8s.io/v1)",
        ),
        ("- 1", "f: document 1: expected a map with apiVersion and kind"),
        ("apiVersion: v1", "f: document 1: kind: Required value"),
        ("kind: Pod", "f: document 1: apiVersion: Required value"),
        (
            "{kind: Pod, apiVersion: v1}",
            'f: document 1: kind: "Pod" is no configuration: expected KubeSchedulerConfiguration or '
            "PodiumConfiguration",
        ),
        (
            "{kind: KubeSchedulerConfiguration, apiVersion: kubescheduler.config.k8s.io/v1beta3}",
            'f: document 1: apiVersion: no kind "KubeSchedulerConfiguration" is registered for version '
            '"kubescheduler.config.k8s.io/v1beta3", use kubescheduler.config.k8s.io/v1',
        ),
        (
            "{kind: PodiumConfiguration, apiVersion: podium.dev/v1alpha1}\n---\n"
            "{kind: PodiumConfiguration, apiVersion: podium.dev/v1alpha1}",
            "f: document 2: kind: a second PodiumConfiguration, one is enough",
        ),
    ],
)
def test_documents_that_are_no_configuration(text, message):
    with pytest.raises(ConfigError) as caught:
        parse_config(text.encode(), "f")
    assert str(caught.value) == message


def test_files(tmp_path):
    path = tmp_path / "config.yaml"
    with pytest.raises(ConfigError, match=r"config.yaml: No such file or directory"):
        load_config(path)
    with pytest.raises(ConfigError, match="directory"):
        load_config(tmp_path)
    path.write_text("{kind: KubeSchedulerConfiguration, apiVersion: kubescheduler.config.k8s.io/v1}")
    assert load_config(str(path), Registry.build(installed=())) == default_config(
        Registry.build(installed=())
    )


def test_short_forms(with_plugins):
    config = with_plugins()
    assert with_short_forms(config, registry=with_plugins.registry) == config
    changed = with_short_forms(
        config, queue_order="priority", tenant="label:team", registry=with_plugins.registry
    )
    assert changed.podium.tenants.by == "label:team"
    assert changed.profiles == config.profiles
    with pytest.raises(ConfigError, match=r'--tenant: Unsupported value: "team"'):
        with_short_forms(config, tenant="team")
    with pytest.raises(ConfigError, match=r'--queue-order: Unsupported value: "fifo"'):
        with_short_forms(config, queue_order="fifo")
    fair = with_short_forms(config, queue_order="drf", registry=with_plugins.registry)
    assert [profile.points["queueSort"] for profile in fair.profiles] == [[("DRF", 0)]] * len(fair.profiles)


def test_short_form_replaces_the_queue_sort_of_every_profile(with_plugins):
    sort = "plugins: {queueSort: {enabled: [{name: Sorter}], disabled: [{name: '*'}]}}"
    config = with_plugins(f"profiles: [{{schedulerName: a, {sort}}}, {{schedulerName: b, {sort}}}]")
    changed = with_short_forms(config, queue_order="priority", registry=with_plugins.registry)
    assert [profile.points["queueSort"] for profile in changed.profiles] == [[("PrioritySort", 0)]] * 2


def test_public_names():
    assert set(configuration.__all__) >= {"load_config", "SchedulerConfig", "Profile", "PodiumSettings"}
