"""What pods have in common that are alike: everything that decides where they may be, and how they count.

Pods of one workload differ in name, uid, node and age, in the names of the volumes that the API server adds,
and in most of their status. Nothing here reads any of that, so what was read of one of them holds for all.

Pods do not change, so each is read once and keeps the answer.
"""

from operator import attrgetter
from typing import Final, cast

import msgspec

from podium.api.objects.pod import Container, ContainerStatus, Pod
from podium.api.objects.volumes import Volume

#: Sources of volumes of which somebody reads more than that they are there.
_READ: Final = (
    *("persistent_volume_claim", "ephemeral", "gce_persistent_disk", "aws_elastic_block_store"),
    *("azure_disk", "azure_file", "cinder", "vsphere_volume", "portworx_volume", "iscsi", "rbd", "image"),
)
_UNREAD: Final = (None,) * len(_READ)
_sources = attrgetter(*_READ)

#: Conditions of a pod that say what it takes of its node.
_CONDITIONS: Final = frozenset({"PodResizePending", "DisruptionTarget"})

_encode = msgspec.json.Encoder().encode

#: Where a pod keeps its likeness.
_KEPT: Final = "likeness"


def likeness(pod: Pod) -> bytes:
    """Return what is equal for pods of which the scheduler's core and the descheduler read the same.

    Apart from what each has of its own: name, uid, node, times, annotations, a claim that is generated for it
    (``has_own_claims``), and why its containers wait, ended or started again.
    """
    known = pod.__dict__
    found = known.get(_KEPT)
    if found is None:
        found = known[_KEPT] = _read(pod)
    return cast("bytes", found)


def keep(pod: Pod, alike: bytes) -> None:
    """Let a pod keep its likeness as an object that those which are alike share."""
    pod.__dict__[_KEPT] = alike


def _read(pod: Pod) -> bytes:
    meta, spec, status = pod.metadata, pod.spec, pod.status
    volumes = spec.volumes
    conditions, running, initial = _of_status(status)
    return _encode(
        (
            meta.namespace,
            meta.labels,
            meta.owner_references,
            bool(meta.deletion_timestamp),
            list(map(_container, spec.containers)) if volumes else spec.containers,
            list(map(_container, spec.init_containers)) if volumes else spec.init_containers,
            list(map(_container, spec.ephemeral_containers)) if spec.ephemeral_containers else None,
            list(map(_volume, volumes)) if volumes else None,
            spec.node_selector,
            spec.affinity,
            spec.tolerations,
            spec.topology_spread_constraints,
            spec.scheduler_name,
            spec.scheduling_gates,
            spec.scheduling_group,
            spec.priority,
            spec.preemption_policy,
            spec.overhead,
            spec.resources,
            spec.resource_claims,
            spec.termination_grace_period_seconds,
            spec.host_network,
            spec.host_users,
            status.phase,
            status.qos_class,
            status.nominated_node_name,
            [_said(item) for item in conditions if item.type in _CONDITIONS] if conditions else None,
            [_given(item) for item in running if _is_given(item)] if running else None,
            [_given(item) for item in initial if _is_given(item)] if initial else None,
            status.allocated_resources,
            status.resources,
        )
    )


def has_own_claims(pod: Pod) -> bool:
    """Tell whether claims are generated for a pod, which are named after it."""
    return any(volume.ephemeral is not None for volume in pod.spec.volumes)


def _container(container: Container) -> tuple[object, ...]:
    """Leave out the names of mounts, which are those of volumes."""
    return (
        container.name,
        container.image,
        container.ports,
        container.resources,
        container.restart_policy,
        container.restart_policy_rules,
        [mount.bind_mount_options for mount in container.volume_mounts if mount.bind_mount_options],
    )


def _volume(volume: Volume) -> object:
    """Return whether it is a directory of the node for a volume whose source nobody reads, else all of it."""
    sources = _sources(volume)
    local = volume.host_path is not None, volume.empty_dir is not None
    return local if sources == _UNREAD else (volume.name, *local, *sources)


_of_status = attrgetter("conditions", "container_statuses", "init_container_statuses")
_said = attrgetter("type", "status", "reason")

#: What a container was really given, where that is said (in-place resize).
_given = attrgetter("name", "allocated_resources", "resources")


def _is_given(status: ContainerStatus) -> bool:
    return status.allocated_resources is not None or status.resources is not None
