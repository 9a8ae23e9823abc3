"""Reads a policy file: decodes, validates and completes it, or refuses it with upstream's words.

What upstream ignores in silence (unknown keys, ``disabled`` lists, plugins that are configured and not
enabled) is loaded too, with a warning.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from podium.descheduler.framework import PluginType, Point
from podium.descheduler.plugins import default_evictor
from podium.descheduler.plugins.default_evictor.plugin import SYSTEM_CRITICAL_PRIORITY
from podium.descheduler.podfilter import PriorityThreshold
from podium.descheduler.policy import golang
from podium.descheduler.policy.document import parse
from podium.descheduler.policy.model import (
    API_VERSION,
    KIND,
    KUBERNETES_METRICS,
    PROMETHEUS,
    MetricsProvider,
    PluginSet,
    Policy,
    Profile,
)
from podium.errors import InputError
from podium.framework.config.problems import quote

_SCHEME: Final = "pkg/runtime/scheme.go:111"

#: Classes that every API server has.
_BUILT_IN: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A profile with its plugins' arguments decoded, and DefaultEvictor where it belongs.

    Attributes:
        args: plugin name to arguments; of an entry that is repeated, the first.
        enabled: plugins by extension point, in the order in which they run.

    """

    name: str
    args: Mapping[str, Any]
    enabled: Mapping[Point, Sequence[str]]


