"""The merge rules: upstream's own examples, and hypothesis against a rule-by-rule restatement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from podium.framework.config.defaults import default_plugin_sets
from podium.framework.config.expand import expand, merge
from podium.framework.config.v1 import PluginEntry, PluginSet
from podium.framework.native import NATIVE_PLUGINS
from podium.framework.points import POINTS, interface

FILTERS = [
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
]

# kube-scheduler v1.37.2, pkg/scheduler/apis/config/testing/defaults: ExpandedPluginsV1; and Podium's Gang.
EXPANDED_DEFAULTS = {
    "preEnqueue": ["SchedulingGates", "DynamicResources", "DefaultPreemption", "Gang"],
    "queueSort": ["PrioritySort"],
    "preFilter": FILTERS,
    "filter": FILTERS,
    "postFilter": ["DynamicResources", "DefaultPreemption"],
    "podGroupPostFilter": ["DynamicResources", "DefaultPreemption"],
    "preScore": [
        "TaintToleration",
        "NodeAffinity",
        "NodeResourcesFit",
        "VolumeBinding",
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeResourcesBalancedAllocation",
    ],
    "score": [
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
        ("VolumeBinding", 1),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("DynamicResources", 2),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
    ],
    "reserve": ["VolumeBinding", "DynamicResources"],
    "preBind": ["VolumeBinding", "DynamicResources"],
    "permit": ["Gang"],
    "bind": ["DefaultBinder"],
    "placementScore": [("NodeResourcesFit", 1)],
}


def entries(*specs):
    return tuple(
        PluginEntry(name=spec) if isinstance(spec, str) else PluginEntry(name=spec[0], weight=spec[1])
        for spec in specs
    )


def plugin_set(enabled=(), disabled=()):
    return PluginSet(enabled=entries(*enabled), disabled=entries(*disabled))


def expanded(sets, implements):
    reports = []
    points = expand(merge({}, sets), implements, lambda *report: reports.append(report))
    return points, reports


def test_the_default_profile_is_upstreams():
    points, reports = expanded(default_plugin_sets(), lambda name: frozenset(NATIVE_PLUGINS[name]))
    assert reports == []
    want = {point: EXPANDED_DEFAULTS.get(point, []) for point in POINTS}
    assert points == {
        point: [entry if isinstance(entry, tuple) else (entry, 0) for entry in plugins]
        for point, plugins in want.items()
    }


# The cases of TestMergePlugins (default_plugins_test.go): default, enabled, disabled -> result.
MERGES = {
    "append": (["D1", "D2"], ["C"], [], ["D1", "D2", "C"]),
    "insert after": (["D1", "D2"], ["C", "D2"], ["D2"], ["D1", "C", "D2"]),
    "insert before all": (["D1", "D2"], ["C", "D1", "D2"], ["*"], ["C", "D1", "D2"]),
    "reorder": (["D1", "D2"], ["D2", "D1"], ["*"], ["D2", "D1"]),
    "nothing": (["D1", "D2"], [], [], ["D1", "D2"]),
    "override": (["P1", "P2", "P3"], [("P1", 2), ("P3", 3)], [], [("P1", 2), "P2", ("P3", 3)]),
    "override keeps order": (["P1", "P2"], [("P2", 2), ("P1", 1)], [], [("P1", 1), ("P2", 2)]),
    "repeated": (
        ["P1", "P2", "P3"],
        ["P1", ("P2", 2), "P3", ("P2", 4)],
        [],
        ["P1", ("P2", 4), "P3", ("P2", 2)],
    ),
}


@pytest.mark.parametrize("case", MERGES, ids=str)
def test_merging_with_defaults(case):
    default, enabled, disabled, want = MERGES[case]
    merged = merge({"filter": plugin_set(default)}, {"filter": plugin_set(enabled, disabled)})
    assert merged["filter"] == plugin_set(want, disabled)
    assert merged["score"] == PluginSet()


ALL = frozenset(POINTS)
TEST_PLUGINS = {
    "all": ALL,
    "score1": frozenset({"preScore", "score"}),
    "score2": frozenset({"score"}),
    "sort": frozenset({"queueSort"}),
    "bind": frozenset({"bind"}),
}

# The cases of TestNewFrameworkMultiPointExpansion (framework_test.go), for the score and preScore points.
EXPANSIONS = {
    "weight of multiPoint": ({"multiPoint": plugin_set([("all", 5)])}, [("all", 5)], ["all"]),
    "disabled at a point": (
        {"multiPoint": plugin_set(["all"]), "score": plugin_set([], ["all"])},
        [],
        ["all"],
    ),
    "several": (
        {"multiPoint": plugin_set(["all", "score1"])},
        [("all", 1), ("score1", 1)],
        ["all", "score1"],
    ),
    "a point off": (
        {"multiPoint": plugin_set(["all", "score1"]), "preScore": plugin_set([], ["*"])},
        [("all", 1), ("score1", 1)],
        [],
    ),
    "a point's own order": (
        {"multiPoint": plugin_set(["score2", "all", "score1"]), "score": plugin_set(["score1", "all"])},
        [("score1", 1), ("all", 1), ("score2", 1)],
        ["all", "score1"],
    ),
    "others of the point come last": (
        {"multiPoint": plugin_set(["all", "score1"]), "score": plugin_set(["score2", "score1", "all"])},
        [("score1", 1), ("all", 1), ("score2", 1)],
        ["all", "score1"],
    ),
    "weights of the point win": (
        {
            "multiPoint": plugin_set([("all", 7), "score1"]),
            "score": plugin_set([("score1", 5), ("score2", 5), "all"]),
        },
        [("score1", 5), ("all", 1), ("score2", 5)],
        ["all", "score1"],
    ),
    "weight zero is one": ({"multiPoint": plugin_set([("all", 0)])}, [("all", 1)], ["all"]),
}


@pytest.mark.parametrize("case", EXPANSIONS, ids=str)
def test_expanding_multi_point(case):
    sets, score, pre_score = EXPANSIONS[case]
    points, reports = expanded(sets, TEST_PLUGINS.get)
    assert reports == []
    assert points["score"] == score
    assert points["preScore"] == [(name, 0) for name in pre_score]


@pytest.mark.parametrize(
    ("sets", "report"),
    [
        (
            {"multiPoint": plugin_set(["all", "all"])},
            ("multiPoint", "all", 'plugin "all" already registered as "PreFilterPlugin"'),
        ),
        (
            {"score": plugin_set(["all", "all"])},
            ("score", "all", 'plugin "all" already registered as "ScorePlugin"'),
        ),
        (
            {"score": plugin_set(["sort"])},
            ("score", "sort", 'plugin "sort" does not extend ScorePlugin plugin'),
        ),
        ({"bind": plugin_set(["nope"])}, ("bind", "nope", 'BindPlugin "nope" does not exist')),
        (
            {"multiPoint": plugin_set(["nope"])},
            ("multiPoint", "nope", 'PreFilterPlugin "nope" does not exist'),
        ),
    ],
)
def test_what_cannot_run_is_reported(sets, report):
    assert report in expanded(sets, TEST_PLUGINS.get)[1]


NAMES = ["all", "score1", "score2", "sort", "bind"]
plugin_lists = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 5)), unique_by=lambda entry: entry[0]
)
disabled_lists = st.lists(st.sampled_from([*NAMES, "*"]), unique=True, max_size=3)
sets_of = st.builds(plugin_set, plugin_lists, disabled_lists)


def allowed(draw_set, point):
    """Drop what the point cannot run, which is an error and tested above."""
    keep = [entry for entry in draw_set.enabled if point in TEST_PLUGINS[entry.name]]
    return PluginSet(enabled=tuple(keep), disabled=draw_set.disabled)


@given(sets_of, sets_of, sets_of, sets_of)
def test_the_rules_hold_for_any_configuration(default, multi, score, bind):
    custom = {"multiPoint": multi, "score": allowed(score, "score"), "bind": allowed(bind, "bind")}
    defaults = {"multiPoint": PluginSet(enabled=default.enabled)}
    reports = []
    points = expand(merge(defaults, custom), TEST_PLUGINS.get, lambda *report: reports.append(report))
    assert reports == []

    off = {entry.name for entry in multi.disabled}
    kept = [] if "*" in off else [entry for entry in default.enabled if entry.name not in off]
    of_user = {entry.name: entry for entry in multi.enabled}
    everywhere = [of_user.get(entry.name, entry) for entry in kept]
    everywhere += [entry for entry in multi.enabled if entry.name not in {item.name for item in kept}]
    for point in POINTS:
        own = custom.get(point, PluginSet())
        banned = {entry.name for entry in own.disabled}
        inherited = [
            entry
            for entry in everywhere
            if point in TEST_PLUGINS[entry.name] and entry.name not in banned and "*" not in banned
        ]
        inherited_names = {entry.name for entry in inherited}
        own_names = {entry.name for entry in own.enabled}
        want = [entry.name for entry in own.enabled if entry.name in inherited_names]
        want += [entry.name for entry in inherited if entry.name not in own_names]
        want += [entry.name for entry in own.enabled if entry.name not in inherited_names]
        assert [name for name, _ in points[point]] == want
    weights = {entry.name: entry.weight or 1 for entry in (*everywhere, *own_entries(custom, "score"))}
    assert dict(points["score"]) == {name: weights[name] for name, _ in points["score"]}


def own_entries(custom, point):
    return custom[point].enabled


def test_interface_names_are_upstreams():
    assert interface("podGroupPostFilter") == "PodGroupPostFilterPlugin"
