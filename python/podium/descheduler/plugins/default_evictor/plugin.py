"""The two filters. Upstream collects all reasons; here the first one ends it, the answer is the same."""

from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Final

from podium.api import LabelSelector, Pod
from podium.api.matching import selects
from podium.descheduler.annotations import EVICT, MIRROR, PREFER_NO_EVICTION, SOURCE
from podium.descheduler.framework import EVICTOR_POINTS, Handle, PluginType
from podium.descheduler.nodefit import Mask
from podium.descheduler.plugins.default_evictor import args as arguments
from podium.descheduler.plugins.default_evictor.args import Args, validate
from podium.descheduler.policy.selector import is_everything, parse_selector, selector_problem
from podium.descheduler.shapes import Shape
from podium.descheduler.world import World, parse_time
from podium.errors import InputError

NAME: Final = "DefaultEvictor"

SYSTEM_CRITICAL_PRIORITY: Final = 2_000_000_000

_Check = Callable[[Pod], bool]


class _Verdict(Enum):
    """What the evictor says of all pods that are alike."""

    ALWAYS = auto()
    NEVER = auto()
    UNLESS_LEAVING = auto()
    """Or too young."""


class DefaultEvictor:
    """``filter`` asks what a pod is, ``pre_eviction_filter`` whether it could go elsewhere."""

    def __init__(self, args: Args, handle: Handle) -> None:
        """Prepare; raises InputError for selectors that cannot be used."""
        self._args = args
        self._handle = handle
        for what, selector in (
            ("", args.label_selector),
            ("unable to convert namespaceLabelSelector to label selector: ", args.namespace_label_selector),
        ):
            problem = selector_problem(selector) if selector is not None else None
            if problem:
                raise InputError(f"{what}{problem}")
        self._nodes: LabelSelector | None
        try:
            self._nodes = parse_selector(args.node_selector)
        except InputError:
            self._nodes = None  # no pod fits anywhere, as upstream has it
        self._checks = list(self._build())
        self._world: World | None = None
        self._verdicts: dict[Shape, _Verdict] = {}
        self._places: dict[Shape, bool | None] = {}
        self._asked: dict[str, bool] = {}
        self._mandatory = args.no_eviction_policy == arguments.MANDATORY

    def filter(self, pod: Pod) -> bool:
        """Tell whether a pod may be evicted."""
        world = self._begin()
        shape = world.shape(pod)
        verdict = self._verdicts.get(shape)
        if verdict is None:
            verdict = self._verdicts[shape] = self._judge(pod)
        if verdict is not _Verdict.UNLESS_LEAVING:
            return verdict is _Verdict.ALWAYS
        return not world.is_terminating(pod) and (self._args.min_pod_age is None or self._is_old_enough(pod))

    def _judge(self, pod: Pod) -> "_Verdict":
        """Say of a pod what holds for all that are alike."""
        annotations = pod.metadata.annotations
        if EVICT in annotations:
            return _Verdict.ALWAYS
        if self._mandatory and PREFER_NO_EVICTION in annotations:
            return _Verdict.NEVER
        if MIRROR in annotations or annotations.get(SOURCE, "api") != "api":
            return _Verdict.NEVER
        return _Verdict.UNLESS_LEAVING if all(check(pod) for check in self._checks) else _Verdict.NEVER

    def _begin(self) -> World:
        """Return the cluster of the cycle, in which what was said of it holds: several plugins ask."""
        world = self._handle.world
        if self._world is not world:
            self._world = world
            self._verdicts.clear()
            self._places.clear()
            self._asked.clear()
        return world

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Tell whether a pod fits another node (nodeFit), and whether its namespace is selected."""
        world = self._begin()
        places, shape = self._places, world.shape(pod)
        found = places[shape] if shape in places else places.setdefault(shape, self._may_all_go(pod))
        if found is not None:
            return found
        known, uid = self._asked, pod.metadata.uid
        if uid not in known:
            known[uid] = world.fit.fits_any_other(pod, self._ready())
        return known[uid]

    def _may_all_go(self, pod: Pod) -> bool | None:
        """Say whether all pods that are like a pod may go; None if it depends on where each is."""
        selector = self._args.namespace_label_selector
        if not is_everything(selector):
            labels = self._handle.world.namespaces.get(pod.metadata.namespace)
            if labels is None or not selects(selector, labels):
                return False
        if not self._args.node_fit:
            return True
        return self._handle.world.fit.fit_any_other(pod, self._ready())

    def _ready(self) -> Mask:
        """Return the ready nodes that the evictor's own selector selects, not only those of the policy's."""
        world = self._handle.world
        if self._nodes is None:
            return world.fit.rows(())
        return world.ready_mask(self._args.node_selector, self._nodes)

    def _build(self) -> Iterator[_Check]:
        """Yield the checks; each tells that a pod is not protected by it."""
        args, protected = self._args, self._args.protections()
        if arguments.SYSTEM_CRITICAL in protected:
            yield self._has_low_priority
        yield _is_owned if arguments.FAILED_BARE in protected else _is_owned_or_failed
        if arguments.LOCAL_STORAGE in protected:
            yield _has_no_local_storage
        if arguments.DAEMON_SETS in protected:
            yield _is_not_daemon
        if arguments.WITH_PVC in protected:
            yield self._has_no_protected_class if args.storage_classes() else _has_no_claim
        if arguments.WITHOUT_PDB in protected:
            yield lambda pod: bool(self._handle.world.budgets(pod))
        if arguments.RESOURCE_CLAIMS in protected:
            yield lambda pod: not pod.spec.resource_claims
        if not is_everything(args.label_selector):
            yield lambda pod: selects(args.label_selector, pod.metadata.labels)
        if args.min_replicas > 1:
            yield self._has_replicas

    def _has_low_priority(self, pod: Pod) -> bool:
        threshold = self._args.priority_threshold
        limit = SYSTEM_CRITICAL_PRIORITY
        if threshold is not None and threshold.value is not None:
            limit = min(limit, threshold.value)
        return pod.spec.priority is None or pod.spec.priority < limit

    def _has_no_protected_class(self, pod: Pod) -> bool:
        """Look at the classes of all claims; one that is not there, or has no class, protects too."""
        protected = self._args.storage_classes()
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None:
                continue
            key = (pod.metadata.namespace, volume.persistent_volume_claim.claim_name)
            claim = self._handle.world.claims.get(key)
            if claim is None or not claim.spec.storage_class_name:
                return False
            if claim.spec.storage_class_name in protected:
                return False
        return True

    def _has_replicas(self, pod: Pod) -> bool:
        """Only pods with exactly one owner are counted; terminating and failed siblings count."""
        owners = pod.metadata.owner_references
        return len(owners) != 1 or self._handle.world.owned(owners[0].uid) >= self._args.min_replicas

    def _is_old_enough(self, pod: Pod) -> bool:
        least, started = self._args.min_pod_age, pod.status.start_time
        if least is None:
            return True
        return bool(started) and self._handle.world.now - parse_time(str(started)) >= least.nanoseconds


def _is_owned(pod: Pod) -> bool:
    return bool(pod.metadata.owner_references)


def _is_owned_or_failed(pod: Pod) -> bool:
    return bool(pod.metadata.owner_references) or pod.status.phase == "Failed"


def _has_no_local_storage(pod: Pod) -> bool:
    volumes = pod.spec.volumes
    return not volumes or all(item.host_path is None and item.empty_dir is None for item in volumes)


def _is_not_daemon(pod: Pod) -> bool:
    for owner in pod.metadata.owner_references:  # noqa: SIM110 (asked of every pod: twice as fast as all())
        if owner.kind == "DaemonSet":
            return False
    return True


def _has_no_claim(pod: Pod) -> bool:
    return all(volume.persistent_volume_claim is None for volume in pod.spec.volumes)


PLUGIN: Final = PluginType(NAME, EVICTOR_POINTS, Args, DefaultEvictor, validate)
