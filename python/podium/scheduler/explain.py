"""Why a pending pod may or may not run where. Nothing is placed."""

import re
from collections import Counter

from podium._core import Quantity
from podium.scheduler.entry import Entry
from podium.scheduler.explain_plugins import judge_with_plugins
from podium.scheduler.explanation import Explanation, NodeRejection, Turn, scores_of
from podium.scheduler.gangs.report import GangJudge
from podium.scheduler.loop import Scheduler
from podium.scheduler.tenants import Tenants


def gang_judge(scheduler: Scheduler) -> GangJudge:
    """Return who judges gangs for several pods among which nothing happens."""
    return GangJudge(scheduler.state, scheduler.gangs, scheduler.arranger)


def explain(scheduler: Scheduler, uid: str, top: int = 10, gangs: GangJudge | None = None) -> Explanation:
    """Judge one pending pod that the scheduler knows.

    Args:
        scheduler: which schedules nothing meanwhile.
        uid: of the pod.
        top: how many scores are returned at most.
        gangs: who has judged the gangs of other pods; None: nobody has.

    """
    entry = scheduler.state.entry(uid)
    if entry is None:
        raise KeyError(uid)
    name = f"{entry.pod.metadata.namespace}/{entry.pod.metadata.name}"
    if entry.concerned:
        result = judge_with_plugins(scheduler.singles, entry, name, top)
    else:
        result = _judge(scheduler, entry, name, top)
    if scheduler.tenants is not None:
        result.tenant = _turn(scheduler, scheduler.tenants, entry, result)
    group = scheduler.gangs.book.of(entry)
    if group is not None:
        result.gang = (gangs or gang_judge(scheduler)).turn_of(group)
        result.message = result.message or result.gang.message
    return result


def _judge(scheduler: Scheduler, entry: Entry, name: str, top: int) -> Explanation:
    """Judge a pod that is a matter of the core alone."""
    answer = scheduler.engine.explain(entry.handle)
    result = Explanation(
        pod=name, state=answer["state"], message=answer["message"], feasible=answer["feasible"]
    )
    result.nodes = {node: NodeRejection(**why) for node, why in answer["nodes"].items()}
    if result.state == "feasible" and answer["totals"]:
        result.scores = scores_of(answer, top)
    elif result.state == "unschedulable":
        _preempt(scheduler, entry.handle, result)
    return result


def _turn(scheduler: Scheduler, tenants: Tenants, entry: Entry, result: Explanation) -> Turn:
    name = tenants.name(entry.pod)
    order = tenants.waiting()
    shares = {share.name: share for share in tenants.report([entry.pod])}
    blocked = scheduler.engine.tenant_refusal(entry.handle)
    if blocked is None and result.state == "unschedulable":
        blocked = _holders(scheduler, tenants, result)
    return Turn(
        name=name,
        dominant_share=shares[name].dominant_share,
        rank=order.index(name) + 1 if name in order else None,
        blocked_by=blocked,
    )


_LACKS = re.compile(r"Insufficient (\S+)")

#: Tenants named as holders of a resource.
_HOLDERS = 3


def _holders(scheduler: Scheduler, tenants: Tenants, result: Explanation) -> str | None:
    """Return the scarcest resource and who has most of it, None if no resource is what is missing."""
    reasons = (reason for why in result.nodes.values() for reason in why.reasons)
    lacking = Counter(found[1] for found in map(_LACKS.search, reasons) if found)
    if not lacking:
        return None
    resource = lacking.most_common(1)[0][0]
    holding = [
        (Quantity(share.used[resource]), share.name, share.used[resource])
        for share in tenants.report(scheduler.state.pods())
        if resource in share.used and not tenants.has_children(share.name)
    ]
    most = sorted(holding, key=lambda held: (-float(held[0]), held[1]))[:_HOLDERS]
    held = ", ".join(f"{name} {amount}" for _, name, amount in most)
    return f"{resource}: held by {held}" if held else f"{resource}: no node has enough"


def _preempt(scheduler: Scheduler, handle: int, result: Explanation) -> None:
    eviction = scheduler.engine.preempt(handle)
    if eviction is None:
        return
    if eviction.message:
        result.message = f"{result.message} {eviction.message}"
    if eviction.row is not None:
        result.nominated = scheduler.engine.node_name(eviction.row)
    entries = scheduler.state.by_handles(eviction.victims)
    result.victims = [f"{e.pod.metadata.namespace}/{e.pod.metadata.name}" for e in entries]
