"""Pods on nodes share the objects of which they are made, where they say the same.

A hundred thousand pods of a few thousand workloads say the same things fifty times. Once they share what they
say, passes over all of them find it in the processor's cache.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from podium.api.likeness import keep, likeness
from podium.api.objects.pod import Pod

#: Texts and parts of each section that many pods have in common.
_TEXTS: Final[Mapping[str, Sequence[str]]] = {
    "metadata": ("namespace", "creation_timestamp"),
    "spec": ("node_name", "scheduler_name"),
}
_PARTS: Final[Mapping[str, Sequence[str]]] = {
    "metadata": ("labels", "owner_references"),
    "spec": ("affinity", "tolerations", "topology_spread_constraints", "node_selector"),
    "status": ("conditions", "container_statuses", "init_container_statuses"),
}


class Sharing:
    """The parts of the pods of one input. Pods are changed: nobody else may have them yet."""

    def __init__(self) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._texts: dict[str, str] = {}
        self._parts: dict[str, dict[bytes, object]] = defaultdict(dict)
        self._likenesses: dict[bytes, bytes] = {}

    def share(self, pod: Pod) -> None:
        """Let a pod have what others have already, and read it while it is at hand."""
        one = self._texts.setdefault
        for section, fields in _TEXTS.items():
            part = getattr(pod, section)
            for field in fields:
                text = getattr(part, field)
                if text:
                    setattr(part, field, one(text, text))
        for section, fields in _PARTS.items():
            part = getattr(pod, section)
            for field in fields:
                self._one(part, field)
        if not pod.spec.volumes:
            self._one(pod.spec, "containers")
        else:
            # The names of their mounts are those of volumes, which nobody else has.
            for container in pod.spec.containers:
                self._one(container, "resources")
        alike = likeness(pod)
        keep(pod, self._likenesses.setdefault(alike, alike))

    def _one(self, owner: Any, field: str) -> None:
        found = getattr(owner, field)
        if found:
            setattr(owner, field, self._parts[field].setdefault(self._encode(found), found))
