"""Scenarios of gangs and tenants: ``gang3``, ``gang1000``, ``gang5000``, ``drf``."""

import msgspec

from podium.api import Namespace, ObjectMeta, Pod
from podium.simulator.workloads.parts import LABELS, meta, nodes, spec
from podium.simulator.workloads.workload import Workload

GANG, MIN_AVAILABLE = "gang.example.com/name", "gang.example.com/min-available"
TENANTS = 1_000


def gang3(size: int, pods: int) -> Workload:
    """Gangs of 3."""
    return _gangs(size, pods, 3)


def gang1000(size: int, pods: int) -> Workload:
    """Gangs of 1,000."""
    return _gangs(size, pods, 1_000)


def gang5000(size: int, pods: int) -> Workload:
    """Gangs of 5,000."""
    return _gangs(size, pods, 5_000)


def _gangs(size: int, pods: int, members: int) -> Workload:
    """Return whole gangs only; members of one stand together."""
    template, made = spec(), []
    for number in range(pods // members):
        labels = {**LABELS, GANG: f"g-{number:05d}"}
        annotations = {MIN_AVAILABLE: str(members)}
        for index in range(number * members, (number + 1) * members):
            metadata = meta(f"p-{index:06d}", f"u-{index:06d}", labels)
            made.append(
                Pod(metadata=msgspec.structs.replace(metadata, annotations=annotations), spec=template)
            )
    return Workload(nodes(size), made)


def drf(size: int, pods: int) -> Workload:
    """1,000 tenants in turn: odd ones ask for more of the memory than of the cpu, even ones the other way."""
    names = [f"tenant-{number:04d}" for number in range(TENANTS)]
    cpu_heavy, memory_heavy = spec(800, 1024), spec(200, 6144)
    made = []
    for index in range(pods):
        tenant = index % TENANTS
        metadata = meta(f"p-{index:06d}", f"u-{index:06d}", LABELS, names[tenant])
        made.append(Pod(metadata=metadata, spec=memory_heavy if tenant % 2 else cpu_heavy))
    namespaces = [Namespace(metadata=ObjectMeta(name=name, uid=name)) for name in names]
    return Workload(nodes(size), made, objects=namespaces, queue_order="drf")
