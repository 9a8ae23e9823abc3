"""RemoveDuplicates: pods of one owner and the same images that share a node and could use others."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from podium.api import Node, Pod
from podium.descheduler.framework import Handle, PluginType, Point, evict_all
from podium.descheduler.nodefit import Mask
from podium.descheduler.podfilter import Namespaces, namespace_problems, pod_filter
from podium.descheduler.policy.model import Wire

NAME: Final = "RemoveDuplicates"


class Args(Wire):
    """``exclude_owner_kinds`` leaves out pods with such an owner."""

    GO_NAME = "RemoveDuplicatesArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    exclude_owner_kinds: Sequence[str] = ()


class _Owner(NamedTuple):
    """An owner with the images of its pods: two revisions are no duplicates of each other."""

    namespace: str
    kind: str
    name: str
    images: tuple[str, ...]


class _Duplicates:
    """What is counted over all nodes."""

    def __init__(self) -> None:
        self.occurrences: Counter[_Owner] = Counter()
        self.surplus: dict[_Owner, dict[str, list[Pod]]] = defaultdict(lambda: defaultdict(list))

    def add_node(self, node: str, pods: Iterable[Pod]) -> None:
        """Count the pods of a node; the first of a kind is the one that may stay."""
        seen: set[tuple[object, ...]] = set()
        for pod in pods:
            owners = _owners(pod)
            for owner in owners:
                self.occurrences[owner] += 1
            identity = _identity(owners)
            if identity in seen:
                for owner in owners:
                    self.surplus[owner][node].append(pod)
            seen.add(identity)


class Duplicates:
    """Evicts, per owner and node, what is above the even share over the nodes that its duplicates may use."""

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._kinds = frozenset(args.exclude_owner_kinds)
        self._pods = pod_filter(
            self._is_owned,
            handle.evictor.filter,
            handle.evictor.pre_eviction_filter,
            namespaces=args.namespaces,
        )

    def _is_owned(self, pod: Pod) -> bool:
        owners = pod.metadata.owner_references
        return bool(owners) and not any(owner.kind in self._kinds for owner in owners)

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evict owner by owner."""
        world = self._handle.world
        owned = {node.metadata.name: world.active_on(node.metadata.name) for node in nodes}
        doubled = _doubled(owned.values())
        found = _Duplicates()
        for name, pods in owned.items():
            listed = [pod for pod in pods if not doubled.isdisjoint(_names(pod))]
            found.add_node(name, filter(self._pods, listed))
        here = world.fit.rows(nodes)
        for owner, by_node in found.surplus.items():
            targets = self._targets(by_node.values(), here)
            if targets < 2:
                continue
            share = math.ceil(found.occurrences[owner] / targets)
            surplus = (pods[share - 1 :] for pods in by_node.values())
            if not all(evict_all(self._handle.evictor, pods, NAME) for pods in surplus):
                return

    def _targets(self, groups: Iterable[Sequence[Pod]], here: Mask) -> int:
        """Count the nodes whose labels and taints admit a duplicate that has more than one such node."""
        fit = self._handle.world.fit
        targets = np.zeros_like(here)
        masks = {id(mask): mask for mask in (fit.admitted(pod) for pods in groups for pod in pods)}
        for mask in masks.values():
            admitted = mask & here
            if np.count_nonzero(admitted) > 1:
                targets |= admitted
        return int(np.count_nonzero(targets))


_Name = tuple[str, str, str]
"""Namespace, kind and name of an owner."""


def _names(pod: Pod) -> list[_Name]:
    meta = pod.metadata
    namespace = meta.namespace
    return [(namespace, owner.kind, owner.name) for owner in meta.owner_references]


def _doubled(groups: Iterable[Sequence[Pod]]) -> set[_Name]:
    """Return the owners that have two pods on a node: only pods of these can be duplicates."""
    found: set[_Name] = set()
    for pods in groups:
        names = [name for pod in pods for name in _names(pod)]
        distinct = set(names)
        if len(distinct) < len(names):
            found.update(name for name, number in Counter(names).items() if number > 1)
    return found


def _identity(owners: Sequence[_Owner]) -> tuple[object, ...]:
    """Return what is equal for duplicates: with several owners all of them and the images are the same."""
    if len(owners) == 1:
        return owners[0]
    return tuple(sorted("/".join((*owner[:3], image)) for owner in owners for image in owner.images))


def _owners(pod: Pod) -> list[_Owner]:
    images = tuple(sorted([container.image for container in pod.spec.containers]))
    namespace = pod.metadata.namespace
    return [_Owner(namespace, owner.kind, owner.name, images) for owner in pod.metadata.owner_references]


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    return namespace_problems(args.namespaces)


PLUGIN: Final = PluginType(NAME, frozenset({Point.BALANCE}), Args, Duplicates, validate)
