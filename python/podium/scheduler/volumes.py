"""PreBind of VolumeBinding: from the core's reservation to writes of the cluster."""

from podium._core import Engine
from podium.cluster.port import BindVolumes, VolumeWrite
from podium.errors import CoreError
from podium.scheduler.entry import Entry


def begin(engine: Engine, entry: Entry) -> BindVolumes | None:
    """Return what must be written before the pod can be bound, None if nothing."""
    writes = [VolumeWrite(*write) for write in engine.volume_writes(entry.handle)]
    if not writes:
        return None
    return BindVolumes(entry.pod.metadata.uid, entry.epoch, writes)


def problem(engine: Engine, entry: Entry) -> str:
    """Return why the pod cannot be bound although its volumes were written; empty if it can."""
    try:
        bound = engine.volumes_bound(entry.handle)
    except CoreError as error:
        return str(error)
    return "" if bound else "binding volumes: a claim is not bound yet"
