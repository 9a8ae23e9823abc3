"""The arguments that most plugins share, and the filter that they make."""

from collections.abc import Callable, Sequence

from podium.api import LabelSelector, Pod
from podium.api.matching import selects
from podium.descheduler.policy.golang import Int32, Uint
from podium.descheduler.policy.model import Wire
from podium.descheduler.policy.selector import selector_problem

PodFilter = Callable[[Pod], bool]


class Namespaces(Wire):
    """Namespaces a plugin is limited to, or leaves out."""

    GO_NAME = "api.Namespaces"
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()


class EvictionLimits(Wire):
    """Limits of one plugin, beside those of the policy."""

    GO_NAME = "api.EvictionLimits"
    node: Uint | None = None


class PriorityThreshold(Wire):
    """Pods of this priority and above are not evicted; a number or the name of a class."""

    GO_NAME = "api.PriorityThreshold"
    value: Int32 | None = None
    name: str = ""


def namespace_problems(namespaces: Namespaces | None) -> list[str]:
    """Check that namespaces are included or excluded, not both."""
    if namespaces and namespaces.include and namespaces.exclude:
        return ["only one of Include/Exclude namespaces can be set"]
    return []


def label_problems(selector: LabelSelector | None) -> list[str]:
    """Check a label selector."""
    problem = selector_problem(selector) if selector is not None else None
    return [f"failed to get label selectors from strategy's params: {problem}"] if problem else []


def pod_filter(
    *checks: PodFilter, namespaces: Namespaces | None = None, labels: LabelSelector | None = None
) -> PodFilter:
    """Return a filter: namespaces, then labels, then the checks in order.

    An absent selector and an empty list of namespaces restrict nothing.
    """
    include = frozenset(namespaces.include) if namespaces else frozenset()
    exclude = frozenset(namespaces.exclude) if namespaces else frozenset()

    restricted = bool(include or exclude or labels is not None)

    def passes(pod: Pod) -> bool:
        if restricted:
            namespace = pod.metadata.namespace
            if (include and namespace not in include) or namespace in exclude:
                return False
            if labels is not None and not selects(labels, pod.metadata.labels):
                return False
        for check in checks:  # noqa: SIM110 (asked of every pod: twice as fast as all())
            if not check(pod):
                return False
        return True

    return passes
