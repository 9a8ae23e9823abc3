"""Pods from a template."""

from collections.abc import Iterator, Mapping

import msgspec

from podium.api.identity import derived_uid, owner_reference, suffixes, template_hash
from podium.api.kinds import BY_TYPE
from podium.api.objects.base import Object, ObjectMeta
from podium.api.objects.pod import Pod, PodTemplateSpec
from podium.api.workloads.owned import Surroundings


def hash_of(template: PodTemplateSpec) -> str:
    """Return the short name of a template, as pod-template-hash and revisions have it."""
    return template_hash(msgspec.json.encode(template))


def made_by(owner: Object, name: str, template: ObjectMeta, labels: Mapping[str, str]) -> ObjectMeta:
    """Return the metadata of something a controller makes from a template, without uid."""
    return ObjectMeta(
        name=name,
        namespace=owner.metadata.namespace,
        labels={**template.labels, **labels},
        annotations=dict(template.annotations),
        creation_timestamp=owner.metadata.creation_timestamp,
        owner_references=[owner_reference(owner, BY_TYPE[type(owner)].api_version)],
    )


def pod(
    owner: Object,
    name: str,
    template: PodTemplateSpec,
    around: Surroundings,
    labels: Mapping[str, str],
) -> Pod:
    """Return one pod of a controller, admitted; raises InputError if the API server would refuse it."""
    metadata = made_by(owner, name, template.metadata, labels)
    metadata.generate_name = owner.metadata.name + "-"
    metadata.uid = derived_uid("Pod", metadata.namespace, name)
    return Pod(metadata=metadata, spec=around.admitted(metadata, template.spec))


def names(owner: Object) -> Iterator[str]:
    """Yield names for an owner's pods: its own name and a derived suffix."""
    prefix = owner.metadata.name + "-"
    return (prefix + suffix for suffix in suffixes(owner.metadata.uid))
