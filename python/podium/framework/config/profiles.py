"""Turns the profiles of a decoded configuration into finished ones: merge, expand, arguments.

The stages, each of which ends before the next begins so that the first error is kube-scheduler's: the
arguments of native plugins are decoded; everything is validated; ``multiPoint`` is expanded over the
registry; the arguments of Python plugins are decoded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from podium.errors import PluginError
from podium.framework.config.args import NATIVE_ARGS, complete
from podium.framework.config.args_validation import validate_args
from podium.framework.config.decode import decode, encode
from podium.framework.config.defaults import default_plugin_sets
from podium.framework.config.expand import Points, expand, merge
from podium.framework.config.model import Profile
from podium.framework.config.problems import Problems, child, index, quote
from podium.framework.config.v1 import API_VERSION, PluginEntry, PluginSet
from podium.framework.config.v1 import Profile as WireProfile
from podium.framework.native import NOT_IMPLEMENTED
from podium.framework.points import POINTS
from podium.framework.registry import PluginInfo, Registry

#: Plugins that kube-scheduler once had.
_REMOVED: Final = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})


@dataclass(slots=True)
class ProfileBuilder:
    """One profile on its way through the stages; ``path`` is where it stands in the file."""

    path: str
    wire: WireProfile
    registry: Registry
    problems: Problems
    args: dict[str, msgspec.Struct] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    sets: dict[str, PluginSet] = field(default_factory=dict)
    points: Points = field(default_factory=dict)
    _origins: dict[tuple[str, str], str] = field(default_factory=dict)
    _raw_args: dict[str, tuple[str, Any]] = field(default_factory=dict)

    def decode_native_args(self) -> None:
        """Stage 1: decode and complete the arguments of the default plugins."""
        for at, config in enumerate(self.wire.plugin_config):
            kind = NATIVE_ARGS.get(config.name)
            path = child(index(child(self.path, "pluginConfig"), at), "args")
            if kind is None:
                self._raw_args.setdefault(config.name, (path, config.args))
                continue
            raw = _without_type(config.args, config.name, path, self.problems)
            value = decode(raw, kind, path, self.problems)
            if value is not None and config.name not in self.args:
                self.args[config.name] = complete(value)

    def validate(self) -> None:
        """Stage 2: resolve references, merge with the defaults, check what needs no plugin to exist."""
        self.sets = merge(default_plugin_sets(), self._resolve_names())
        self._refuse_removed()
        seen: set[str] = set()
        for at, config in enumerate(self.wire.plugin_config):
            path = index(child(self.path, "pluginConfig"), at)
            if config.name in seen:
                self.problems.duplicate(path, config.name)
            elif config.name in _REMOVED:
                self._removed(path, config.name)
            elif config.name in self.args:
                validate_args(child(path, "args"), self.args[config.name], self.problems)
            seen.add(config.name)

    def expand(self) -> None:
        """Stage 3: expand ``multiPoint``; every plugin must exist and implement the point it is listed at."""
        before = len(self.problems.found)
        self.points = expand(self.sets, self._implements, self._report)
        if len(self.problems.found) > before:
            return
        name = quote(self.wire.scheduler_name or "")
        sorters = len(self.points["queueSort"])
        if sorters != 1:
            rule = "only one queue sort plugin required for profile with scheduler name"
            self.problems.add(child(self.path, "plugins.queueSort"), f"{rule} {name}, but got {sorters}")
        if not self.points["bind"]:
            text = f"at least one bind plugin is needed for profile with scheduler name {name}"
            self.problems.add(child(self.path, "plugins.bind"), text)

    def decode_python_args(self) -> None:
        """Stage 4: decode Python plugins' arguments, fill in native ones, warn about the rest."""
        enabled = dict.fromkeys(name for plugins in self.points.values() for name, _ in plugins)
        given = {self._canonical(name): value for name, value in self._raw_args.items()}
        for name in enabled:
            info = self.registry.get(name)
            if info is None or info.is_native:
                if name in NATIVE_ARGS:
                    self.args.setdefault(name, complete(NATIVE_ARGS[name]()))
                continue
            path, raw = given.pop(name, (child(self.path, "pluginConfig"), None))
            self._decode_own(info, path, raw)
        for name, (path, raw) in given.items():
            if raw is not None:
                why = "takes no arguments" if name in enabled else "is not enabled"
                self.warnings.append(f"{path}: no effect, plugin {quote(name)} {why}")

    def finish(self, default_percentage: int) -> Profile:
        """Return the profile."""
        own = self.wire.percentage_of_nodes_to_score
        return Profile(
            scheduler_name=self.wire.scheduler_name or "",
            percentage_of_nodes_to_score=default_percentage if own is None else own,
            points=self.points,
            args=dict(sorted(self.args.items())),
        )

    def _resolve_names(self) -> dict[str, PluginSet]:
        sets = {}
        for point, plugins in self.wire.plugins.by_point().items():
            path = child(child(self.path, "plugins"), point)
            sets[point] = PluginSet(
                enabled=self._resolve_list(point, child(path, "enabled"), plugins.enabled),
                disabled=self._resolve_list(point, child(path, "disabled"), plugins.disabled),
            )
        return sets

    def _resolve_list(
        self, point: str, path: str, entries: tuple[PluginEntry, ...]
    ) -> tuple[PluginEntry, ...]:
        resolved = []
        for at, entry in enumerate(entries):
            name = entry.name
            try:
                name = self._canonical(entry.name)
            except PluginError as error:
                self.problems.add(index(path, at), str(error))
            self._origins[point, name] = index(path, at)
            resolved.append(replace(entry, name=name))
        return tuple(resolved)

    def _canonical(self, name: str) -> str:
        """Turn a ``module:Class`` reference into the plugin's name; other names stay as they are."""
        info = self.registry.get(name) if ":" in name else None
        return name if info is None else info.name

    def _refuse_removed(self) -> None:
        # As in kube-scheduler, multiPoint is not looked at here: there the plugin simply does not exist.
        for point in POINTS:
            for at, entry in enumerate(self.sets[point].enabled):
                if entry.name in _REMOVED:
                    path = child(child(self.path, "plugins"), point)
                    self._removed(index(child(path, "enabled"), at), entry.name)

    def _removed(self, path: str, name: str) -> None:
        rule = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")'
        self.problems.invalid(path, name, rule)

    def _implements(self, name: str) -> frozenset[str] | None:
        try:
            info = self.registry.get(name)
        except PluginError:
            return None
        return None if info is None else frozenset(info.points)

    def _report(self, point: str, name: str, text: str) -> None:
        path = self._origins.get((point, name), child(child(self.path, "plugins"), point))
        if name in NOT_IMPLEMENTED and name not in self.registry.names():
            text = f"plugin {quote(name)} is not supported: {NOT_IMPLEMENTED[name]}"
        elif self._implements(name) is None:
            text = self._why_missing(name) or text
        self.problems.add(path, text)

    def _why_missing(self, name: str) -> str:
        try:
            self.registry.get(name)
        except PluginError as error:
            return str(error)
        return ""

    def _decode_own(self, info: PluginInfo, path: str, raw: Any) -> None:
        kind = info.args_type
        if kind is None:
            if raw is not None:
                self.problems.add(path, f"plugin {quote(info.name)} takes no arguments")
            return
        value = decode(raw, kind, path, self.problems)
        if value is not None:
            self.args[info.name] = value


