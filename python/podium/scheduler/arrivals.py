"""New pending pods on their way into the core: those that differ in name and uid alone cost little."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.api import Pod, PodSpec

#: Encoded specs kept; beyond that the table starts afresh.
_SPECS = 4096


class Arrivals:
    """Puts pods into the core as JSON, once for all pods of one template that come together."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._encode = msgspec.json.Encoder().encode
        self._specs: dict[int, tuple[PodSpec, bytes]] = {}

    def add(
        self, pods: Sequence[Pod], accepts: Callable[[Pod], bool], *, each: bool = False
    ) -> tuple[list[Pod], NDArray[np.uint32], list[Pod]]:
        """Put the accepted pods into the core.

        Args:
            pods: pending, and new to the core.
            accepts: a function of all but name and uid. It is asked of one pod of a template, and of each
                pod of a template that it refuses.
            each: ask it of each pod: plugins may look at the name.

        Returns:
            The accepted pods and their handles, in order; and the first of each template among them.

        """
        first: dict[object, int] = {}
        accepted: list[Pod] = []
        like: list[int] = []
        leaders: list[Pod] = []
        followers: list[int] = []
        for pod in pods:
            likeness = self._likeness(pod)
            alike = first.get(likeness)
            if alike is None or alike < 0:
                if not accepts(pod):
                    first[likeness] = -1
                    continue
                alike = first[likeness] = len(leaders)
                leaders.append(pod)
            elif each and not accepts(pod):
                continue
            else:
                followers.append(len(accepted))
            accepted.append(pod)
            like.append(alike)
        handles = self._add_leaders(leaders)
        if followers:
            handles = handles[np.asarray(like, dtype=np.intp)]
            metadata = [accepted[place].metadata for place in followers]
            names, uids = [meta.name for meta in metadata], [meta.uid for meta in metadata]
            handles[followers] = self._engine.add_pods_like(handles[followers], names, uids)
        return accepted, handles, leaders

    def _likeness(self, pod: Pod) -> object:
        """Return what pods of one template have in common, unequal for all others of one call.

        A generated claim is named after its pod: pods with volumes are like no other.
        """
        meta, spec = pod.metadata, pod.spec
        if spec.volumes:
            return id(pod)
        return (
            id(spec),
            meta.namespace,
            tuple(meta.labels.items()) if meta.labels else None,
            tuple(meta.annotations.items()) if meta.annotations else None,
            self._encode(meta.owner_references) if meta.owner_references else None,
            meta.deletion_timestamp,
            self._encode(pod.status),
        )

    def _add_leaders(self, pods: Sequence[Pod]) -> NDArray[np.uint32]:
        encode = self._encode
        return self._engine.add_pods(
            [encode(pod.metadata) for pod in pods],
            [self.encoded(pod.spec) for pod in pods],
            [encode(pod.status) for pod in pods],
        )

    def encoded(self, spec: PodSpec) -> bytes:
        """Encode a spec; pods of one workload share theirs, so it is done once for all of them."""
        at = id(spec)
        known = self._specs.get(at)
        if known is not None and known[0] is spec:
            return known[1]
        if len(self._specs) >= _SPECS:
            self._specs.clear()
        encoded = self._encode(spec)
        # The spec is kept so that its id cannot be reused.
        self._specs[at] = (spec, encoded)
        return encoded