@dataclass(slots=True)
class LoadedPolicy:
    """A policy that may run."""

    policy: Policy
    profiles: list[LoadedProfile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def load_policy(
    text: str, source: str, table: Mapping[str, PluginType], priority_classes: Mapping[str, int]
) -> LoadedPolicy:
    """Read a policy.

    Args:
        text: YAML or JSON; of several documents the first.
        source: the file's name, for errors.
        table: the plugins that there are.
        priority_classes: name to value, for thresholds that name one.

    Raises:
        InputError: one line with upstream's text.

    """
    prefix = f"failed decoding descheduler's policy config {quote(source)}: "
    try:
        policy, warnings = _decode(text)
        arguments = [_decode_args(profile, table) for profile in policy.profiles]
    except InputError as error:
        raise InputError(prefix + str(error)) from None
    loaded = LoadedPolicy(policy, warnings=warnings)
    problems = [
        problem
        for profile, args in zip(policy.profiles, arguments, strict=True)
        for problem in _profile_problems(profile, args, table)
    ]
    problems += _provider_problems(policy)
    if problems:
        raise InputError(aggregate(problems))
    for profile, args in zip(policy.profiles, arguments, strict=True):
        loaded.profiles.append(_complete(profile, args, priority_classes))
        loaded.warnings += _without_effect(profile)
    return loaded


def aggregate(problems: Iterable[str]) -> str:
    """Join errors as apimachinery does: repeated ones once, several in brackets."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def _decode(text: str) -> tuple[Policy, list[str]]:
    raw = parse(text)
    api_version, kind = _interpret(raw)
    if not api_version:
        # Upstream then reads into its internal type, whose fields have other names: it finds nothing.
        return Policy(), ["apiVersion is missing, so nothing of the policy is read, as upstream"]
    if (api_version, kind or KIND) != (API_VERSION, KIND):
        raise InputError(
            f"no kind {quote(kind)} is registered for version {quote(api_version)} in scheme {quote(_SCHEME)}"
        )
    decoded = golang.decode(raw, Policy)
    return decoded.value, [f"{path}: unknown field, ignored" for path in decoded.unknown]


class _Header(msgspec.Struct, rename="camel"):
    """What apimachinery reads first of any object; its Go type has no name, only this text."""

    GO_NAME = (
        r'struct { APIVersion string "json:\"apiVersion,omitempty\""; '
        r'Kind string "json:\"kind,omitempty\"" }'
    )
    api_version: str = ""
    kind: str = ""


def _interpret(raw: Any) -> tuple[str, str]:
    """Return apiVersion and kind."""
    try:
        header = golang.decode({} if raw is None else raw, _Header).value
    except InputError as error:
        raise InputError(f"couldn't get version/kind; json parse error: {error}") from None
    return header.api_version, header.kind


def _decode_args(profile: Profile, table: Mapping[str, PluginType]) -> list[Any]:
    """Return the arguments of each entry, None where the plugin is not known."""
    return [
        _strictly({} if entry.raw is None else entry.raw, table[entry.name].args)
        if entry.name in table
        else None
        for entry in profile.plugin_config
    ]


def _strictly(raw: Any, kind: type[Any]) -> Any:
    _interpret(raw)
    decoded = golang.decode(raw, kind)
    if decoded.unknown:
        found = ", ".join(f"unknown field {quote(path)}" for path in decoded.unknown)
        raise InputError(f"strict decoding error: {found}")
    return decoded.value


def _profile_problems(
    profile: Profile, arguments: Sequence[Any], table: Mapping[str, PluginType]
) -> Iterable[str]:
    for entry, args in zip(profile.plugin_config, arguments, strict=True):
        if entry.name not in table:
            yield f"in profile {profile.name}: plugin {entry.name} in pluginConfig not registered"
            continue
        found = table[entry.name].validate(args)
        if found:
            yield f"in profile {profile.name}: {aggregate(found)}"


def _provider_problems(policy: Policy) -> Iterable[str]:
    seen: set[str] = set()
    for provider in policy.metrics_providers:
        if provider.source in seen:
            source = quote(provider.source)
            yield f"metric provider {source} is already configured, each source can be configured only once"
        seen.add(provider.source)
    collector = policy.metrics_collector
    if KUBERNETES_METRICS in seen and collector is not None and collector.enabled:
        yield "it is not allowed to combine metrics provider when metrics collector is enabled"
    prometheus = policy.provider(PROMETHEUS)
    if prometheus is not None:
        yield from _prometheus_problems(prometheus)


def _prometheus_problems(provider: MetricsProvider) -> Iterable[str]:
    server = provider.prometheus
    if server is None:
        yield "prometheus configuration is required when prometheus source is enabled"
        return
    if not server.url:
        yield "prometheus URL is required when prometheus is enabled"
    if server.auth_token is None:
        return
    secret = server.auth_token.secret_reference
    if secret is None:
        yield "prometheus authToken secret is expected to be set when authToken field is"
    elif not (secret.name and secret.namespace):
        yield "prometheus authToken secret reference does not set both namespace and name"


def _complete(profile: Profile, arguments: Sequence[Any], classes: Mapping[str, int]) -> LoadedProfile:
    args: dict[str, Any] = {}
    for entry, value in zip(profile.plugin_config, arguments, strict=True):
        args.setdefault(entry.name, value)
    evictor = args.get(default_evictor.NAME) or default_evictor.Args()
    value = _priority(evictor.priority_threshold, classes)
    threshold = PriorityThreshold(value=value)
    args[default_evictor.NAME] = msgspec.structs.replace(evictor, priority_threshold=threshold)
    plugins = profile.plugins
    enabled = {
        Point.DESCHEDULE: plugins.deschedule.enabled,
        Point.BALANCE: plugins.balance.enabled,
        Point.FILTER: _with_default_evictor(plugins.filter),
        Point.PRE_EVICTION_FILTER: _with_default_evictor(plugins.preevictionfilter),
    }
    return LoadedProfile(profile.name, args, enabled)


def _with_default_evictor(plugins: PluginSet) -> Sequence[str]:
    if default_evictor.NAME in plugins.enabled:
        return plugins.enabled
    return [default_evictor.NAME, *plugins.enabled]


def _priority(threshold: PriorityThreshold | None, classes: Mapping[str, int]) -> int:
    if threshold is None:
        return SYSTEM_CRITICAL_PRIORITY
    value = threshold.value
    if value is None:
        known = {"": SYSTEM_CRITICAL_PRIORITY, **_BUILT_IN, **classes}
        if threshold.name not in known:
            raise InputError(
                "unable to get priority value from the priority class: "
                f"priorityclasses.scheduling.k8s.io {quote(threshold.name)} not found"
            )
        value = known[threshold.name]
    if value > SYSTEM_CRITICAL_PRIORITY:
        raise InputError(f"priority threshold can't be greater than {SYSTEM_CRITICAL_PRIORITY}")
    return value


def _without_effect(profile: Profile) -> Iterable[str]:
    plugins = profile.plugins
    where = f"profile {quote(profile.name)}"
    sets = {name: getattr(plugins, name) for name in plugins.__struct_fields__}
    active = {name for point in Point for name in sets[point.value].enabled}
    for entry in profile.plugin_config:
        if entry.name not in active and entry.name != default_evictor.NAME:
            yield f"{where}: plugin {entry.name} is configured but not enabled, so it does nothing"
    for name, plugin_set in sets.items():
        if plugin_set.disabled:
            yield f"{where}: plugins.{name}.disabled has no effect"
    for name in ("presort", "sort"):
        if sets[name].enabled:
            yield f"{where}: plugins.{name} has no effect"
