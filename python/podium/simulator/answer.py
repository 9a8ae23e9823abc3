"""A simulation as the plain data of ``podium simulate -o json``."""

from typing import Any

from podium.scheduler.gangs.report import GangReport
from podium.scheduler.tenants import TenantShare
from podium.simulator.run import AttemptRecord, Pending, Simulation

Wire = dict[str, Any]


def answer(simulation: Simulation) -> Wire:
    """Return what the run found out; what loading found out (``rejected``, ``warnings``) is not in it."""
    return {
        "placements": [{"pod": p.pod, "node": p.node, "at": p.at} for p in simulation.placements],
        "pending": [_pending(pending) for pending in simulation.pending],
        "attempts": [_attempt(attempt) for attempt in simulation.attempts],
        "evicted": [
            *({"pod": victim, "by": by, "reason": "preempted"} for victim, by in simulation.evicted),
            *(
                {"pod": member, "by": gang, "reason": "gang incomplete"}
                for member, gang in simulation.withdrawn
            ),
        ],
        "gangs": [_gang(gang) for gang in simulation.gangs],
        "tenants": [_tenant(tenant) for tenant in simulation.tenants],
        "ignored": [{"pod": pod, "why": why} for pod, why in simulation.ignored],
        "stats": stats(simulation),
    }


def stats(simulation: Simulation) -> Wire:
    """Return the numbers of a run; ``seconds`` is the time that scheduling took, loading not counted."""
    scheduled = len(simulation.placements)
    return {
        "nodes": simulation.nodes,
        "pods": simulation.pods,
        "scheduled": scheduled,
        "seconds": simulation.seconds,
        "pods_per_second": scheduled / simulation.seconds if simulation.seconds else 0.0,
        "attempts": simulation.tries,
        "utilisation": simulation.utilisation,
    }


def _pending(pending: Pending) -> Wire:
    return {
        "pod": pending.pod,
        "message": pending.message,
        "nominated": pending.nominated,
        "victims": list(pending.victims),
    }


def _attempt(attempt: AttemptRecord) -> Wire:
    return {
        "pod": attempt.pod,
        "turn": attempt.turn,
        "at": attempt.at,
        "result": attempt.result,
        "node": attempt.node,
        "feasible": list(attempt.feasible),
        "message": attempt.message,
        "nominated": attempt.nominated,
        "victims": list(attempt.victims),
    }


def _gang(gang: GangReport) -> Wire:
    return {
        "name": gang.name,
        "min": gang.min,
        "bound": gang.bound,
        "waiting": gang.waiting,
        "missing": gang.missing,
        "state": gang.state,
        "position": gang.position,
        "message": gang.message,
    }


def _tenant(tenant: TenantShare) -> Wire:
    return {
        "name": tenant.name,
        "parent": tenant.parent,
        "weight": tenant.weight,
        "dominant_share": tenant.dominant_share,
        "dominant_resource": tenant.dominant_resource,
        "used": dict(tenant.used),
    }
