"""What to make of a pending pod before it enters the queue: whose it is, and what holds it."""

from typing import Final

from podium.api import Pod
from podium.framework.config import SchedulerConfig
from podium.framework.status import SUCCESS
from podium.scheduler.entry import Concern
from podium.scheduler.profiles import Profiles
from podium.scheduler.state import State

#: What to make of most pods.
_CONCERN: Final = Concern()
_FOREIGN: Final = Concern(foreign=True)


class Gates:
    """Answers for the native PreEnqueue plugin, and asks those of Python."""

    def __init__(self, config: SchedulerConfig) -> None:
        self._responsible = frozenset(profile.scheduler_name for profile in config.profiles)
        self._profiles: Profiles | None = None
        self._state: State | None = None

    def attend(self, profiles: Profiles, state: State) -> None:
        """Ask the plugins of these profiles from now on; they exist only once the state does."""
        self._profiles, self._state = profiles, state

    def concern(self, pod: Pod) -> Concern:
        """Return what to make of a pod."""
        if pod.spec.scheduler_name not in self._responsible:
            return _FOREIGN
        if pod.spec.scheduling_gates:
            gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
            return Concern(held=f"waiting for scheduling gates: [{gates}]")
        profiles, state = self._profiles, self._state
        assert profiles is not None, "pods come when all parts are there"
        assert state is not None, "pods come when all parts are there"
        plugins = profiles.of(pod)
        if plugins is None or not plugins.gates:
            return _CONCERN
        concerned = profiles.class_of(plugins, pod).concerned
        status = plugins.runner.pre_enqueue(pod, concerned, state.gated_by(pod.metadata.uid))
        if status is SUCCESS or status.is_success:
            return _CONCERN
        return Concern(held=status.message, by=status.plugin)
