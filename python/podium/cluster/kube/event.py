"""What is written of an event (events.k8s.io/v1)."""

import secrets
import socket
import time
from datetime import UTC, datetime

import msgspec

from podium.api import BY_TYPE, Pod
from podium.cluster.port import Emit

About = tuple[str, str, str, str, str]
"""Type, action, reason, and the uids of the objects in question: events alike but for the note."""

_HOST = socket.gethostname()


class Ref(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """An object that an event is about."""

    kind: str
    name: str
    namespace: str
    uid: str
    api_version: str
    resource_version: str = ""


class Meta(msgspec.Struct):
    """An event's own name."""

    name: str
    namespace: str


class Series(msgspec.Struct, rename="camel"):
    """How often it was seen, from the second time on."""

    count: int
    last_observed_time: str


class Event(msgspec.Struct, rename="camel", omit_defaults=True):
    """The object, in the API's own fields."""

    api_version: str
    kind: str
    metadata: Meta
    event_time: str
    reporting_controller: str
    reporting_instance: str
    action: str
    reason: str
    regarding: Ref
    note: str
    type: str
    related: Ref | None = None
    series: Series | None = None


def about(event: Emit) -> About:
    """Return what an event has in common with all that differ in their note alone."""
    related = "" if event.related is None else event.related.metadata.uid
    return event.type, event.action, event.reason, event.pod.metadata.uid, related


def make(event: Emit, at: float) -> Event:
    """Return the object to write of what happened so many seconds after 1970."""
    regarding = _reference(event.pod)
    controller = event.pod.spec.scheduler_name or "default-scheduler"
    name = f"{regarding.name[:200]}.{time.time_ns():x}{secrets.token_hex(2)}"
    return Event(
        api_version="events.k8s.io/v1",
        kind="Event",
        metadata=Meta(name, regarding.namespace),
        event_time=micro_time(at),
        reporting_controller=controller,
        reporting_instance=f"{controller}-{_HOST}"[:128],
        action=event.action,
        reason=event.reason,
        regarding=regarding,
        note=event.note,
        type=event.type,
        related=None if event.related is None else _reference(event.related),
    )


def micro_time(at: float) -> str:
    """Write seconds since 1970 as Kubernetes' MicroTime."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _reference(pod: Pod) -> Ref:
    meta = pod.metadata
    version = BY_TYPE[Pod].api_version
    return Ref("Pod", meta.name, meta.namespace, meta.uid, version, meta.resource_version)
