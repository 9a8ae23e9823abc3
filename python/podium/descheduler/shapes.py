"""Pods that are alike to the descheduler, read once: what holds for one of them holds for all.

A hundred thousand pods are of a few thousand shapes, so most questions need no pass over pods.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import msgspec

from podium._core import Quantity
from podium.api import Pod, PodSpec
from podium.api.likeness import likeness
from podium.descheduler.annotations import READ
from podium.descheduler.ordering import Importance, importance
from podium.descheduler.requests import Requests
from podium.descheduler.revisions import Revision, Revisions

#: Shapes of earlier cycles that may be kept beyond twice those of a cycle.
_SPARE: Final = 1024


#: Phases in which a pod takes no resources any more.
_ENDED: Final = frozenset({"Succeeded", "Failed"})


def is_active(pod: Pod) -> bool:
    """Tell whether a pod still takes resources: it has not succeeded or failed."""
    return pod.status.phase not in _ENDED


class Shape:
    """What pods have in common that are alike in all that the descheduler reads of them.

    Their names, nodes and ages may differ, and most of their status (``podium.api.likeness``).

    Attributes:
        example: one of them, perhaps of an earlier cycle.
        requests: what each requests; equal requests are one object.
        revision: whose replicas they are.
        has_ended: whether they take no resources any more.

    """

    def __init__(self, example: Pod, requests: Mapping[str, Quantity], revision: Revision) -> None:
        self.example = example
        self.requests = requests
        self.revision = revision
        self.has_ended = not is_active(example)

    @property
    def spec(self) -> PodSpec:
        """The specification, of which the name of the node means nothing."""
        return self.example.spec

    @cached_property
    def importance(self) -> Importance:
        """In what order pods go."""
        return importance(self.example)


class Shapes:
    """The shapes of all pods, remembered over cycles."""

    def __init__(self) -> None:
        self.requests = Requests()
        self._revisions = Revisions()
        self._known: dict[bytes, Shape] = {}

    def begin(self, pods: int) -> None:
        """Begin a cycle with so many pods."""
        most = 2 * pods + _SPARE
        if len(self._known) > most:
            self._known.clear()
            self.requests = Requests()
            self._revisions = Revisions()

    def of(self, pod: Pod) -> Shape:
        """Return the shape of a pod; the same object for pods that are alike."""
        key = likeness(pod)
        if pod.metadata.annotations:
            key += _read(pod.metadata.annotations)
        shape = self._known.get(key)
        if shape is None:
            shape = Shape(pod, self.requests.of(pod), self._revisions.of(pod))
            self._known[key] = shape
        return shape


def _read(annotations: Mapping[str, str]) -> bytes:
    """Return the annotations that the descheduler reads."""
    found = [(key, annotations[key]) for key in READ if key in annotations]
    return msgspec.json.encode(found) if found else b""
