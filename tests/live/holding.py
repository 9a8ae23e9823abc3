"""A Permit plugin that holds pods for a while that nobody ends: once, or whenever they come."""

from __future__ import annotations

from msgspec import Struct
from podium.framework import Action, ClusterEvent, EventRegistration, Plugin, Resource, Status


class Hold(Plugin):
    name = "Hold"

    class Args(Struct):
        seconds: float = 2.0
        patient: bool = False
        """Whether pods that waited in vain are tried again only when their labels change."""

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self._seen: set[str] = set()

    def applies_to(self, pod):
        return pod.metadata.labels.get("held") in {"once", "always"}

    def events_to_register(self):
        if not self.args.patient:
            return super().events_to_register()
        return [EventRegistration(ClusterEvent(Resource.TARGET_POD, Action.UPDATE_POD_LABEL))]

    def permit(self, state, pod, node_name):
        if pod.metadata.uid in self._seen and pod.metadata.labels["held"] == "once":
            return None
        self._seen.add(pod.metadata.uid)
        return Status.wait(self.args.seconds, "held for a test")
