"""New pods on their way into the core: those that differ in name, uid and node alone cost little."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile, groupby
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium._core import Engine
from podium.api import Pod, PodSpec

#: Encoded specs kept from one call to the next. Pods of a live cluster have one each, which nobody else has.
_SPECS = 256

#: Encoded specs kept at all: more than come in one call.
_MOST_SPECS = 4096

#: Templates kept from one call to the next: a thousand tenants may have one each.
_TEMPLATES = 1280

#: How many parts of a pod are neither labels nor annotations, nor its own.
_OF_BASE = 5

#: What pods have in common that may differ in labels and annotations.
_Base = tuple[object, ...]


class Arrived(NamedTuple):
    """Pods that are in the core now, in order.

    Attributes:
        pods: the pods.
        handles: uint32 (N,), theirs in the core.
        likes: int64 (N,), equal only for pods that differ in name and uid alone, those of other calls
            included.

    """

    pods: list[Pod]
    handles: NDArray[np.uint32]
    likes: NDArray[np.int64]


@dataclass(slots=True)
class _Sorted:
    """Pods on their way into the core.

    Attributes:
        examples: the example of each run of pods, negative for one that is like no other.
        counts: how many pods each run has.
        leaders: places of pods that are like no example before them, each with the example that it differs
            from in labels and annotations alone, None where there is none.

    """

    pods: list[Pod] = field(default_factory=list)
    examples: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    leaders: list[tuple[int, int | None]] = field(default_factory=list)

    def like(self, example: int, pods: Sequence[Pod]) -> None:
        """Add pods that are like an example."""
        self.pods += pods
        self.examples.append(example)
        self.counts.append(len(pods))

    def like_no_other(self, pods: Iterable[Pod]) -> None:
        """Add pods that are like no other."""
        for pod in pods:
            place = len(self.pods)
            self.leaders.append((place, None))
            self.like(-1 - place, [pod])

    def likes(self) -> NDArray[np.int64]:
        """Return the example of each pod."""
        return np.repeat(np.asarray(self.examples, np.int64), np.asarray(self.counts, np.intp))

    def followers(self) -> NDArray[np.intp]:
        """Return the places of all but leaders."""
        follows = np.ones(len(self.pods), np.bool_)
        follows[[place for place, _ in self.leaders]] = False
        return np.flatnonzero(follows)


class Arrivals:
    """Puts pods into the core: as JSON once for all pods that say the same, the others by what differs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._encode = msgspec.json.Encoder().encode
        self._specs: dict[int, tuple[PodSpec, bytes]] = {}
        self._bases: dict[_Base, int] = {}
        """The first of the core's examples for pods that have as much in common."""
        self._templates: dict[tuple[int | None, object, object], int] = {}
        """The example for pods of one template, by that first one and what they have beside."""
        self._forgotten = self._seen = 0
        """Examples there were before those that are kept, and pods."""

    def add(self, pods: Sequence[Pod], accepts: Callable[[Pod], bool], *, each: bool = False) -> Arrived:
        """Put the accepted pods into the core.

        Args:
            pods: pending, and new to the core.
            accepts: a function of what is neither name, uid, label nor annotation, whose yes is final. It is
                asked of one pod of those that are alike in that, and of each of them if it refuses.
            each: ask it of each pod: plugins may look at more.

        Returns:
            The accepted pods.

        """
        if len(self._specs) >= _SPECS:
            self._specs.clear()
        if len(self._templates) >= _TEMPLATES:
            self._forget()
        sort = self._sort(pods, accepts, each=each)
        handles, likes = np.empty(len(sort.pods), dtype=np.uint32), sort.likes()
        for is_new, run in groupby(sort.leaders, key=lambda leader: leader[1] is None):
            places, bases = zip(*run, strict=True)
            led = [sort.pods[place] for place in places]
            added = self._add_whole(led, self.encoded) if is_new else self._add_labelled(led, bases)
            at = np.asarray(places, dtype=np.intp)
            handles[at] = added
            self._engine.keep_examples(added[likes[at] >= 0])
        if len(sort.leaders) < len(sort.pods):
            at = sort.followers()
            names, uids = _names(list(map(sort.pods.__getitem__, at.tolist())))
            handles[at] = self._engine.add_pods_like(likes[at].astype(np.uint32), names, uids)
        distinct = np.where(likes >= 0, likes + self._forgotten, likes - self._seen)
        self._seen += len(pods)
        return Arrived(sort.pods, handles, distinct)

    def _sort(self, pods: Sequence[Pod], accepts: Callable[[Pod], bool], *, each: bool) -> _Sorted:
        """Tell pods that are like an example from those that become one, or are like no other."""
        sort = _Sorted()
        base: _Base | None = None
        last: tuple[object, ...] = ()
        for parts, run in groupby(pods, _parts):
            alike = list(run)
            pod = alike[0]
            if parts[:_OF_BASE] != last:
                base, last = self._base(pod), parts[:_OF_BASE]
            first = None if base is None else self._bases.get(base)
            if each or base is None:
                alike = [pod for pod in alike if accepts(pod)]
            elif first is None:
                alike = list(dropwhile(lambda pod: not accepts(pod), alike))
            if not alike:
                continue
            if base is None:
                sort.like_no_other(alike)
                continue
            key = first, *_beside(pod)
            example = None if first is None else self._templates.get(key)
            if example is not None:
                sort.like(example, alike)
                continue
            example = len(self._templates)
            sort.leaders.append((len(sort.pods), first if _labels_stand_alone(pod.spec) else None))
            sort.like(example, alike)
            if first is None:
                self._bases[base] = example
                key = example, *key[1:]
            self._templates[key] = example
        return sort

    def _forget(self) -> None:
        self._forgotten += len(self._templates)
        self._engine.forget_examples()
        self._templates.clear()
        self._bases.clear()

    def _base(self, pod: Pod) -> _Base | None:
        """Return what pods have in common that may differ in labels and annotations, None if none may.

        A generated claim is named after its pod: pods with volumes are like no other. Of those with
        scheduling gates each is asked about, since each is held by itself.
        """
        meta, spec = pod.metadata, pod.spec
        if spec.volumes or spec.scheduling_gates:
            return None
        return (
            self.encoded(spec),
            meta.namespace,
            self._encode(meta.owner_references) if meta.owner_references else None,
            meta.deletion_timestamp,
            self._encode(pod.status),
        )

    def _add_labelled(self, pods: Sequence[Pod], examples: Sequence[int | None]) -> NDArray[np.uint32]:
        labels: list[Mapping[str, str] | None] = [dict(pod.metadata.labels) for pod in pods]
        return self._engine.add_pods_labelled(np.asarray(examples, dtype=np.uint32), *_names(pods), labels)

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


def _names(pods: Sequence[Pod]) -> tuple[list[str], list[str]]:
    """Return names and uids."""
    return [pod.metadata.name for pod in pods], [pod.metadata.uid for pod in pods]


def _parts(pod: Pod) -> tuple[object, ...]:
    """Return what is equal for pods that were made together, apart from name and uid; labels come last."""
    meta = pod.metadata
    return (
        id(pod.spec),
        meta.owner_references,
        meta.namespace,
        meta.deletion_timestamp,
        pod.status,
        meta.labels,
        meta.annotations,
    )


def _beside(pod: Pod) -> tuple[object, object]:
    """Return the labels and annotations."""
    meta = pod.metadata
    return (
        tuple(meta.labels.items()) if meta.labels else None,
        tuple(meta.annotations.items()) if meta.annotations else None,
    )


def _labels_stand_alone(spec: PodSpec) -> bool:
    """Whether labels are only that: affinity and spread may take values from them (``matchLabelKeys``)."""
    affinity = spec.affinity
    near = affinity is not None and (affinity.pod_affinity or affinity.pod_anti_affinity)
    return not (near or spec.topology_spread_constraints)
