"""Every pending pod of a manifest, judged alone: nothing is placed."""

from collections.abc import Callable, Iterator

from podium.api import Pod
from podium.api.manifest import Manifest
from podium.cluster.port import Applied
from podium.errors import CoreError
from podium.framework.config import SchedulerConfig
from podium.scheduler.explain import explain, gang_judge
from podium.scheduler.explanation import Explanation
from podium.scheduler.gangs.report import GangJudge
from podium.scheduler.loop import Scheduler
from podium.simulator.given_load import GivenLoad
from podium.simulator.run import all_but_pods, bound_and_pending, name_of


def judge_pending(
    manifest: Manifest,
    config: SchedulerConfig,
    *,
    wanted: Callable[[Pod], bool] = lambda _: True,
    top: int = 10,
) -> Iterator[Explanation]:
    """Judge pending pods against the bound ones and the nominations of the other pending pods.

    Args:
        manifest: the cluster.
        config: the scheduler's configuration.
        wanted: which of the pending pods to judge.
        top: how many of the best nodes get their scores reported.

    """
    bound, pending = bound_and_pending(manifest)
    scheduler = Scheduler(config)
    objects = [*all_but_pods(manifest), *bound, *pending]
    scheduler.step(map(Applied, objects), now=0, limit=0)
    GivenLoad.of(manifest).tell(scheduler)
    gangs = gang_judge(scheduler)
    for pod in filter(wanted, pending):
        found = _judge(scheduler, pod, top, gangs)
        if found is not None:
            yield found


def _judge(scheduler: Scheduler, pod: Pod, top: int, gangs: GangJudge) -> Explanation | None:
    """Judge one pod; None if it is about to end, so that no scheduler looks at it."""
    uid, state = pod.metadata.uid, scheduler.state
    held = state.gates.held.get(uid)
    if held is not None:
        why = f'held by PreEnqueue plugin "{held.by}": {held.why}' if held.by else held.why
        return Explanation(name_of(pod), "gated", why)
    if state.entry(uid) is not None:
        try:
            return explain(scheduler, uid, top, gangs)
        except CoreError as error:
            return Explanation(name_of(pod), "error", str(error))
    if uid in state.foreign:
        why = f"schedulerName {pod.spec.scheduler_name}: no profile of the configuration has this name"
        return Explanation(name_of(pod), "foreign", why)
    return None
