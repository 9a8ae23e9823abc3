from importlib.metadata import EntryPoint

import msgspec
import pytest
from podium.errors import PluginError
from podium.framework.native import NATIVE_PLUGINS, NOT_IMPLEMENTED
from podium.framework.plugin import Plugin
from podium.framework.points import POINTS
from podium.framework.registry import Broken, PluginInfo, Registry, implemented_points, instantiate
from podium.testing import FakeHandle


class Packer(Plugin):
    name = "Packer"

    class Args(msgspec.Struct):
        weight: int = 1

    def filter(self, state, pod, nodes):
        return nodes.candidates

    def score(self, state, pod, nodes):
        return nodes.allocatable("cpu")

    def normalize_score(self, state, pod, nodes, scores):
        return scores


class Other(Plugin):
    name = "Other"

    def permit(self, state, pod, node_name):
        return None


def entry(name, value):
    return EntryPoint(name, value, "podium.plugins")


def installed(*entries):
    return Registry.build(installed=[entry(name, f"{__name__}:{value}") for name, value in entries])


def test_native_plugins_are_known_with_their_points():
    registry = Registry.build(installed=())
    info = registry.get("NodeResourcesFit")
    assert info.is_native
    assert info.source == "native"
    assert info.points == ("preFilter", "filter", "preScore", "score", "placementScore")
    assert info.args_type is None
    assert registry.get("Nope") is None
    assert registry.names() == {*NATIVE_PLUGINS, "LoadAware"}
    assert not set(NOT_IMPLEMENTED) & set(NATIVE_PLUGINS)


def test_points_are_those_with_methods():
    assert implemented_points(Packer) == ("filter", "score")

    class Everything(Plugin):
        name = "Everything"
        pre_enqueue = less = pre_filter = add_pod = remove_pod = filter = post_filter = pre_score = score = (
            None
        )
        reserve = unreserve = permit = pre_bind = bind = post_bind = None

    missing = set(POINTS) - set(implemented_points(Everything))
    assert missing == {"placementGenerate", "placementScore", "podGroupPostFilter"}


def test_builtin_and_installed_plugins():
    registry = Registry.build({"Packer": Packer}, [entry("Other", f"{__name__}:Other")])
    assert registry.get("Packer") == PluginInfo("Packer", "podium", ("filter", "score"), Packer)
    assert registry.get("Packer").args_type is Packer.Args
    assert registry.get("Other").factory is Other
    assert registry.get("Other").source == f"{__name__}:Other"
    names = [info.name for info in registry.entries()]
    assert names == [*NATIVE_PLUGINS, "LoadAware", "Other", "Packer"]


def test_real_entry_points_are_read():
    assert isinstance(Registry.build(), Registry)


def test_installed_plugins_are_imported_only_when_asked_for():
    registry = Registry.build(installed=[entry("Bad", "no_such_module:X")])
    assert "Bad" in registry.names()
    with pytest.raises(PluginError, match='plugin "Bad" cannot be imported: ModuleNotFoundError'):
        registry.get("Bad")
    (broken,) = [info for info in registry.entries() if isinstance(info, Broken)]
    assert broken.name == "Bad"
    assert broken.source == "no_such_module:X"
    assert "no_such_module" in broken.error


@pytest.mark.parametrize("name", ["NodeName", "Packer"])
def test_name_collisions_are_errors(name):
    with pytest.raises(PluginError, match=f'plugin "{name}" of .* has the name of a plugin of'):
        Registry.build({"Packer": Packer}, [entry(name, f"{__name__}:Other")])


def test_two_packages_with_one_name():
    with pytest.raises(PluginError, match='plugin "A" of x:B has the name of a plugin of x:A: rename it'):
        Registry.build(installed=[entry("A", "x:A"), entry("A", "x:B")])


def test_references_are_plugins_under_their_own_name():
    registry = Registry.build(installed=())
    info = registry.get(f"{__name__}:Packer")
    assert info.name == "Packer"
    assert info.source == f"module {__name__}"
    assert registry.get("Packer") is info
    assert registry.get(f"{__name__}:Packer") is info


