"""A dry run: Podium decides and never writes; what the cluster's own scheduler does is compared with it.

Every decision keeps its place in the scheduler's books until the pod is really bound. Then it either agrees,
or the pod went to a node that scored the same at that moment (``equal score``), or to another one. Pods that
were bound before Podium had decided are not compared.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from podium.api import Pod
from podium.cluster.kube.backend import KubeCluster
from podium.cluster.port import (
    Action,
    Applied,
    Bind,
    BindVolumes,
    Bound,
    Call,
    Emit,
    Event,
    PatchStatus,
    Removed,
    Returned,
)
from podium.scheduler.loop import Scheduler

log = logging.getLogger("podium.shadow")

Result = Literal["agree", "equal score", "other"]

#: Disagreements kept for the table at the end.
_KEPT: Final = 1000


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pod that was bound elsewhere."""

    pod: str
    decided: str
    bound: str
    result: Result


class Shadow:
    """Stands between the driver and the cluster: events pass, actions do not.

    Args:
        cluster: only read.
        scheduler: asked for scores, between two steps.
        heard: called with every comparison.

    """

    def __init__(
        self,
        cluster: KubeCluster,
        scheduler: Scheduler,
        heard: Callable[[Result], None] = lambda _result: None,
    ) -> None:
        self._cluster = cluster
        self._scheduler = scheduler
        self._heard = heard
        self._decided: dict[str, str] = {}
        self._answers: list[Event] = []
        self.results: dict[Result, int] = {"agree": 0, "equal score": 0, "other": 0}
        self.undecided = 0
        """Pods that were bound before Podium had decided."""
        self.disagreements: list[Disagreement] = []

    @property
    def binding(self) -> int:
        """Return 0: nothing is sent."""
        return 0

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return self._cluster.idle and not self._answers

    def now(self) -> int:
        """Return the time in nanoseconds."""
        return self._cluster.now()

    def events(self) -> Sequence[Event]:
        """Return what happened; pods that were bound elsewhere leave their place first."""
        happened = [*self._cluster.events(), *self._answers]
        self._answers = []
        for event in happened:
            if isinstance(event, Applied) and isinstance(event.object, Pod) and event.object.spec.node_name:
                self._compare(event.object)
            elif isinstance(event, Removed):
                self._decided.pop(event.object.metadata.uid, None)
        return happened

    def perform(self, actions: Sequence[Action]) -> None:
        """Take decisions down; nothing is sent."""
        for action in actions:
            if isinstance(action, Bind):
                self._decided.update(zip(action.uids, action.nodes, strict=True))
                self._answers.append(Bound(list(action.uids)))
            elif isinstance(action, BindVolumes):
                self._answers.append(_skipped(action.uid, action.epoch, "VolumeBinding"))
            elif isinstance(action, Call | Emit | PatchStatus):
                log.debug("not sent: %s", type(action).__name__)

    def _compare(self, pod: Pod) -> None:
        uid, bound = pod.metadata.uid, pod.spec.node_name
        decided = self._decided.pop(uid, None)
        if decided is None:
            entry = self._scheduler.state.entry(uid)
            self.undecided += entry is not None and entry.node is None
            return
        result: Result = "agree" if decided == bound else self._rank(uid, decided, bound)
        self.results[result] += 1
        self._heard(result)
        if result != "agree" and len(self.disagreements) < _KEPT:
            name = f"{pod.metadata.namespace}/{pod.metadata.name}"
            self.disagreements.append(Disagreement(name, decided, bound, result))

    def _rank(self, uid: str, decided: str, bound: str) -> Result:
        """Judge both nodes without the pod on either."""
        entry = self._scheduler.state.entry(uid)
        if entry is None:
            return "other"
        engine = self._scheduler.engine
        engine.forget(entry.handle)
        answer = engine.explain(entry.handle)
        totals = dict(zip(answer["feasible"], answer["totals"], strict=False))
        row = engine.row(decided)
        if row is not None:
            engine.assume(entry.handle, row)
        return "equal score" if decided in totals and totals.get(decided) == totals.get(bound) else "other"


def _skipped(uid: str, epoch: int, plugin: str) -> Returned:
    return Returned(uid, epoch, "preBind", plugin, "a dry run writes no volumes")
