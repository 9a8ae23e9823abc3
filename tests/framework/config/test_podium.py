import pytest
from podium.framework.config import parse_config
from podium.framework.config.podium import GangSettings, PodiumSettings, TenantSettings
from podium.framework.duration import Duration


def test_defaults(read):
    settings = read().podium
    assert settings == PodiumSettings()
    assert (settings.choose, settings.sampling, settings.seed, settings.strict) == ("seeded", "all", 0, False)
    assert settings.max_binds_in_flight == 256
    assert settings.plugin_budget == Duration.parse("50ms")
    assert settings.tenants == TenantSettings()
    assert settings.gangs == GangSettings()


def test_every_setting_of_the_documentation(read):
    settings = read(
        podium="""
choose: upstream
sampling: upstream
seed: 7
strict: true
maxBindsInFlight: 1000
pluginBudget: 5ms
tenants: {by: queue, order: band, weights: {a: 2}, parents: {a: root, b: a}, resourceWeights: {cpu: 1},
          reclaim: {enabled: true, minRunTime: 90s}}
gangs: {label: pod-group, minAvailable: min, permitTimeout: 0s, bindGrace: 5s,
        backfill: runtime, respectPDB: always}
"""
    ).podium
    assert (settings.choose, settings.sampling, settings.seed, settings.strict) == (
        "upstream",
        "upstream",
        7,
        True,
    )
    assert settings.tenants.parents == {"a": "root", "b": "a"}
    assert settings.tenants.weights == {"a": 2.0}
    assert settings.tenants.reclaim.min_run_time == Duration.parse("90s")
    assert settings.gangs == GangSettings(
        label="pod-group",
        min_available="min",
        permit_timeout=Duration(0),
        bind_grace=Duration.parse("5s"),
        backfill="runtime",
        respect_pdb="always",
    )


@pytest.mark.parametrize("by", ["namespace", "queue", "label:team", "annotation:example.com/team"])
def test_tenant_keys(read, by):
    assert read(podium=f"tenants: {{by: '{by}'}}").podium.tenants.by == by


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sede: 1", "sede: unknown field"),
        ("tenants: {reclaim: {enable: true}}", "tenants.reclaim.enable: unknown field"),
        ("strict: 1", "strict: expected a boolean, got an integer"),
        ("choose: random", 'choose: Unsupported value: "random": supported values: "seeded", "upstream"'),
        ("sampling: some", 'sampling: Unsupported value: "some": supported values: "all", "upstream"'),
        ("seed: -1", "seed: Invalid value: -1: must not be negative"),
        ("maxBindsInFlight: 0", "maxBindsInFlight: Invalid value: 0: must be greater than 0"),
        ("pluginBudget: 0s", 'pluginBudget: Invalid value: "0s": must be greater than zero'),
        ("tenants: {by: 'label:'}", 'tenants.by: Invalid value: "label:": name part must be non-empty'),
        ("tenants: {order: x}", 'tenants.order: Unsupported value: "x": supported values: "share", "band"'),
        ("tenants: {weights: {a: 0}}", "tenants.weights.a: Invalid value: 0: must be greater than 0"),
        ("tenants: {weights: {a: x}}", "tenants.weights.a: expected a number, got a string"),
        (
            "tenants: {resourceWeights: {cpu: -1}}",
            "tenants.resourceWeights.cpu: Invalid value: -1: must not be negative",
        ),
        ("tenants: {parents: {root: a}}", "tenants.parents.root: Forbidden: the root has no parent"),
        (
            "tenants: {parents: {a: ''}}",
            "tenants.parents.a: Required value: use root for a tenant at the top",
        ),
        (
            "tenants: {parents: {a: b, b: c, c: b, d: a}}",
            'tenants.parents.b: the parents form a circle: "b" -> "c" -> "b"',
        ),
        (
            "tenants: {reclaim: {minRunTime: -1s}}",
            'tenants.reclaim.minRunTime: Invalid value: "-1s": must be zero or positive',
        ),
        (
            "gangs: {permitTimeout: -1s}",
            'gangs.permitTimeout: Invalid value: "-1s": must be zero or positive',
        ),
        (
            "gangs: {backfill: all}",
            'gangs.backfill: Unsupported value: "all": supported values: "none", "runtime", "preemptible"',
        ),
        (
            "gangs: {respectPDB: never}",
            'gangs.respectPDB: Unsupported value: "never": supported values: "rank", "always"',
        ),
    ],
)
def test_refusals_name_document_and_field(read, text, problem):
    refusal = read.refusal(podium=text)
    assert refusal.startswith(f"f.yaml: document 2: {problem}")


def test_the_second_document_may_come_alone_or_first(read, tmp_path):
    text = b"{apiVersion: podium.dev/v1alpha1, kind: PodiumConfiguration, seed: 3}"
    config = parse_config(text, "f", read.registry)
    assert config.podium.seed == 3
    kube = b"{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, parallelism: 2}"
    assert parse_config(text + b"\n---\n" + kube, "f", read.registry).parallelism == 2
