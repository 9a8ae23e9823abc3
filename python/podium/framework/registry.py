"""Which plugins there are: native, Podium's own in Python, installed, and ``module:Class``.

Nothing registers itself: a registry is built from tables and from the entry points of installed packages, and
a class is imported only when something asks for it.
"""

import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, Final

import msgspec

from podium.errors import PluginError
from podium.framework.handle import Handle
from podium.framework.native import NATIVE_PLUGINS
from podium.framework.own import OWN_PLUGINS
from podium.framework.plugin import Plugin
from podium.framework.points import BINDING_POINTS, POINT_METHODS, in_order

ENTRY_POINT_GROUP: Final = "podium.plugins"
NATIVE_SOURCE: Final = "native"
BUILTIN_SOURCE: Final = "podium"

#: Methods that mean nothing without another one: extra method -> what it needs.
_NEEDS: Final = {
    "normalize_score": "score",
    "add_pod": "pre_filter",
    "remove_pod": "pre_filter",
    "pre_bind_pre_flight": "pre_bind",
}
#: Methods that may be ``async def``, and all others.
_MAY_AWAIT: Final = tuple(method for point in BINDING_POINTS for method in POINT_METHODS[point])
_SERIAL_METHODS: Final = (
    *(method for methods in POINT_METHODS.values() for method in methods if method not in _MAY_AWAIT),
    *_NEEDS,
)
#: Methods that come together.
_PAIRS: Final = (("add_pod", "remove_pod"), ("remove_pod", "add_pod"), ("reserve", "unreserve"))


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """One plugin: name, where it comes from, the points it implements, and its class if it is Python."""

    name: str
    source: str
    points: tuple[str, ...]
    factory: type[Plugin] | None = None

    @property
    def is_native(self) -> bool:
        """Whether it runs in the core."""
        return self.factory is None

    @property
    def args_type(self) -> type[msgspec.Struct] | None:
        """The type of a Python plugin's arguments, None if it takes none."""
        return self.factory.Args if self.factory is not None else None


@dataclass(frozen=True, slots=True)
class Broken:
    """An installed plugin that cannot be used, and why."""

    name: str
    source: str
    error: str


@dataclass(slots=True)
class Registry:
    """Plugins by name. ``get`` finds one, ``entries`` lists all for ``podium plugins``."""

    _infos: dict[str, PluginInfo] = field(default_factory=dict)
    _lazy: dict[str, tuple[str, Callable[[], Any]]] = field(default_factory=dict)
    _references: dict[str, str] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        builtin: Mapping[str, type[Plugin]] | None = None,
        installed: Iterable[metadata.EntryPoint] | None = None,
    ) -> "Registry":
        """Make a registry of the native plugins, Podium's own and the installed ones.

        Args:
            builtin: Podium's Python plugins, name -> class.
            installed: entry points; by default those of the group ``podium.plugins``.

        Raises:
            PluginError: if two plugins have the same name.

        """
        registry = cls()
        for name, points in NATIVE_PLUGINS.items():
            registry._infos[name] = PluginInfo(name, NATIVE_SOURCE, in_order(points))
        for name, reference in OWN_PLUGINS.items():
            registry._add_lazy(name, BUILTIN_SOURCE, _referred(reference))
        for name, plugin in (builtin or {}).items():
            registry._add(_describe(name, BUILTIN_SOURCE, plugin))
        group = metadata.entry_points(group=ENTRY_POINT_GROUP) if installed is None else installed
        for entry in group:
            registry._add_lazy(entry.name, _source_of(entry), entry.load)
        return registry

    def register(self, plugin: type[Plugin], source: str = "program") -> PluginInfo:
        """Add a class under its own name, for programs that embed the scheduler.

        Raises:
            PluginError: if the name is taken or the class is no plugin.

        """
        return self._add(_describe(None, source, plugin))

    def get(self, name: str) -> PluginInfo | None:
        """Return the plugin of a name or of a ``module:Class`` reference; None if there is none.

        Raises:
            PluginError: if it exists but cannot be imported or is no plugin.

        """
        name = self._references.get(name, name)
        if name in self._infos:
            return self._infos[name]
        if name in self._lazy:
            source, load = self._lazy[name]
            self._infos[name] = _describe(name, source, _load(name, load))
            return self._infos[name]
        return self._get_reference(name) if ":" in name else None

    def names(self) -> frozenset[str]:
        """Return every name, without importing anything."""
        return frozenset(self._infos) | frozenset(self._lazy)

    def entries(self) -> Iterator[PluginInfo | Broken]:
        """Yield every plugin, native ones in the order of their table and then the others by name."""
        yield from (info for info in self._infos.values() if info.is_native)
        others = {info.name for info in self._infos.values() if not info.is_native} | set(self._lazy)
        for name in sorted(others):
            try:
                info = self.get(name)
            except PluginError as error:
                yield Broken(name, self._lazy[name][0], str(error))
            else:
                if info is not None:
                    yield info

    def _get_reference(self, reference: str) -> PluginInfo:
        plugin = _load(reference, _referred(reference))
        info = self._add(_describe(None, f"module {reference.partition(':')[0]}", plugin))
        self._references[reference] = info.name
        return info

    def _add(self, info: PluginInfo) -> PluginInfo:
        if info.factory is not None and OWN_PLUGINS.get(info.name) == _reference_of(info.factory):
            self.get(info.name)
        known = self._infos.get(info.name)
        if known is not None and info.factory is not None and known.factory is info.factory:
            return known
        self._refuse_taken(info.name, info.source)
        self._infos[info.name] = info
        return info

    def _add_lazy(self, name: str, source: str, load: Callable[[], Any]) -> None:
        self._refuse_taken(name, source)
        self._lazy[name] = (source, load)

    def _refuse_taken(self, name: str, source: str) -> None:
        owner = self._infos[name].source if name in self._infos else self._lazy.get(name, ("", None))[0]
        if owner:
            raise PluginError(f'plugin "{name}" of {source} has the name of a plugin of {owner}: rename it')


