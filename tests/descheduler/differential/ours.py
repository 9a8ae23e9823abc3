"""What Podium answers to a scenario, in the oracle's form."""

import json
from typing import Any

from podium.api import NodeMetrics, PodMetrics
from podium.api.features import FeatureGates
from podium.api.manifest import Options, load_objects
from podium.descheduler.evictor import Evicted
from podium.descheduler.loop import Cycle, Descheduler
from podium.descheduler.policy.load import aggregate, load_policy
from podium.descheduler.profile import Failure, Sources
from podium.descheduler.table import IN_TREE
from podium.descheduler.world import World
from podium.errors import InputError
from podium.simulator.measured import MeasuredLoad

from tests.descheduler.differential.scenario import Scenario

#: Upstream compares numbers in tolerations always; here the scheduler's gate decides.
LOADING = Options(validate="off", gates=FeatureGates({"TaintTolerationComparisonOperators": True}))

Entry = tuple[str, str, str, str]
"""Pod, node, plugin, profile."""

BALANCE = {name for name, plugin in IN_TREE.items() if "balance" in {point.value for point in plugin.points}}


class _Api:
    def evict(self, eviction: Any) -> None:
        """Refuse nothing, as the oracle's API does."""


class _Prometheus:
    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def query(self, query: str) -> dict[str, Any]:
        return self._data


def ours(scenario: Scenario) -> tuple[list[Entry], list[str]] | str:
    """Return evictions and errors of one cycle, or the refusal."""
    manifest = load_objects(scenario.objects, "scenario", LOADING)
    assert not manifest.rejected, manifest.rejected
    classes = {"low": 10, "high": 1000}
    try:
        loaded = load_policy(json.dumps(scenario.policy), "policy.yaml", IN_TREE, classes)
        policy = loaded.policy
        measured = MeasuredLoad(manifest.of(NodeMetrics), manifest.of(PodMetrics))
        sources = Sources(
            measured if policy.collects_metrics() else None,
            _Prometheus(scenario.prometheus) if policy.provider("Prometheus") else None,
        )
        descheduler = Descheduler(loaded, IN_TREE, _Api(), sources)
    except InputError as error:
        return str(error)
    cycle = descheduler.cycle(World((entry.item for entry in manifest), scenario.now))
    return [_entry(item) for item in cycle.evicted], _errors(cycle, [p.name for p in loaded.profiles])


def _entry(item: Evicted) -> Entry:
    meta = item.pod.metadata
    return f"{meta.namespace}/{meta.name}", item.pod.spec.node_name, item.plugin, item.profile


def _errors(cycle: Cycle, profiles: list[str]) -> list[str]:
    """Write failures as upstream logs them: once per profile and extension point."""
    lines = []
    for balance in (False, True):
        for profile in profiles:
            found = [f for f in cycle.failures if f.profile == profile and (f.plugin in BALANCE) is balance]
            if found:
                lines.append(aggregate(map(_failure, found)))
    return sorted(lines)


def _failure(failure: Failure) -> str:
    return f'plugin "{failure.plugin}" finished with error: {failure.message}'