def test_a_reference_to_a_known_class_is_that_plugin():
    registry = installed(("Packer", "Packer"))
    registry.get("Packer")
    assert registry.get(f"{__name__}:Packer").source == f"{__name__}:Packer"


def test_a_reference_must_not_take_a_name():
    registry = Registry.build({"Other": Other}, installed=())

    class Impostor(Plugin):
        name = "Other"

        def bind(self, state, pod, node_name):
            return None

    with pytest.raises(PluginError, match='plugin "Other" of program has the name of a plugin of podium'):
        registry.register(Impostor)


def test_register_for_programs():
    registry = Registry.build(installed=())
    assert registry.register(Packer).points == ("filter", "score")
    assert registry.get("Packer").source == "program"


class NoName(Plugin):
    def bind(self, state, pod, node_name):
        return None


class Colon(Plugin):
    name = "a:b"

    def bind(self, state, pod, node_name):
        return None


class Nothing(Plugin):
    name = "Nothing"


class BadArgs(Plugin):
    name = "BadArgs"
    Args = dict

    def bind(self, state, pod, node_name):
        return None


class NotPlugin:
    name = "NotPlugin"


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (NoName, 'plugin "NoName" of program: set the class attribute name'),
        (Colon, 'plugin "Colon" of program: set the class attribute name'),
        (Nothing, 'plugin "Nothing" of program has no method of any extension point'),
        (BadArgs, 'plugin "BadArgs" of program: Args must be a msgspec.Struct'),
        (NotPlugin, 'plugin "NotPlugin" of program is not a class derived from podium.framework.Plugin'),
        (3, 'plugin "3" of program is not a class'),
    ],
)
def test_what_is_no_plugin(plugin, message):
    with pytest.raises(PluginError, match=message):
        Registry.build(installed=()).register(plugin)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["normalize_score"], "has normalize_score but no score"),
        (["pre_filter", "add_pod"], "has add_pod but no remove_pod"),
        (["add_pod", "remove_pod"], "has add_pod but no pre_filter"),
        (["reserve"], "has reserve but no unreserve"),
        (["pre_bind_pre_flight"], "has pre_bind_pre_flight but no pre_bind"),
    ],
)
def test_methods_that_need_another(methods, message):
    plugin = type("X", (Plugin,), {"name": "X", **dict.fromkeys(methods, lambda *_: None)})
    with pytest.raises(PluginError, match=f'plugin "X" {message}'):
        Registry.build(installed=()).register(plugin)


@pytest.mark.parametrize("method", ["pre_enqueue", "pre_filter", "filter", "score", "permit"])
def test_a_point_of_the_scheduling_cycle_may_not_be_async(method):
    async def waits(*_):
        return None

    plugin = type("X", (Plugin,), {"name": "X", method: waits})
    with pytest.raises(
        PluginError, match=f'plugin "X": {method} is async def, only pre_bind, bind, post_bind may'
    ):
        Registry.build(installed=()).register(plugin)
    binds = type("Y", (Plugin,), {"name": "Y", "pre_bind": waits, "bind": waits, "post_bind": waits})
    Registry.build(installed=()).register(binds)


def test_an_entry_point_and_its_class_have_one_name():
    with pytest.raises(PluginError, match=r'plugin "Wrong" .* calls itself "Packer"'):
        installed(("Wrong", "Packer")).get("Wrong")


def test_instances():
    registry = Registry.build({"Packer": Packer}, installed=())
    handle = FakeHandle()
    made = instantiate(registry.get("Packer"), Packer.Args(3), handle)
    assert made.args.weight == 3
    assert made.handle is handle
    with pytest.raises(PluginError, match='plugin "NodeName" is native'):
        instantiate(registry.get("NodeName"), None, handle)


def test_a_constructor_that_raises():
    class Broken(Other):
        def __init__(self, args, handle):
            raise ValueError("no such file")

    info = Registry.build(installed=()).register(Broken)
    with pytest.raises(PluginError, match='initializing plugin "Other": ValueError: no such file'):
        instantiate(info, None, FakeHandle())
