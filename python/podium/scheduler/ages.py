"""When pods were created."""

from datetime import datetime
from functools import lru_cache

from podium.api import Pod

#: Later than any time: a pod that does not say when it was created is the youngest.
UNKNOWN = 2**63 - 1


def creation_time(pod: Pod) -> int:
    """Return when the pod was created, in nanoseconds since 1970."""
    created = pod.metadata.creation_timestamp
    return _parse(created) if created else UNKNOWN


@lru_cache(maxsize=65536)
def _parse(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1_000_000_000)
