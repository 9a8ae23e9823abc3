"""Workloads to the objects that their controllers would make, unless the input has them already.

``expand`` takes one defaulted and valid workload. All pods that it yields for one workload share one
``spec`` object wherever their specs are equal, so that whatever is computed per spec is computed once.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from podium.api.objects import workloads as kinds
from podium.api.objects.base import Object
from podium.api.workloads.daemonset import daemon_set
from podium.api.workloads.job import cron_job, job
from podium.api.workloads.owned import Owned, Surroundings
from podium.api.workloads.replicas import deployment, replica_set, replication_controller
from podium.api.workloads.stateful import stateful_set

__all__ = ["EXPANDED", "Owned", "Surroundings", "expand"]

_EXPANSIONS: Mapping[type[Object], Callable[[Any, Surroundings], Iterator[Object]]] = {
    kinds.Deployment: deployment,
    kinds.ReplicaSet: replica_set,
    kinds.ReplicationController: replication_controller,
    kinds.StatefulSet: stateful_set,
    kinds.DaemonSet: daemon_set,
    kinds.Job: job,
    kinds.CronJob: cron_job,
}

EXPANDED: frozenset[type[Object]] = frozenset(_EXPANSIONS)
"""The kinds that are expanded."""


def expand(item: Object, around: Surroundings) -> Iterator[Object]:
    """Yield what a workload's controller makes, in its order; what it makes may be a workload again.

    Raises InputError where the API server would refuse a pod.
    """
    yield from _EXPANSIONS[type(item)](item, around)
