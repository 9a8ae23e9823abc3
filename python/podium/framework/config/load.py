"""Reads a configuration file: ``KubeSchedulerConfiguration`` v1 and, optionally, ``PodiumConfiguration``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from podium.errors import ConfigError
from podium.framework.config import podium, v1, validation
from podium.framework.config.decode import decode
from podium.framework.config.defaults import complete
from podium.framework.config.documents import MAX_BYTES, Document, read_documents
from podium.framework.config.model import SchedulerConfig
from podium.framework.config.podium import PodiumSettings
from podium.framework.config.problems import Problems, quote
from podium.framework.config.profiles import (
    ProfileBuilder,
    check_common_queue_sort,
    check_expanded_queue_sort,
    override_ignored_resources,
)
from podium.framework.config.v1 import KubeSchedulerConfiguration
from podium.framework.registry import Registry

#: kind -> (its API version, the type it decodes to).
_KINDS: Final[dict[str, tuple[str, type[Any]]]] = {
    v1.KIND: (v1.API_VERSION, KubeSchedulerConfiguration),
    podium.KIND: (podium.API_VERSION, PodiumSettings),
}


def load_config(path: str | Path, registry: Registry | None = None) -> SchedulerConfig:
    """Read a configuration file.

    Args:
        path: a YAML or JSON file with one or two documents, in any order.
        registry: the plugins that it may name; by default the native and the installed ones.

    Raises:
        ConfigError: one line that names the file, the document and the field.

    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    return parse_config(text, str(path), registry)


def default_config(registry: Registry | None = None) -> SchedulerConfig:
    """Return what runs without ``--config``: the default profile and Podium's default settings."""
    return _finish(
        _Part("", KubeSchedulerConfiguration()), _Part("", PodiumSettings()), registry or Registry.build()
    )


