"""The workload controllers and kubelets of a simulated cluster: they replace what left, and start it."""

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec.structs import replace

from podium.api import Condition, ObjectMeta, Pod, PodStatus
from podium.api.identity import derived_uid, suffixes

SECOND = 1_000_000_000

_KEEPS_NAME = frozenset({"StatefulSet"})
"""Owners whose pods have an identity; the others give a new name."""


def write_time(now: int) -> str:
    """Return nanoseconds since 1970 as the API server writes a time."""
    return datetime.fromtimestamp(now // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Controllers:
    """Makes for a pod that left the one that its controller would make, also if nobody has seen the owner."""

    def __init__(self) -> None:
        self._names: dict[str, Iterator[str]] = {}

    def replace(self, pod: Pod, now: int) -> Pod | None:
        """Return the new pod, pending; None for a pod without an owner, and for one that had ended well."""
        owners = [owner for owner in pod.metadata.owner_references if owner.controller is not False]
        if not owners or pod.status.phase == "Succeeded":
            return None
        meta, owner = pod.metadata, owners[0]
        if owner.kind in _KEEPS_NAME:
            name, prefix = meta.name, meta.generate_name
        else:
            prefix = meta.generate_name or f"{owner.name}-"
            seed = f"{meta.namespace}/{owner.kind}/{prefix}"
            name = prefix + next(self._names.setdefault(seed, suffixes(seed)))
        fresh = ObjectMeta(
            name=name,
            generate_name=prefix,
            namespace=meta.namespace,
            # Depends on the predecessor alone: a plan draws the same lot among equal nodes as what comes.
            uid=derived_uid("Pod", meta.namespace, f"{meta.uid}/successor"),
            creation_timestamp=write_time(now),
            labels=meta.labels,
            annotations=meta.annotations,
            owner_references=meta.owner_references,
        )
        return Pod(
            metadata=fresh,
            spec=replace(pod.spec, node_name=""),
            status=PodStatus(phase="Pending", qos_class=pod.status.qos_class),
        )


def started(pod: Pod, now: int) -> Pod:
    """Return a pod as its kubelet reports it once it runs."""
    ready = Condition(type="Ready", status="True", last_transition_time=write_time(now))
    status = replace(pod.status, phase="Running", start_time=write_time(now), conditions=[ready])
    return replace(pod, status=status)
