"""kube-scheduler's metrics per plugin and extension point, taken from outside the plugins."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from podium.framework.runner import Observer, Runner
from podium.framework.status import Code

log = logging.getLogger("podium.framework")

#: Points of the scheduling cycle, where a slow plugin holds up every pod.
_SERIAL: Final = frozenset(
    {
        "PreEnqueue",
        "PreFilter",
        "PreFilterExtensionAddPod",
        "PreFilterExtensionRemovePod",
        "Filter",
        "PostFilter",
        "PreScore",
        "Score",
        "ScoreExtensionNormalize",
        "Reserve",
        "Unreserve",
        "Permit",
    }
)


def exponential(start: float, factor: float, count: int) -> list[float]:
    """Return the bounds of ``count`` buckets, each ``factor`` times the one before."""
    return [start * factor**power for power in range(count)]


class FrameworkMetrics:
    """How long plugins and extension points take, with kube-scheduler's names and buckets.

    Args:
        registry: where the metrics are kept.
        timer: a monotonic clock in seconds.
        budget: seconds that a call of the scheduling cycle may take; a slower one is counted and logged.

    """

    def __init__(self, registry: CollectorRegistry, timer: Callable[[], float], budget: float) -> None:
        self.timer = timer
        self._budget = budget
        self._warned: set[tuple[str, str]] = set()
        self._plugin = Histogram(
            "scheduler_plugin_execution_duration_seconds",
            "Duration for running a plugin at a specific extension point.",
            ["plugin", "extension_point", "status"],
            buckets=exponential(0.00001, 1.5, 20),
            registry=registry,
        )
        self._point = Histogram(
            "scheduler_framework_extension_point_duration_seconds",
            "Latency for running all plugins of a specific extension point.",
            ["extension_point", "status", "profile"],
            buckets=exponential(0.0001, 2, 12),
            registry=registry,
        )
        self._evaluations = Counter(
            "scheduler_plugin_evaluation",
            "Number of attempts to schedule pods by each plugin and the extension point.",
            ["plugin", "extension_point", "profile"],
            registry=registry,
        )
        self._permit = Histogram(
            "scheduler_permit_wait_duration_seconds",
            "Duration of waiting on permit.",
            ["result"],
            buckets=exponential(0.001, 2, 15),
            registry=registry,
        )
        self._slow = Counter(
            "podium_plugin_over_budget",
            "Calls of the scheduling cycle that took longer than pluginBudget.",
            ["plugin", "extension_point"],
            registry=registry,
        )

    def observer(self, profile: str) -> Observer:
        """Return what is told of every call in a profile."""
        times: dict[tuple[str, str, Code], Histogram] = {}
        counts: dict[tuple[str, str], Counter] = {}
        budget = self._budget

        def told(point: str, plugin: str, code: Code, seconds: float) -> None:
            # Looking up a child by its labels costs more than all else here.
            time = times.get((point, plugin, code))
            if time is None:
                time = times[point, plugin, code] = self._plugin.labels(plugin, point, str(code))
            time.observe(seconds)
            if point not in _SERIAL:
                return
            count = counts.get((point, plugin))
            if count is None:
                count = counts[point, plugin] = self._evaluations.labels(plugin, point, profile)
            count.inc()
            if seconds > budget:
                self._over_budget(plugin, point, seconds)

        return told

    def _over_budget(self, plugin: str, point: str, seconds: float) -> None:
        self._slow.labels(plugin, point).inc()
        if (plugin, point) not in self._warned:
            self._warned.add((plugin, point))
            text = "plugin %s took %.0f ms at %s, its budget is %.0f ms: every pod waits for it"
            log.warning(text, plugin, seconds * 1000, point, self._budget * 1000)

    def waited(self, result: str, seconds: float) -> None:
        """Note how long a pod waited in Permit, and the code that ended it."""
        self._permit.labels(result).observe(seconds)

    def watch(self, runner: Runner, profile: str) -> None:
        """Time the extension points of a runner from now on."""
        for method, label, code in _POINTS:
            setattr(runner, method, self._timed(getattr(runner, method), label, code, profile))

    def _timed(
        self, run: Callable[..., Any], label: str, code: Callable[[Any], Code], profile: str
    ) -> Callable[..., Any]:
        timer = self.timer
        times: dict[Code, Histogram] = {}

        @wraps(run)
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = timer()
            outcome = run(*args, **kwargs)
            taken = timer() - started
            ended = code(outcome)
            time = times.get(ended)
            if time is None:
                time = times[ended] = self._point.labels(label, str(ended), profile)
            time.observe(taken)
            return outcome

        return timed


def _of_status(status: Any) -> Code:
    return Code(status.code)


def _of_outcome(outcome: Any) -> Code:
    return Code(outcome.status.code)


#: Method of the runner, label of the metric, and how to read the code of its outcome.
_POINTS: Final[tuple[tuple[str, str, Callable[[Any], Code]], ...]] = (
    ("pre_enqueue", "PreEnqueue", _of_status),
    ("pre_filter", "PreFilter", _of_outcome),
    ("filter", "Filter", _of_outcome),
    ("post_filter", "PostFilter", _of_outcome),
    ("pre_score", "PreScore", _of_status),
    ("score", "Score", _of_outcome),
    ("reserve", "Reserve", _of_status),
    ("permit", "Permit", _of_outcome),
)
