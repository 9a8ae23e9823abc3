"""PreBind of VolumeBinding: from the core's reservation to writes of the cluster."""

from podium._core import Engine
from podium.cluster.port import BindVolumes, VolumeWrite
from podium.scheduler.state import Entry


class VolumeBinder:
    """Makes the writes that bind a pod's claims."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, entry: Entry) -> BindVolumes | None:
        """Return what must be written before the pod can be bound, None if nothing."""
        writes = [VolumeWrite(**write) for write in self._engine.volume_writes(entry.handle)]
        if not writes:
            return None
        return BindVolumes(entry.pod.metadata.uid, entry.epoch, writes)
