"""RemovePodsHavingTooManyRestarts: pods whose containers started again and again."""

from collections.abc import Sequence
from typing import Final

from podium.api import ContainerStatus, LabelSelector, Node, Pod
from podium.descheduler.framework import Handle, PluginType, Point, evict_all
from podium.descheduler.podfilter import Namespaces, label_problems, namespace_problems, pod_filter
from podium.descheduler.policy.golang import Int32
from podium.descheduler.policy.model import Wire

NAME: Final = "RemovePodsHavingTooManyRestarts"

#: Where ``states`` may look: the phase Running, and why a container waits.
STATES: Final = ("CrashLoopBackOff", "Running")


class Args(Wire):
    """``pod_restart_threshold`` is reached by the sum over containers."""

    GO_NAME = "RemovePodsHavingTooManyRestartsArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    label_selector: LabelSelector | None = None
    pod_restart_threshold: Int32 = 0
    including_init_containers: bool = False
    states: Sequence[str] = ()


class TooManyRestarts:
    """Evicts on each node the pods with the most restarts first."""

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._args = args
        self._states = frozenset(args.states)
        self._pods = pod_filter(
            handle.evictor.filter,
            handle.evictor.pre_eviction_filter,
            namespaces=args.namespaces,
            labels=args.label_selector,
        )

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Evict node by node; pods of every phase count."""
        restarts, least, in_state, passes = (
            self._restarts,
            self._args.pod_restart_threshold,
            self._in_state,
            self._pods,
        )
        for node in nodes:
            listed = self._handle.world.all_on(node.metadata.name)
            found = [pod for pod in listed if restarts(pod) >= least and in_state(pod) and passes(pod)]
            found.sort(key=self._restarts, reverse=True)
            if not evict_all(self._handle.evictor, found, NAME):
                return

    def _statuses(self, pod: Pod) -> Sequence[ContainerStatus]:
        initial = pod.status.init_container_statuses if self._args.including_init_containers else ()
        return [*pod.status.container_statuses, *initial]

    def _restarts(self, pod: Pod) -> int:
        total = 0
        for status in pod.status.container_statuses:
            total += status.restart_count
        if self._args.including_init_containers:
            for status in pod.status.init_container_statuses:
                total += status.restart_count
        return total

    def _in_state(self, pod: Pod) -> bool:
        if not self._states or pod.status.phase in self._states:
            return True
        waiting = (status.state.waiting for status in self._statuses(pod) if status.state)
        return any(state.reason in self._states for state in waiting if state)


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    problems = namespace_problems(args.namespaces) + label_problems(args.label_selector)
    if args.pod_restart_threshold < 1:
        problems.append("invalid PodsHavingTooManyRestarts threshold")
    if not set(args.states) <= set(STATES):
        problems.append(f"states must be one of [{' '.join(STATES)}]")
    return problems


PLUGIN: Final = PluginType(NAME, frozenset({Point.DESCHEDULE}), Args, TooManyRestarts, validate)
