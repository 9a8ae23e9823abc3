"""SimKube traces (.sktrace, MessagePack, version 2): objects applied to and deleted from a cluster over time.

Traces hold workloads as they were tracked (Deployments, StatefulSets, CronJobs, bare pods …) and no nodes:
those come from ``-f``.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from podium.errors import InputError
from podium.simulator.traces.trace import Entry, Manifest, Trace

VERSION = 2
Identity = tuple[str, str, str]


class _Event(msgspec.Struct):
    ts: int
    applied_objs: list[dict[str, Any]]
    deleted_objs: list[dict[str, Any]]


class _File(msgspec.Struct):
    version: int
    events: list[_Event]
    pod_lifecycles: Any = None


def load_sktrace(path: str) -> Trace:
    """Read one ``FILE``. An object applied again is a later entry; its deletion ends the entry before it.

    Times are seconds after the first event. ``runs`` has the lifetimes that the trace recorded for the
    object's pods. Raises InputError.
    """
    file = _decode(path)
    start = file.events[0].ts if file.events else 0
    lifetimes = _lifetimes(file.pod_lifecycles)
    entries: list[Entry] = []
    live: dict[Identity, int] = {}
    for number, event in enumerate(file.events):
        at = float(event.ts - start)
        for manifest in event.applied_objs:
            named = _named(manifest, f"{path}: event {number}", len(entries))
            entry = Entry(named, f"{path}:{number}", at, None, lifetimes.get(_tracked_as(named), ()))
            live[entry.identity] = len(entries)
            entries.append(entry)
        for manifest in event.deleted_objs:
            gone = Entry(_named(manifest, f"{path}: event {number}", len(entries)), path).identity
            if gone in live:
                last = live.pop(gone)
                entries[last] = replace(entries[last], departs=at)
    return Trace(entries)


def _decode(path: str) -> _File:
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        version = msgspec.msgpack.decode(raw, type=dict[str, Any]).get("version")
        if version != VERSION:
            raise InputError(f"{path}: field version is {version!r}, this loader reads version {VERSION}")
        return msgspec.msgpack.decode(raw, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: not an sktrace file: {error}") from error


def _named(manifest: Manifest, where: str, number: int) -> Manifest:
    """Name the object: what the API server would have generated comes from its position."""
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(manifest.get("kind"), str):
        raise InputError(f"{where}: an object without kind and metadata")
    if not metadata.get("name"):
        if not metadata.get("generateName"):
            raise InputError(f"{where}: {manifest['kind']} without metadata.name")
        return {**manifest, "metadata": {**metadata, "name": f"{metadata['generateName']}{number:05d}"}}
    return manifest


def _tracked_as(manifest: Manifest) -> tuple[str, str]:
    """Make the key of the object in the trace's own index: (version.Kind, namespace/name)."""
    meta = manifest["metadata"]
    return f"{manifest.get('apiVersion')}.{manifest['kind']}", f"{meta.get('namespace')}/{meta['name']}"


def _lifetimes(recorded: Any) -> Mapping[tuple[str, str], tuple[float | None, ...]]:
    """Run times per tracked object; templates of one object (its versions) follow one another."""
    if not isinstance(recorded, dict):
        return {}
    found = {}
    for key, templates in recorded.items():
        if isinstance(key, tuple) and isinstance(templates, dict):
            lives = [life for each in templates.values() for life in each]
            found[key] = tuple(_run_time(life) for life in lives)
    return found


def _run_time(life: Any) -> float | None:
    match life:
        case {"Finished": [int(start), int(end)]}:
            return float(end - start)
    return None