def implemented_points(plugin: type[Plugin]) -> tuple[str, ...]:
    """Return the extension points that a class has methods for."""
    return in_order(
        point for point, methods in POINT_METHODS.items() if any(hasattr(plugin, name) for name in methods)
    )


def instantiate(info: PluginInfo, args: Any, handle: Handle) -> Plugin:
    """Make an instance of a Python plugin.

    Raises:
        PluginError: if it is native, or if its constructor raises.

    """
    if info.factory is None:
        raise PluginError(f'plugin "{info.name}" is native: it runs in the core')
    try:
        return info.factory(args, handle)
    except Exception as error:
        raise PluginError(f'initializing plugin "{info.name}": {_brief(error)}') from error


def _describe(name: str | None, source: str, plugin: Any) -> PluginInfo:
    """Check a class and describe it; ``name`` is the one it must have, None for its own."""
    title = name or getattr(plugin, "__qualname__", repr(plugin))
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
        raise PluginError(f'plugin "{title}" of {source} is not a class derived from podium.framework.Plugin')
    own = getattr(plugin, "name", None)
    if not isinstance(own, str) or not own or ":" in own:
        raise PluginError(
            f'plugin "{title}" of {source}: set the class attribute name to a string without ":"'
        )
    if name is not None and own != name:
        raise PluginError(f'plugin "{name}" of {source} calls itself "{own}": the two names must be equal')
    if plugin.Args is not None and not issubclass(plugin.Args, msgspec.Struct):
        raise PluginError(f'plugin "{own}" of {source}: Args must be a msgspec.Struct')
    _check_methods(own, plugin)
    points = implemented_points(plugin)
    if not points:
        raise PluginError(f'plugin "{own}" of {source} has no method of any extension point')
    return PluginInfo(own, source, points, plugin)


def _check_methods(name: str, plugin: type[Plugin]) -> None:
    for method, needed in (*_NEEDS.items(), *_PAIRS):
        if hasattr(plugin, method) and not hasattr(plugin, needed):
            raise PluginError(f'plugin "{name}" has {method} but no {needed}')
    for method in _SERIAL_METHODS:
        if inspect.iscoroutinefunction(getattr(plugin, method, None)):
            text = f"{method} is async def, only {', '.join(_MAY_AWAIT)} may be"
            raise PluginError(f'plugin "{name}": {text}: nothing waits in a scheduling cycle')


def _load(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:
        raise PluginError(f'plugin "{name}" cannot be imported: {_brief(error)}') from error


def _reference_of(plugin: type[Plugin]) -> str:
    return f"{plugin.__module__}:{plugin.__qualname__}"


@cache
def _referred(reference: str) -> Callable[[], Any]:
    """Return what imports ``module:Class``."""

    def load() -> Any:
        module, _, attribute = reference.partition(":")
        value: Any = importlib.import_module(module)
        for part in attribute.split("."):
            value = getattr(value, part)
        return value

    return load


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _source_of(entry: metadata.EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value
