"""Deployment, ReplicaSet and ReplicationController: a number of equal pods."""

from collections.abc import Iterator

import msgspec

from podium.api.identity import derived_uid
from podium.api.objects.base import LabelSelector, Object
from podium.api.objects.pod import PodTemplateSpec
from podium.api.objects.workloads import Deployment, ReplicaSet, ReplicaSetSpec, ReplicationController
from podium.api.workloads.owned import Surroundings
from podium.api.workloads.template import hash_of, made_by, names, pod

TEMPLATE_HASH = "pod-template-hash"


def replica_set(item: ReplicaSet, around: Surroundings) -> Iterator[Object]:
    """Yield the pods of a ReplicaSet that has none."""
    if not around.owned.by(item):
        yield from _pods(item, item.spec.template, around)


def replication_controller(item: ReplicationController, around: Surroundings) -> Iterator[Object]:
    """Yield the pods of a ReplicationController that has none."""
    if item.spec.template is not None and not around.owned.by(item):
        yield from _pods(item, item.spec.template, around)


def _pods(
    item: ReplicaSet | ReplicationController, template: PodTemplateSpec, around: Surroundings
) -> Iterator[Object]:
    count = 1 if item.spec.replicas is None else item.spec.replicas
    for name, _ in zip(names(item), range(count), strict=False):
        yield pod(item, name, template, around, {})


def deployment(item: Deployment, around: Surroundings) -> Iterator[Object]:
    """Yield the ReplicaSet of a Deployment that has none; a paused Deployment makes none."""
    spec = item.spec
    has_pods = around.owned.by(item) or around.owned.through_replica_sets(item, spec.selector)
    if not spec.paused and not has_pods:
        yield _new_replica_set(item)


def _new_replica_set(item: Deployment) -> ReplicaSet:
    name = hash_of(item.spec.template)
    mark = {TEMPLATE_HASH: name}
    template = msgspec.structs.replace(item.spec.template)
    labels = {**template.metadata.labels, **mark}
    template.metadata = msgspec.structs.replace(template.metadata, labels=labels)
    selector = item.spec.selector or LabelSelector()
    selector = msgspec.structs.replace(selector, match_labels={**selector.match_labels, **mark})
    metadata = made_by(item, f"{item.metadata.name}-{name}", item.spec.template.metadata, mark)
    metadata.annotations = {}
    metadata.uid = derived_uid("ReplicaSet", metadata.namespace, metadata.name)
    spec = ReplicaSetSpec(replicas=item.spec.replicas, selector=selector, template=template)
    return ReplicaSet(metadata=metadata, spec=spec)
