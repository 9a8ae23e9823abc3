"""New pods on their way into the core: those that differ in name, uid and node alone cost little."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
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


#: What pods of one template have in common: what they have beside labels and annotations, then these.
_Likeness = tuple[tuple[object, ...], object, object]


class Arrived(NamedTuple):
    """Pods that are in the core now, in order.

    Attributes:
        pods: the pods.
        handles: uint32 (N,), theirs in the core.
        likes: equal for pods that differ in name and uid alone; negative for those that are like no other.

    """

    pods: list[Pod]
    handles: NDArray[np.uint32]
    likes: list[int]


@dataclass(slots=True)
class _Sorted:
    """Pods on their way into the core.

    Attributes:
        followers: places of those that are like an example.
        leaders: places of the others, each with the example that it differs from in labels and annotations
            alone, None where there is none.

    """

    pods: list[Pod] = field(default_factory=list)
    likes: list[int] = field(default_factory=list)
    followers: list[int] = field(default_factory=list)
    leaders: list[tuple[int, int | None]] = field(default_factory=list)


class Arrivals:
    """Puts pods into the core: as JSON once for all pods that say the same, the others by what differs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._encode = msgspec.json.Encoder().encode
        self._specs: dict[int, tuple[PodSpec, bytes]] = {}
        self._templates: dict[_Likeness, int] = {}
        """The core's example for pods, by what they have in common."""
        self._bases: dict[tuple[object, ...], int] = {}
        """An example for pods that may have other labels and annotations."""

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
        handles = np.empty(len(sort.pods), dtype=np.uint32)
        for is_new, run in groupby(sort.leaders, key=lambda leader: leader[1] is None):
            places, bases = zip(*run, strict=True)
            led = [sort.pods[place] for place in places]
            added = self._add_whole(led, self.encoded) if is_new else self._add_labelled(led, bases)
            handles[list(places)] = added
            self._engine.keep_examples(added[[sort.likes[place] >= 0 for place in places]])
        if sort.followers:
            like = np.asarray([sort.likes[place] for place in sort.followers], dtype=np.uint32)
            names, uids = _names([sort.pods[place] for place in sort.followers])
            handles[sort.followers] = self._engine.add_pods_like(like, names, uids)
        return Arrived(sort.pods, handles, sort.likes)

    def _sort(self, pods: Sequence[Pod], accepts: Callable[[Pod], bool], *, each: bool) -> _Sorted:
        """Tell pods that are like an example from those that become one, or are like no other."""
        templates, sort = self._templates, _Sorted()
        accepted, likes, followers = sort.pods, sort.likes, sort.followers
        likeness: _Likeness | None = None
        last: Pod | None = None
        example: int | None = None
        for pod in pods:
            if last is None or not _share_all(pod, last):
                likeness = self._likeness(pod)
                example = None if likeness is None else templates.get(likeness)
                last = None
            base = self._base(likeness, pod.spec) if example is None and likeness is not None else None
            is_strange = example is None and base is None
            if (is_strange or each) and not accepts(pod):
                continue
            place = len(accepted)
            accepted.append(pod)
            if example is not None:
                followers.append(place)
                last = pod
            elif likeness is None:
                sort.leaders.append((place, None))
            else:
                example, last = len(templates), pod
                templates[likeness] = example
                sort.leaders.append((place, base))
                if base is None:
                    self._bases[likeness[0]] = example
            likes.append(-1 - place if example is None else example)
        return sort

    def _base(self, likeness: _Likeness, spec: PodSpec) -> int | None:
        """Return an example from which such a pod differs in labels and annotations alone, if any."""
        base = self._bases.get(likeness[0])
        return base if base is not None and _labels_stand_alone(spec) else None

    def _forget(self) -> None:
        self._engine.forget_examples()
        self._templates.clear()
        self._bases.clear()

    def _likeness(self, pod: Pod) -> _Likeness | None:
        """Return what pods of one template have in common, unequal for all others.

        A generated claim is named after its pod: pods with volumes are like no other. Of those with
        scheduling gates each is asked about, since each is held by itself.
        """
        meta, spec = pod.metadata, pod.spec
        if spec.volumes or spec.scheduling_gates:
            return None
        base = (
            self.encoded(spec),
            meta.namespace,
            self._encode(meta.owner_references) if meta.owner_references else None,
            meta.deletion_timestamp,
            self._encode(pod.status),
        )
        return (
            base,
            tuple(meta.labels.items()) if meta.labels else None,
            tuple(meta.annotations.items()) if meta.annotations else None,
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
    metadata = [pod.metadata for pod in pods]
    return [meta.name for meta in metadata], [meta.uid for meta in metadata]


def _share_all(pod: Pod, other: Pod) -> bool:
    """Whether two pods have the very same parts, apart from name and uid; most that are made together do."""
    meta, others = pod.metadata, other.metadata
    return (
        pod.spec is other.spec
        and meta.labels is others.labels
        and meta.annotations is others.annotations
        and meta.owner_references is others.owner_references
        and meta.namespace == others.namespace
        and meta.deletion_timestamp == others.deletion_timestamp
        and pod.status == other.status
    )


def _labels_stand_alone(spec: PodSpec) -> bool:
    """Whether labels are only that: affinity and spread may take values from them (``matchLabelKeys``)."""
    affinity = spec.affinity
    near = affinity is not None and (affinity.pod_affinity or affinity.pod_anti_affinity)
    return not (near or spec.topology_spread_constraints)
