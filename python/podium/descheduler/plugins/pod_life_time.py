"""PodLifeTime: pods that are too old, or in a state, condition or exit code for too long."""

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Final

from podium.api import Condition, ContainerStatus, LabelSelector, Node, Pod
from podium.descheduler.framework import Handle, Outcome, PluginType, Point
from podium.descheduler.podfilter import Namespaces, label_problems, namespace_problems, pod_filter
from podium.descheduler.policy.golang import Int32, Uint
from podium.descheduler.policy.model import Wire
from podium.descheduler.world import parse_time, whole_seconds

NAME: Final = "PodLifeTime"

#: Phases, reasons of the pod, and reasons why a container waits or ended.
STATES: Final = (
    *("Completed", "ContainerCannotRun", "ContainerCreating", "CrashLoopBackOff"),
    *("CreateContainerConfigError", "CreateContainerError", "DeadlineExceeded", "ErrImagePull", "Error"),
    *("Evicted", "Failed", "ImagePullBackOff", "InvalidImageName", "NodeAffinity", "NodeLost", "OOMKilled"),
    *("Pending", "PodInitializing", "Running", "Shutdown", "StartError", "Succeeded"),
    *("UnexpectedAdmissionError", "Unknown"),
)


class OwnerKinds(Wire):
    """Kinds of owners a pod must have one of, or none of."""

    GO_NAME = "podlifetime.OwnerKinds"
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()


class ConditionFilter(Wire):
    """A condition; what is empty is not looked at."""

    GO_NAME = "podlifetime.PodConditionFilter"
    type: str = ""
    status: str = ""
    reason: str = ""
    min_time_since_last_transition_seconds: Uint | None = None


class Args(Wire):
    """All that is set must hold, each by any of its items."""

    GO_NAME = "PodLifeTimeArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    label_selector: LabelSelector | None = None
    owner_kinds: OwnerKinds | None = None
    max_pod_life_time_seconds: Uint | None = None
    states: Sequence[str] = ()
    conditions: Sequence[ConditionFilter] = ()
    exit_codes: Sequence[Int32] = ()
    including_init_containers: bool = False
    including_ephemeral_containers: bool = False


class PodLifeTime:
    """Evicts the oldest first, over all nodes."""

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._args = args
        self._states = frozenset(args.states)
        self._codes = frozenset(args.exit_codes)
        self._pods = pod_filter(
            *self._checks(),
            handle.evictor.filter,
            handle.evictor.pre_eviction_filter,
            namespaces=args.namespaces,
            labels=args.label_selector,
        )

    def _checks(self) -> Iterable[Callable[[Pod], bool]]:
        args = self._args
        if args.states:
            yield self._in_state
        if args.owner_kinds is not None:
            yield self._is_owned
        if args.conditions:
            yield self._has_condition
        if args.exit_codes:
            yield self._exited

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evict; pods of every phase count."""
        world = self._handle.world
        found = [pod for node in nodes for pod in self._old_on(node) if self._pods(pod)]
        for pod in sorted(found, key=world.created):
            if self._handle.evictor.evict(pod, NAME) is Outcome.TOTAL_LIMIT:
                return

    def _old_on(self, node: Node) -> Iterable[Pod]:
        """Return the pods of a node that are old enough: the first ones, if age is asked for."""
        listed = self._handle.world.all_on(node.metadata.name)
        return listed if self._args.max_pod_life_time_seconds is None else takewhile(self._is_old, listed)

    def _is_old(self, pod: Pod) -> bool:
        world, most = self._handle.world, self._args.max_pod_life_time_seconds
        return most is not None and whole_seconds(world.now - world.created(pod)) > most

    def _in_state(self, pod: Pod) -> bool:
        if pod.status.phase in self._states or pod.status.reason in self._states:
            return True
        statuses = list(pod.status.container_statuses)
        if self._args.including_init_containers:
            statuses += pod.status.init_container_statuses
        if self._args.including_ephemeral_containers:
            statuses += pod.status.ephemeral_container_statuses
        states = (status.state for status in statuses if status.state)
        return any(
            part.reason in self._states
            for state in states
            for part in (state.waiting, state.terminated)
            if part
        )

    def _is_owned(self, pod: Pod) -> bool:
        kinds = self._args.owner_kinds or OwnerKinds()
        owners = {owner.kind for owner in pod.metadata.owner_references}
        if kinds.include:
            return not owners.isdisjoint(kinds.include)
        return owners.isdisjoint(kinds.exclude)

    def _has_condition(self, pod: Pod) -> bool:
        return any(
            self._meets(condition, wanted)
            for wanted in self._args.conditions
            for condition in pod.status.conditions
        )

    def _meets(self, condition: Condition, wanted: ConditionFilter) -> bool:
        for name in ("type", "status", "reason"):
            asked = getattr(wanted, name)
            if asked and asked != getattr(condition, name):
                return False
        least = wanted.min_time_since_last_transition_seconds
        if least is None:
            return True
        if not condition.last_transition_time:
            return False
        idle = self._handle.world.now - parse_time(condition.last_transition_time)
        return idle >= 0 and whole_seconds(idle) >= least

    def _exited(self, pod: Pod) -> bool:
        statuses: list[ContainerStatus] = list(pod.status.container_statuses)
        if self._args.including_init_containers:
            statuses += pod.status.init_container_statuses
        states = (status.state for status in statuses if status.state)
        return any(state.terminated and state.terminated.exit_code in self._codes for state in states)


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    problems = namespace_problems(args.namespaces)
    if args.owner_kinds and args.owner_kinds.include and args.owner_kinds.exclude:
        problems.append("only one of Include/Exclude ownerKinds can be set")
    problems += label_problems(args.label_selector)
    if not set(args.states) <= set(STATES):
        problems.append(f"states must be one of [{' '.join(STATES)}]")
    for at, item in enumerate(args.conditions):
        if item == ConditionFilter():
            fields = "type, status, reason, or minTimeSinceLastTransitionSeconds"
            problems.append(f"conditions[{at}]: at least one of {fields} must be set")
    if args.max_pod_life_time_seconds is None and not (args.states or args.conditions or args.exit_codes):
        criteria = "maxPodLifeTimeSeconds, states, conditions, or exitCodes"
        problems.append(f"at least one filtering criterion must be specified ({criteria})")
    return problems


PLUGIN: Final = PluginType(NAME, frozenset({Point.DESCHEDULE}), Args, PodLifeTime, validate)
