"""Validation of a completed ``KubeSchedulerConfiguration``, except for its plugins.

Source: ``k8s.io/kubernetes/pkg/scheduler/apis/config/validation`` and
``k8s.io/component-base/config/validation`` at v1.37.2.
"""

from collections.abc import Sequence

from podium.framework.config.names import check_extended_resource
from podium.framework.config.problems import Problems, child, index
from podium.framework.config.v1 import (
    ClientConnection,
    Extender,
    KubeSchedulerConfiguration,
    LeaderElection,
    Profile,
)
from podium.framework.duration import Duration

_ZERO = Duration(0)


def validate(config: KubeSchedulerConfiguration, problems: Problems) -> None:
    """Record what is wrong, in the order in which kube-scheduler checks."""
    _client_connection(config.client_connection, problems)
    _leader_election(config.leader_election, problems)
    if config.parallelism <= 0:
        problems.invalid("parallelism", config.parallelism, "should be an integer value greater than zero")
    _profiles(config.profiles, problems)
    _percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score, problems)
    initial, longest = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    if initial <= 0:
        problems.invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        rule = "must be greater than or equal to PodInitialBackoffSeconds"
        problems.invalid("podMaxBackoffSeconds", longest, rule)
    _extenders(config.extenders, problems)


def _client_connection(connection: ClientConnection, problems: Problems) -> None:
    if connection.burst < 0:
        problems.invalid("clientConnection.burst", connection.burst, "must be non-negative")


def _leader_election(election: LeaderElection, problems: Problems) -> None:
    if not election.leader_elect:
        return
    path = "leaderElection"
    lengths = (
        ("leaseDuration", election.lease_duration),
        ("renewDeadline", election.renew_deadline),
        ("retryPeriod", election.retry_period),
    )
    for name, length in lengths:
        if length <= _ZERO:
            problems.invalid(child(path, name), length, "must be greater than zero")
    if election.lease_duration <= election.renew_deadline:
        problems.invalid(
            child(path, "leaseDuration"), election.renew_deadline, "must be greater than `RenewDeadline`"
        )
    if election.resource_lock != "leases":
        problems.invalid(
            child(path, "resourceLock"), election.resource_lock, 'resourceLock value must be "leases"'
        )


def _profiles(profiles: Sequence[Profile], problems: Problems) -> None:
    first: dict[str, str] = {}
    for at, profile in enumerate(profiles):
        path = index("profiles", at)
        where = child(path, "schedulerName")
        name = profile.scheduler_name or ""
        if not name:
            problems.required(where)
        if name in first:
            problems.add(where, f"Duplicate value: {first[name]}")
        first[name] = where
        if profile.percentage_of_nodes_to_score is not None:
            _percentage(
                child(path, "percentageOfNodesToScore"), profile.percentage_of_nodes_to_score, problems
            )


def _percentage(path: str, percentage: int, problems: Problems) -> None:
    if not 0 <= percentage <= 100:
        problems.invalid(path, percentage, "not in valid range [0-100]")


def _extenders(extenders: Sequence[Extender], problems: Problems) -> None:
    managed: set[str] = set()
    for at, extender in enumerate(extenders):
        path = index("extenders", at)
        if not extender.url_prefix:
            problems.required(child(path, "urlPrefix"), "the address of the extender")
        if extender.prioritize_verb and extender.weight <= 0:
            problems.invalid(
                child(path, "weight"), extender.weight, "must have a positive weight applied to it"
            )
        for number, resource in enumerate(extender.managed_resources):
            where = child(index(child(path, "managedResources"), number), "name")
            check_extended_resource(where, resource.name, problems)
            if resource.name in managed:
                problems.invalid(where, resource.name, "duplicate extender managed resource name")
            managed.add(resource.name)
    binders = sum(1 for extender in extenders if extender.bind_verb)
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        problems.invalid("extenders", found, "only one extender can implement bind")