def parse_config(text: bytes, source: str, registry: Registry | None = None) -> SchedulerConfig:
    """Read a configuration from memory; ``source`` names it in errors. See ``load_config``."""
    parts: dict[str, _Part] = {}
    for document in read_documents(text, source):
        where = f"{source}: document {document.number}"
        kind = _kind_of(document, where)
        if kind in parts:
            raise ConfigError(f"{where}: kind: a second {kind}, one is enough")
        parts[kind] = _decode(document, kind, where)
    if not parts:
        raise ConfigError(f"{source}: no configuration in it: expected a {v1.KIND} ({v1.API_VERSION})")
    return _finish(
        parts.get(v1.KIND, _Part(source, KubeSchedulerConfiguration())),
        parts.get(podium.KIND, _Part(source, PodiumSettings())),
        registry or Registry.build(),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    where: str
    value: Any


def _kind_of(document: Document, where: str) -> str:
    content = document.content
    if not isinstance(content, dict):
        raise ConfigError(f"{where}: expected a map with apiVersion and kind")
    kind, version = content.get("kind"), content.get("apiVersion")
    if not isinstance(kind, str) or not kind:
        raise ConfigError(f"{where}: kind: Required value")
    if not isinstance(version, str) or not version:
        raise ConfigError(f"{where}: apiVersion: Required value")
    if kind not in _KINDS:
        raise ConfigError(f"{where}: kind: {quote(kind)} is no configuration: expected {' or '.join(_KINDS)}")
    if version != _KINDS[kind][0]:
        text = f"no kind {quote(kind)} is registered for version {quote(version)}, use {_KINDS[kind][0]}"
        raise ConfigError(f"{where}: apiVersion: {text}")
    return kind


def _decode(document: Document, kind: str, where: str) -> _Part:
    problems = Problems()
    value = decode(document.content, _KINDS[kind][1], "", problems)
    problems.raise_if_any(where)
    return _Part(where, value)


def _finish(kube: _Part, own: _Part, registry: Registry) -> SchedulerConfig:
    problems = Problems()
    podium.validate(own.value, problems)
    problems.raise_if_any(own.where)

    wire: KubeSchedulerConfiguration = complete(kube.value)
    builders = [
        ProfileBuilder(f"profiles[{at}]", profile, registry, problems)
        for at, profile in enumerate(wire.profiles)
    ]
    _run_stages(wire, builders, problems, kube.where)
    ignored = tuple(
        resource.name
        for extender in wire.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )
    for builder in builders:
        builder.args = override_ignored_resources(builder.args, ignored)
    return SchedulerConfig(
        profiles=[builder.finish(wire.percentage_of_nodes_to_score) for builder in builders],
        podium=own.value,
        registry=registry,
        parallelism=wire.parallelism,
        percentage_of_nodes_to_score=wire.percentage_of_nodes_to_score,
        pod_initial_backoff_seconds=wire.pod_initial_backoff_seconds,
        pod_max_backoff_seconds=wire.pod_max_backoff_seconds,
        leader_election=wire.leader_election,
        client_connection=wire.client_connection,
        enable_profiling=wire.enable_profiling,
        enable_contention_profiling=bool(wire.enable_contention_profiling),
        delay_cache_until_active=wire.delay_cache_until_active,
        extenders=tuple(sorted(wire.extenders, key=lambda extender: extender.ignorable)),
        warnings=_warnings(wire, own.value, builders),
    )


def _run_stages(
    wire: KubeSchedulerConfiguration, builders: list[ProfileBuilder], problems: Problems, where: str
) -> None:
    for builder in builders:
        builder.decode_native_args()
    problems.raise_if_any(where)

    validation.validate(wire, problems)
    for builder in builders:
        builder.validate()
    check_common_queue_sort(builders, problems)
    problems.raise_if_any(where)

    for builder in builders:
        builder.expand()
    problems.raise_if_any(where)

    for builder in builders:
        builder.decode_python_args()
    check_expanded_queue_sort(builders, problems)
    problems.raise_if_any(where)


def _warnings(
    wire: KubeSchedulerConfiguration, settings: PodiumSettings, builders: list[ProfileBuilder]
) -> tuple[str, ...]:
    warnings = [warning for builder in builders for warning in builder.warnings]
    for at, extender in enumerate(wire.extenders):
        warnings.append(
            f"extenders[{at}]: {extender.url_prefix} is asked over HTTP inside the scheduling cycle: "
            "every pod that concerns it takes milliseconds instead of microseconds; a plugin costs less"
        )
    percentages = [
        wire.percentage_of_nodes_to_score,
        *(p.percentage_of_nodes_to_score for p in wire.profiles),
    ]
    if settings.sampling == "all" and any(percentages):
        warnings.append(
            "percentageOfNodesToScore: no effect, Podium scores every node; set sampling: upstream to sample"
        )
    return tuple(warnings)


def with_short_forms(
    config: SchedulerConfig,
    *,
    queue_order: str | None = None,
    tenant: str | None = None,
    registry: Registry | None = None,
) -> SchedulerConfig:
    """Apply ``--queue-order priority|drf`` (the queueSort plugin of every profile) and ``--tenant BY``.

    Raises:
        ConfigError: if a value is not known, or its plugin is not installed.

    """
    problems = Problems()
    if tenant is not None:
        podium.check_tenant_key("--tenant", tenant, problems)
        config = replace(
            config, podium=replace(config.podium, tenants=replace(config.podium.tenants, by=tenant))
        )
    if queue_order is not None:
        name = QUEUE_ORDERS.get(queue_order)
        if name is None:
            problems.unsupported("--queue-order", queue_order, QUEUE_ORDERS)
        elif (registry or Registry.build()).get(name) is None:
            problems.add("--queue-order", f"QueueSortPlugin {quote(name)} does not exist")
        else:
            config = replace(config, profiles=[_sorted_by(profile, name) for profile in config.profiles])
    problems.raise_if_any()
    return config


#: ``--queue-order`` -> the queueSort plugin.
QUEUE_ORDERS: Final = {"priority": "PrioritySort", "drf": "DRF"}


def _sorted_by(profile: Any, name: str) -> Any:
    return replace(profile, points={**profile.points, "queueSort": [(name, 0)]})
