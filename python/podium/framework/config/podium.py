"""Podium's own settings: the second document, ``podium.dev/v1alpha1 PodiumConfiguration``."""

import math
from typing import Final

import msgspec

from podium.framework.config.decode import Int64
from podium.framework.config.names import label_key_errors
from podium.framework.config.problems import Problems, child, quote
from podium.framework.duration import Duration

API_VERSION: Final = "podium.dev/v1alpha1"
KIND: Final = "PodiumConfiguration"
ROOT_TENANT: Final = "root"

_CHOOSE: Final = ("seeded", "upstream")
_SAMPLING: Final = ("all", "upstream")
_ORDER: Final = ("share", "band")
_BACKFILL: Final = ("none", "runtime", "preemptible")
_RESPECT_PDB: Final = ("rank", "always")
_ZERO: Final = Duration(0)


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class ReclaimSettings(_Wire, frozen=True):
    """Whether a tenant under its share may take back what others use above theirs."""

    enabled: bool = False
    min_run_time: Duration = Duration.parse("60s")


class TenantSettings(_Wire, frozen=True):
    """Fair shares: whose pod it is, and how tenants are ordered.

    ``by``: ``namespace``, ``label:KEY``, ``annotation:KEY`` or ``queue``. ``parents`` maps a tenant to its
    parent (``root`` is the root); ``weights`` are shares relative to the siblings; ``resource_weights`` scale
    a resource's part in the dominant share.
    """

    by: str = "namespace"
    order: str = "share"
    weights: dict[str, float] = {}
    parents: dict[str, str] = {}
    resource_weights: dict[str, float] = {}
    reclaim: ReclaimSettings = ReclaimSettings()


class GangSettings(_Wire, frozen=True):
    """Gangs: the label that names one, the annotation with its minimum, and how long members wait."""

    label: str = "gang.example.com/name"
    min_available: str = "gang.example.com/min-available"
    permit_timeout: Duration = Duration.parse("60s")
    bind_grace: Duration = Duration.parse("60s")
    backfill: str = "none"
    respect_pdb: str = msgspec.field(default="rank", name="respectPDB")


class PodiumSettings(_Wire, frozen=True):
    """Everything that kube-scheduler's configuration has no place for."""

    api_version: str = API_VERSION
    kind: str = KIND
    choose: str = "seeded"
    sampling: str = "all"
    seed: Int64 = 0
    strict: bool = False
    max_binds_in_flight: Int64 = 256
    plugin_budget: Duration = Duration.parse("50ms")
    tenants: TenantSettings = TenantSettings()
    gangs: GangSettings = GangSettings()


def validate(settings: PodiumSettings, problems: Problems) -> None:
    """Record what is wrong with the settings."""
    _one_of("choose", settings.choose, _CHOOSE, problems)
    _one_of("sampling", settings.sampling, _SAMPLING, problems)
    if settings.seed < 0:
        problems.invalid("seed", settings.seed, "must not be negative")
    if settings.max_binds_in_flight <= 0:
        problems.invalid("maxBindsInFlight", settings.max_binds_in_flight, "must be greater than 0")
    if settings.plugin_budget <= _ZERO:
        problems.invalid("pluginBudget", settings.plugin_budget, "must be greater than zero")
    _tenants(settings.tenants, problems)
    _gangs(settings.gangs, problems)


def _one_of(path: str, value: str, supported: tuple[str, ...], problems: Problems) -> None:
    if value not in supported:
        problems.unsupported(path, value, supported)


def check_tenant_key(path: str, by: str, problems: Problems) -> None:
    """Record a ``by`` that is not ``namespace``, ``queue``, or a label or annotation with a valid key."""
    kind, colon, key = by.partition(":")
    if colon and kind in {"label", "annotation"}:
        for error in label_key_errors(key):
            problems.invalid(path, by, error)
    elif by not in {"namespace", "queue"}:
        problems.unsupported(path, by, ("namespace", "label:KEY", "annotation:KEY", "queue"))


def _tenants(tenants: TenantSettings, problems: Problems) -> None:
    check_tenant_key("tenants.by", tenants.by, problems)
    _one_of("tenants.order", tenants.order, _ORDER, problems)
    for name, weight in tenants.weights.items():
        if not (math.isfinite(weight) and weight > 0):
            problems.invalid(f"tenants.weights.{name}", weight, "must be greater than 0")
    for name, weight in tenants.resource_weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            problems.invalid(f"tenants.resourceWeights.{name}", weight, "must not be negative")
    _tree(tenants.parents, problems)
    if tenants.reclaim.min_run_time < _ZERO:
        problems.invalid(
            "tenants.reclaim.minRunTime", tenants.reclaim.min_run_time, "must be zero or positive"
        )


def _tree(parents: dict[str, str], problems: Problems) -> None:
    """Record tenants whose chain of parents does not end; a sound chain leaves the map somewhere."""
    if ROOT_TENANT in parents:
        problems.forbidden(f"tenants.parents.{ROOT_TENANT}", "the root has no parent")
    for name, parent in parents.items():
        if not parent:
            problems.required(f"tenants.parents.{name}", f"use {ROOT_TENANT} for a tenant at the top")
    sound: set[str] = set()
    for name in parents:
        chain: dict[str, None] = {}
        at = name
        while at in parents and at not in sound and at not in chain:
            chain[at] = None
            at = parents[at]
        if at in chain:
            cycle = [*list(chain)[list(chain).index(at) :], at]
            problems.add(
                f"tenants.parents.{at}", f"the parents form a circle: {' -> '.join(map(quote, cycle))}"
            )
        sound.update(chain)


def _gangs(gangs: GangSettings, problems: Problems) -> None:
    for path, key in (("label", gangs.label), ("minAvailable", gangs.min_available)):
        for error in label_key_errors(key):
            problems.invalid(child("gangs", path), key, error)
    for path, length in (("permitTimeout", gangs.permit_timeout), ("bindGrace", gangs.bind_grace)):
        if length < _ZERO:
            problems.invalid(child("gangs", path), length, "must be zero or positive")
    _one_of("gangs.backfill", gangs.backfill, _BACKFILL, problems)
    _one_of("gangs.respectPDB", gangs.respect_pdb, _RESPECT_PDB, problems)
