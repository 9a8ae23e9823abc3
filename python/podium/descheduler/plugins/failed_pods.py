"""RemoveFailedPods: failed pods, by age, reason, exit code and owner."""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.api import ContainerStatus, LabelSelector, Node, Pod
from podium.descheduler.framework import Handle, PluginType, Point, evict_all
from podium.descheduler.podfilter import Namespaces, label_problems, namespace_problems, pod_filter
from podium.descheduler.policy.golang import Int32, Uint
from podium.descheduler.policy.model import Wire
from podium.descheduler.world import whole_seconds

NAME: Final = "RemoveFailedPods"


class Args(Wire):
    """All that is set must hold; empty lists ask for nothing."""

    GO_NAME = "RemoveFailedPodsArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    label_selector: LabelSelector | None = None
    exclude_owner_kinds: Sequence[str] = ()
    min_pod_lifetime_seconds: Uint = 3600
    reasons: Sequence[str] = ()
    exit_codes: Sequence[Int32] = ()
    including_init_containers: bool = False


class FailedPods:
    """Evicts node by node, in the order of the list."""

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._args = args
        self._reasons = frozenset(args.reasons)
        self._codes = frozenset(args.exit_codes)
        self._kinds = frozenset(args.exclude_owner_kinds)
        self._pods = pod_filter(
            handle.evictor.filter,
            handle.evictor.pre_eviction_filter,
            namespaces=args.namespaces,
            labels=args.label_selector,
        )

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evict node by node."""
        for node in nodes:
            listed = self._handle.world.ended_on(node.metadata.name)
            found = [pod for pod in listed if pod.status.phase == "Failed" and self._pods(pod)]
            if not evict_all(self._handle.evictor, filter(self._matches, found), NAME):
                return

    def _matches(self, pod: Pod) -> bool:
        world = self._handle.world
        age = whole_seconds(world.now - world.created(pod))
        # Go makes a huge unsigned number of the negative age of a pod from the future.
        if 0 <= age < self._args.min_pod_lifetime_seconds:
            return False
        if any(owner.kind in self._kinds for owner in pod.metadata.owner_references):
            return False
        statuses = list(pod.status.container_statuses)
        if self._args.including_init_containers:
            statuses += pod.status.init_container_statuses
        reasons = filter(None, [pod.status.reason, *_reasons(statuses)])
        if self._reasons and self._reasons.isdisjoint(reasons):
            return False
        return not self._codes or not self._codes.isdisjoint(_exit_codes(statuses))


def _reasons(statuses: Iterable[ContainerStatus]) -> Iterable[str]:
    for state in (status.state for status in statuses if status.state):
        yield from (part.reason for part in (state.waiting, state.terminated) if part)


def _exit_codes(statuses: Iterable[ContainerStatus]) -> Iterable[int]:
    states = (status.state for status in statuses if status.state)
    return (state.terminated.exit_code for state in states if state.terminated)


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    return namespace_problems(args.namespaces) + label_problems(args.label_selector)


PLUGIN: Final = PluginType(NAME, frozenset({Point.DESCHEDULE}), Args, FailedPods, validate)
