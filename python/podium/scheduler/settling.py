"""Pods that are on nodes already, on their way into the core: those that are alike are read once."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.api import Pod
from podium.api.likeness import has_own_claims, likeness

#: Examples that are kept, a few hundred bytes each; beyond that the table starts afresh. A large cluster has
#: that many kinds of pods when it comes in; later most are of pods that are gone.
_MOST = 1 << 15

#: Stands for a pod that is no example for others.
_ALONE = 2**32 - 1


class Settling:
    """Puts pods that are on nodes into the core, in order: as JSON once for all that are alike."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._encode = msgspec.json.Encoder().encode
        self._examples: dict[bytes, int] = {}
        """The core's example for pods, by what they have in common."""

    def add(self, pods: Sequence[Pod]) -> NDArray[np.uint32]:
        """Put pods into the core; returns their handles, in order."""
        if len(self._examples) >= _MOST:
            self._engine.forget_settled()
            self._examples.clear()
        known, encode = self._examples, self._encode
        wholes: list[tuple[bytes, bytes, bytes]] = []
        examples: list[int] = []
        for pod, key in zip(pods, map(likeness, pods), strict=True):
            example = known.get(key)
            if example is None:
                wholes.append((encode(pod.metadata), encode(pod.spec), encode(pod.status)))
                if has_own_claims(pod):
                    example = _ALONE
                else:
                    example = known[key] = len(known)
            examples.append(example)
        metadata = [pod.metadata for pod in pods]
        return self._engine.add_settled(
            np.asarray(examples, dtype=np.uint32),
            [meta.name for meta in metadata],
            [meta.uid for meta in metadata],
            [pod.spec.node_name for pod in pods],
            [pod.status.start_time for pod in pods],
            wholes,
        )
