"""New pods on their way into the core: those that differ in name, uid and node alone cost little."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.api import Pod, PodSpec

#: Encoded specs kept from one call to the next. Pods of a live cluster have one each, which nobody else has.
_SPECS = 256

#: Encoded specs kept at all: more than come in one call.
_MOST_SPECS = 4096

#: Templates kept from one call to the next: a thousand tenants may have one each. Each keeps a pod that may
#: be gone long since.
_TEMPLATES = 1280


class Arrivals:
    """Puts pods into the core: as JSON once for all pods of one template, the others by name and uid."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._encode = msgspec.json.Encoder().encode
        self._specs: dict[int, tuple[PodSpec, bytes]] = {}
        self._templates: dict[tuple[object, ...], int] = {}
        """The core's example for pods, by what they have in common."""
        self._firsts: list[Pod] = []
        """The pod that each example was made of, which stands for its template."""

    def add(
        self, pods: Sequence[Pod], accepts: Callable[[Pod], bool], *, each: bool = False
    ) -> tuple[list[Pod], NDArray[np.uint32], list[Pod]]:
        """Put the accepted pods into the core.

        Args:
            pods: pending, and new to the core.
            accepts: a function of all but name and uid, whose yes is final. It is asked of one pod of a
                template, and of each pod of a template that it refuses.
            each: ask it of each pod: plugins may look at the name.

        Returns:
            The accepted pods and their handles, in order; and one pod of each template among them.

        """
        if len(self._specs) >= _SPECS:
            self._specs.clear()
        if len(self._firsts) >= _TEMPLATES:
            self._forget()
        templates = self._templates
        accepted: list[Pod] = []
        leaders: list[int] = []
        kept: list[int] = []
        followers: list[int] = []
        examples: list[int] = []
        for pod in pods:
            likeness = self._likeness(pod)
            example = None if likeness is None else templates.get(likeness)
            if (example is None or each) and not accepts(pod):
                continue
            if example is not None:
                followers.append(len(accepted))
                examples.append(example)
            else:
                if likeness is not None:
                    templates[likeness] = len(self._firsts)
                    self._firsts.append(pod)
                    kept.append(len(leaders))
                leaders.append(len(accepted))
            accepted.append(pod)
        handles = np.empty(len(accepted), dtype=np.uint32)
        first = [accepted[place] for place in leaders]
        if leaders:
            handles[leaders] = self._add_whole(first, self.encoded)
            self._engine.keep_examples(handles[leaders][kept])
        if followers:
            like = np.asarray(examples, dtype=np.uint32)
            metadata = [accepted[place].metadata for place in followers]
            names, uids = [meta.name for meta in metadata], [meta.uid for meta in metadata]
            handles[followers] = self._engine.add_pods_like(like, names, uids)
            first += [self._firsts[example] for example in np.unique(like).tolist()]
        return accepted, handles, first

    def add_bound(self, pods: Sequence[Pod]) -> list[int]:
        """Put pods into the core that are on nodes already; returns their handles, in order."""
        handles: list[int] = self._add_whole(pods, self._encode).tolist()
        return handles

    def _forget(self) -> None:
        self._engine.forget_examples()
        self._templates.clear()
        self._firsts.clear()

    def _likeness(self, pod: Pod) -> tuple[object, ...] | None:
        """Return what pods of one template have in common, unequal for all others.

        A generated claim is named after its pod: pods with volumes are like no other. Of those with
        scheduling gates each is asked about, since each is held by itself.
        """
        meta, spec = pod.metadata, pod.spec
        if spec.volumes or spec.scheduling_gates:
            return None
        return (
            self.encoded(spec),
            meta.namespace,
            tuple(meta.labels.items()) if meta.labels else None,
            tuple(meta.annotations.items()) if meta.annotations else None,
            self._encode(meta.owner_references) if meta.owner_references else None,
            meta.deletion_timestamp,
            self._encode(pod.status),
        )

    def _add_whole(self, pods: Sequence[Pod], encode_spec: Callable[[PodSpec], bytes]) -> NDArray[np.uint32]:
        encode = self._encode
        return self._engine.add_pods(
            [encode(pod.metadata) for pod in pods],
            [encode_spec(pod.spec) for pod in pods],
            [encode(pod.status) for pod in pods],
        )

    def encoded(self, spec: PodSpec) -> bytes:
        """Encode a spec; pods of one workload share theirs, so it is done once for all of them."""
        at = id(spec)
        known = self._specs.get(at)
        if known is not None and known[0] is spec:
            return known[1]
        if len(self._specs) >= _MOST_SPECS:
            self._specs.clear()
        encoded = self._encode(spec)
        # The spec is kept so that its id cannot be reused.
        self._specs[at] = (spec, encoded)
        return encoded
