"""The evictor as the plugins of one profile see it."""

from collections.abc import Callable, Sequence

from podium.api import Pod
from podium.descheduler.evictor import Evicted, PodEvictor
from podium.descheduler.framework import Outcome
from podium.descheduler.limits import PLUGIN_LIMIT
from podium.descheduler.world import World

Check = Callable[[Pod], bool]


def _passes(checks: Sequence[Check], pod: Pod) -> bool:
    for check in checks:  # noqa: SIM110 (asked of every pod several times a cycle: twice as fast as all())
        if not check(pod):
            return False
    return True


class ProfileEvictor:
    """What ``framework.Evictor`` promises.

    ``filters`` and ``pre_eviction_filters`` are filled once the profile's plugins are built: they need the
    evictor, and it needs them.
    """

    def __init__(self, shared: PodEvictor, profile: str, world: Callable[[], World]) -> None:
        self._shared = shared
        self._profile = profile
        self._world = world
        self.filters: Sequence[Check] = ()
        self.pre_eviction_filters: Sequence[Check] = ()

    def filter(self, pod: Pod) -> bool:
        """Ask all ``filter`` plugins."""
        return _passes(self.filters, pod)

    def pre_eviction_filter(self, pod: Pod) -> bool:
        """Ask all ``preevictionfilter`` plugins."""
        return _passes(self.pre_eviction_filters, pod)

    @property
    def plans(self) -> bool:
        """Whether evictions are planned first, so that their order may be chosen."""
        return self._shared.guard is not None

    def promise(self, pod: Pod) -> float:
        """Estimate what moving a pod would gain; 0 where nothing is planned."""
        return self._shared.guard.promise(pod) if self._shared.guard is not None else 0.0

    def bound(self, node: str) -> float:
        """Return what no promise of a pod of a node exceeds; 0 where nothing is planned."""
        return self._shared.guard.bound(node) if self._shared.guard is not None else 0.0

    def gain(self, pod: Pod, plugin: str) -> float | None:
        """Ask the scheduler what moving a pod would gain; None if the plan would not take it."""
        guard = self._shared.guard
        return guard.gain(Evicted(pod, plugin, self._profile)) if guard is not None else None

    def evict(self, pod: Pod, plugin: str, reason: str = "") -> Outcome:
        """Evict a pod, within the limits."""
        return self._shared.evict(self._world(), Evicted(pod, plugin, self._profile), reason)

    def limit(self, pod: Pod, plugin: str) -> None:
        """Note a pod that the plugin's own limit per node keeps."""
        self._shared.limit(Evicted(pod, plugin, self._profile), Outcome.NODE_LIMIT, PLUGIN_LIMIT)
