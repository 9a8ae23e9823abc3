"""Checks around the queue: classes, events, order, gates."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from podium.api import Pod
from podium.errors import PluginError
from podium.framework.hints import HintTable
from podium.framework.status import Code
from podium.testing.subject import Subject


def check_applies_to(subject: Subject) -> Iterator[str]:
    """Check that applies_to is a bool that pods of one class share."""
    plugin = subject.fresh().plugin
    for pod in subject.pods:
        twin = replace(pod, metadata=replace(pod.metadata, name="twin", uid="twin"))
        answers = []
        for asked in (pod, twin):
            try:
                answers.append(plugin.applies_to(asked))
            except Exception as error:  # noqa: BLE001 (a fault of the plugin, to be reported)
                yield f"applies_to raised {type(error).__name__}: {error}"
                return
        if not all(isinstance(answer, bool) for answer in answers):
            yield f"applies_to returned {type(answers[0]).__name__}, expected bool"
            return
        if answers[0] != answers[1]:
            yield "applies_to differs for pods that differ in name and uid only: it is asked once per class"
            return


def check_events(subject: Subject) -> Iterator[str]:
    """Check what events_to_register returns."""
    plugin = subject.fresh().plugin
    try:
        HintTable.of({subject.info.name: plugin})
    except PluginError as error:
        yield str(error)


@dataclass(frozen=True, slots=True)
class SampleQueued:
    """A pod in the queue."""

    pod: Pod
    timestamp: float
    attempts: int


def check_less(subject: Subject) -> Iterator[str]:
    """Check that less is a strict order: irreflexive, asymmetric, transitive."""
    less = subject.fresh().runner.less()
    if less is None:
        return
    queued = [SampleQueued(pod, float(at % 3), at % 2) for at, pod in enumerate(subject.pods)]
    pairs = list(itertools.product(range(len(queued)), repeat=2))
    try:
        before = {(a, b): less(queued[a], queued[b]) for a, b in pairs}
    except PluginError as error:
        yield str(error)
        return
    for a, b in pairs:
        if before[a, b] and before[b, a]:
            yield "less is no order: two pods, or a pod and itself, are each before the other"
            return
        if before[a, b] and any(before[b, c] and not before[a, c] for c in range(len(queued))):
            yield "less is not transitive"
            return


def check_pre_enqueue(subject: Subject) -> Iterator[str]:
    """Check that pre_enqueue answers for every pod, and the same twice."""
    runner = subject.fresh().runner
    for pod in subject.pods:
        first, second = runner.pre_enqueue(pod), runner.pre_enqueue(pod)
        if first.code is Code.ERROR:
            yield first.message
        elif first != second:
            yield f"pre_enqueue is not stable: {first}, then {second}"
