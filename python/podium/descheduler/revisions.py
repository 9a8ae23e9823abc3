"""Which pods are replicas of each other: of the same owners, with the same images. Read once per pod."""

from collections.abc import Sequence
from typing import NamedTuple

from podium.api import Pod


class Owner(NamedTuple):
    """An owner with the images of its pods: two revisions of a workload are no duplicates of each other."""

    namespace: str
    kind: str
    name: str
    images: tuple[str, ...]


class Revision:
    """What replicas have in common; there is one object for all of them.

    Attributes:
        namespace: theirs.
        owners: all of them, with the images.
        identity: a number that is equal for duplicates: with several owners all of them and the images are
            the same, in whatever order.

    """

    __slots__ = ("identity", "namespace", "owners")

    def __init__(self, namespace: str, owners: Sequence[Owner], identity: int) -> None:
        self.namespace = namespace
        self.owners = owners
        self.identity = identity


class Revisions:
    """All revisions of one cycle."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Revision] = {}
        self._identities: dict[object, int] = {}

    def of(self, pod: Pod) -> Revision:
        """Return the revision of a pod."""
        meta, containers = pod.metadata, pod.spec.containers
        owners = meta.owner_references
        key: tuple[object, ...]
        if len(owners) == 1 and len(containers) == 1:
            key = (meta.namespace, owners[0].kind, owners[0].name, containers[0].image)
        else:
            images = tuple(sorted([container.image for container in containers]))
            key = (meta.namespace, tuple([(owner.kind, owner.name) for owner in owners]), images)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._make(pod)
        return found

    def _make(self, pod: Pod) -> Revision:
        namespace = pod.metadata.namespace
        images = tuple(sorted([container.image for container in pod.spec.containers]))
        owners = [Owner(namespace, owner.kind, owner.name, images) for owner in pod.metadata.owner_references]
        identity: tuple[object, ...]
        if len(owners) == 1:
            identity = owners[0]
        else:
            identity = tuple(sorted("/".join((*owner[:3], image)) for owner in owners for image in images))
        return Revision(namespace, owners, self._identities.setdefault(identity, len(self._identities)))
