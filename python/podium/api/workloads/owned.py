"""What a controller finds when it looks around: its pods and the nodes."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from podium.api.kinds import kind_of
from podium.api.matching import selects
from podium.api.objects.base import LabelSelector, Object, ObjectMeta
from podium.api.objects.node import Node
from podium.api.objects.pod import Pod, PodSpec


class Owned:
    """Who owns something among the inputs, by uid and, where a manifest has no uids, by name."""

    def __init__(self, items: Iterable[Object]) -> None:
        self._uids: set[str] = set()
        self._names: set[tuple[str, str, str]] = set()
        self._of_replica_sets: dict[str, list[tuple[str, Pod]]] = {}
        for item in items:
            self._add(item)

    def _add(self, item: Object) -> None:
        namespace = item.metadata.namespace
        for owner in item.metadata.owner_references:
            if owner.uid:
                self._uids.add(owner.uid)
            self._names.add((owner.kind, namespace, owner.name))
            if owner.kind == "ReplicaSet" and isinstance(item, Pod):
                self._of_replica_sets.setdefault(namespace, []).append((owner.name, item))

    def by(self, owner: Object) -> bool:
        """Tell whether the owner has something already."""
        meta = owner.metadata
        return meta.uid in self._uids or (kind_of(type(owner)), meta.namespace, meta.name) in self._names

    def through_replica_sets(self, owner: Object, labels: LabelSelector | None) -> bool:
        """Tell whether a Deployment has pods of ReplicaSets that are not among the inputs."""
        prefix = owner.metadata.name + "-"
        return any(
            name.startswith(prefix) and selects(labels, pod.metadata.labels)
            for name, pod in self._of_replica_sets.get(owner.metadata.namespace, ())
        )


class Surroundings(NamedTuple):
    """What expansion depends on besides the workload."""

    owned: Owned
    nodes: Sequence[Node]
    admitted: Callable[[ObjectMeta, PodSpec], PodSpec]
    """The spec that a pod with this metadata has once it is created from a template's spec: one object for
    all pods for which it is equal. Raises InputError if the API server would refuse the pod."""
    cron_jobs: bool = False
    """Whether a CronJob makes its next Job."""
