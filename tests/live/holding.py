"""A Permit plugin that holds every pod once, for a while that nobody ends."""

from __future__ import annotations

from msgspec import Struct
from podium.framework import Plugin, Status


class Hold(Plugin):
    name = "Hold"

    class Args(Struct):
        seconds: float = 2.0

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self._seen: set[str] = set()

    def applies_to(self, pod):
        return "held" in pod.metadata.labels

    def permit(self, state, pod, node_name):
        if pod.metadata.uid in self._seen:
            return None
        self._seen.add(pod.metadata.uid)
        return Status.wait(self.args.seconds, "held for a test")
