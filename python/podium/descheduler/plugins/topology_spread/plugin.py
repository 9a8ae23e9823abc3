"""The plugin: which pods and constraints are looked at, and the evictions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final

from podium.api import LabelSelector, Node, Pod
from podium.descheduler.framework import Handle, Outcome, PluginType, Point
from podium.descheduler.labels import Labelled
from podium.descheduler.plugins.topology_spread.balance import Domain, is_balanced, moves
from podium.descheduler.plugins.topology_spread.constraint import Constraint, Places, read
from podium.descheduler.podfilter import Namespaces, label_problems, namespace_problems, pod_filter
from podium.descheduler.policy.golang import GoName
from podium.descheduler.policy.model import Wire
from podium.descheduler.shapes import Shape

NAME: Final = "RemovePodsViolatingTopologySpreadConstraint"

Action = Annotated[str, GoName("v1.UnsatisfiableConstraintAction")]

#: In the order in which Go prints the set.
ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")


class Args(Wire):
    """``constraints`` are values of whenUnsatisfiable; empty means DoNotSchedule."""

    GO_NAME = "RemovePodsViolatingTopologySpreadConstraintArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    label_selector: LabelSelector | None = None
    constraints: Sequence[Action] = ()
    topology_balance_node_fit: bool = True


class TopologySpread:
    """Takes the constraints of the pods in each namespace one by one; what leaves is their union.

    Only evictable pods are counted. Pods without a constraint of their own count, and may go, where another's
    selector matches them.
    """

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._actions = frozenset(args.constraints or ("DoNotSchedule",))
        self._must_fit = args.topology_balance_node_fit
        self._pods = pod_filter(handle.evictor.filter, namespaces=args.namespaces, labels=args.label_selector)

    def balance(self, nodes: Sequence[Node]) -> None:
        """Find out what leaves, then evict it."""
        world = self._handle.world
        places = Places(nodes)
        passes = _once(self._pods)
        asking = self._asking(nodes, passes)
        leaving: dict[str, Pod] = {}
        for namespace in asking.namespaces():
            for constraint in self._constraints(asking.shapes(namespace)):
                counted = filter(passes, world.labelled.selected(namespace, constraint.selector))
                for pod in self._surplus(constraint, counted, places):
                    leaving[pod.metadata.uid] = pod
        self._evict(leaving.values())

    def _asking(self, nodes: Sequence[Node], passes: Callable[[Pod], bool]) -> Labelled:
        """Return the pods that have constraints of their own."""
        world = self._handle.world
        having = {shape for shape in world.shapes(nodes) if shape.spec.topology_spread_constraints}
        groups = (list(filter(passes, world.active_of(node.metadata.name, having))) for node in nodes)
        return Labelled((pods, list(map(world.shape, pods))) for pods in groups)

    def _constraints(self, shapes: Sequence[Shape]) -> Iterator[Constraint]:
        seen: set[bytes] = set()
        for shape in shapes:
            for item in shape.spec.topology_spread_constraints:
                if item.when_unsatisfiable in self._actions:
                    constraint = read(item, shape.example)
                    if constraint.key not in seen:
                        seen.add(constraint.key)
                        yield constraint

    def _surplus(self, constraint: Constraint, pods: Iterable[Pod], places: Places) -> list[Pod]:
        """Return which of the pods that a constraint counts leave."""
        world, key = self._handle.world, constraint.topology_key
        filled: dict[str, list[Pod]] = defaultdict(list)
        for pod in pods:
            value = places.labels.get(pod.spec.node_name, {}).get(key)
            if value is not None and not world.is_terminating(pod):
                filled[value].append(pod)
        eligible = places.domains(constraint)
        if is_balanced(filled, constraint.max_skew, has_empty=not eligible.keys() <= filled.keys()):
            return []
        domains: Mapping[str, Sequence[Pod]] = {**dict.fromkeys(eligible, ()), **filled}
        average = sum(map(len, domains.values())) / len(domains)
        ordered = sorted((Domain(value, members) for value, members in sorted(domains.items())), key=len)
        small = {domain.value for domain in ordered if len(domain) < average}
        below = places.within(constraint, small, world.fit)
        known: dict[str, bool] = {}

        def fits(pod: Pod) -> bool:
            uid = pod.metadata.uid
            if uid not in known:
                known[uid] = world.fit.fits_any_other(pod, below)
            return known[uid]

        leaving = moves(ordered, average, constraint.max_skew, fits)
        return [pod for pod in leaving if fits(pod)] if self._must_fit else leaving

    def _evict(self, pods: Iterable[Pod]) -> None:
        evictor = self._handle.evictor
        full: set[str] = set()
        for pod in pods:
            if pod.spec.node_name in full or not evictor.pre_eviction_filter(pod):
                continue
            outcome = evictor.evict(pod, NAME)
            if outcome is Outcome.TOTAL_LIMIT:
                return
            if outcome is Outcome.NODE_LIMIT:
                full.add(pod.spec.node_name)


def _once(question: Callable[[Pod], bool]) -> Callable[[Pod], bool]:
    """Return what asks a question once of each pod; pods must stay for as long as it is used."""
    known: dict[int, bool] = {}

    def ask(pod: Pod) -> bool:
        answer = known.get(id(pod))
        if answer is None:
            answer = known[id(pod)] = question(pod)
        return answer

    return ask


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    problems = namespace_problems(args.namespaces) + label_problems(args.label_selector)
    supported = "map[" + " ".join(f"{action}:{{}}" for action in ACTIONS) + "]"
    problems += [
        f"constraint {action} is not one of {supported}"
        for action in args.constraints
        if action not in ACTIONS
    ]
    return problems


PLUGIN: Final = PluginType(NAME, frozenset({Point.BALANCE}), Args, TopologySpread, validate)
