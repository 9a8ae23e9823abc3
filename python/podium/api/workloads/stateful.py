"""StatefulSet: numbered pods, each with claims of its own."""

from collections.abc import Iterator, Sequence

import msgspec

from podium.api.identity import derived_uid
from podium.api.objects.base import Object, ObjectMeta
from podium.api.objects.pod import PodSpec
from podium.api.objects.storage import PersistentVolumeClaim
from podium.api.objects.volumes import ClaimReference, Volume
from podium.api.objects.workloads import StatefulSet
from podium.api.workloads.owned import Surroundings
from podium.api.workloads.template import hash_of, pod

REVISION = "controller-revision-hash"
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


def stateful_set(item: StatefulSet, around: Surroundings) -> Iterator[Object]:
    """Yield the pods of a StatefulSet that has none, each after its claims."""
    if around.owned.by(item):
        return
    revision = f"{item.metadata.name}-{hash_of(item.spec.template)}"
    start = item.spec.ordinals.start if item.spec.ordinals else 0
    count = 1 if item.spec.replicas is None else item.spec.replicas
    for ordinal in range(start, start + count):
        name = f"{item.metadata.name}-{ordinal}"
        claims = [_claim(item, template, name) for template in item.spec.volume_claim_templates]
        yield from claims
        labels = {REVISION: revision, POD_NAME: name, POD_INDEX: str(ordinal)}
        made = pod(item, name, item.spec.template, around, labels)
        made.spec = _with_claims(made.spec, item, claims)
        yield made


def _claim(item: StatefulSet, template: PersistentVolumeClaim, pod_name: str) -> PersistentVolumeClaim:
    selector = item.spec.selector.match_labels if item.spec.selector else {}
    name = f"{template.metadata.name}-{pod_name}"
    metadata = ObjectMeta(
        name=name,
        namespace=item.metadata.namespace,
        uid=derived_uid("PersistentVolumeClaim", item.metadata.namespace, name),
        labels={**template.metadata.labels, **selector},
        annotations=dict(template.metadata.annotations),
        creation_timestamp=item.metadata.creation_timestamp,
    )
    # Admission may set the class, so every claim has a spec of its own.
    return PersistentVolumeClaim(metadata=metadata, spec=msgspec.structs.replace(template.spec))


def _with_claims(spec: PodSpec, item: StatefulSet, claims: Sequence[PersistentVolumeClaim]) -> PodSpec:
    """Return the spec with a volume per claim; a claim replaces a volume of the template's name."""
    if not claims:
        return spec
    templates = [template.metadata.name for template in item.spec.volume_claim_templates]
    mounted = [
        Volume(name=name, persistent_volume_claim=ClaimReference(claim_name=claim.metadata.name))
        for name, claim in zip(templates, claims, strict=True)
    ]
    kept = [volume for volume in spec.volumes if volume.name not in templates]
    return msgspec.structs.replace(spec, volumes=[*mounted, *kept])