def _without_type(raw: Any, plugin: str, path: str, problems: Problems) -> Any:
    """Check and drop ``apiVersion`` and ``kind`` of a default plugin's arguments."""
    if not isinstance(raw, dict):
        return raw
    kind, version = raw.get("kind") or f"{plugin}Args", raw.get("apiVersion") or API_VERSION
    if (kind, version) != (f"{plugin}Args", API_VERSION):
        text = f"args for plugin {plugin} were not of type {plugin}Args.{API_VERSION}, got {kind}.{version}"
        problems.add(path, text)
    return {key: value for key, value in raw.items() if key not in {"kind", "apiVersion"}}


def check_common_queue_sort(builders: list[ProfileBuilder], problems: Problems) -> None:
    """Record profiles whose queueSort differs from that of the first: all of them share one queue."""
    first = builders[0]
    sorters = first.sets["queueSort"].enabled
    if len(sorters) > 1:
        path = child(first.path, "plugins.queueSort.enabled")
        problems.invalid(path, len(sorters), "only one queue sort plugin can be enabled")
    for other in builders[1:]:
        if other.sets["queueSort"] != first.sets["queueSort"]:
            path = child(other.path, "plugins.queueSort")
            problems.invalid(path, encode(other.sets["queueSort"]), "must be the same for all profiles")


def check_expanded_queue_sort(builders: list[ProfileBuilder], problems: Problems) -> None:
    """Record profiles with another queueSort plugin, or other arguments for it, than the first."""
    first = builders[0]
    name = first.points["queueSort"][0][0]
    for other in builders[1:]:
        own = other.points["queueSort"][0][0]
        profile = quote(other.wire.scheduler_name or "")
        if own != name:
            text = f"different queue sort plugins for profile {profile}: {quote(own)}, first: {quote(name)}"
            problems.add(child(other.path, "plugins.queueSort"), text)
        elif other.args.get(name) != first.args.get(name):
            text = f"different queue sort plugin args for profile {profile}"
            problems.add(child(other.path, "pluginConfig"), text)


def override_ignored_resources(
    args: Mapping[str, msgspec.Struct], ignored: tuple[str, ...]
) -> dict[str, msgspec.Struct]:
    """Let NodeResourcesFit ignore what extenders manage; as in kube-scheduler this replaces its own list."""
    result = dict(args)
    if ignored:
        result["NodeResourcesFit"] = msgspec.structs.replace(
            result["NodeResourcesFit"], ignored_resources=ignored
        )
    return result
