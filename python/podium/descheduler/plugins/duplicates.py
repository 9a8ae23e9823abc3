"""RemoveDuplicates: pods of one owner and the same images that share a node and could use others."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import numpy as np

from podium.api import Node, Pod
from podium.descheduler.framework import Handle, PluginType, Point, evict_all
from podium.descheduler.nodefit import Mask
from podium.descheduler.podfilter import Namespaces, namespace_problems, pod_filter
from podium.descheduler.policy.model import Wire
from podium.descheduler.revisions import Owner, Revision

NAME: Final = "RemoveDuplicates"


class Args(Wire):
    """``exclude_owner_kinds`` leaves out pods with such an owner."""

    GO_NAME = "RemoveDuplicatesArgs"
    api_version: str = ""
    kind: str = ""
    namespaces: Namespaces | None = None
    exclude_owner_kinds: Sequence[str] = ()


class _Duplicates:
    """What is counted over all nodes."""

    def __init__(self) -> None:
        self._replicas: Counter[Revision] = Counter()
        self.surplus: dict[Owner, dict[str, list[Pod]]] = defaultdict(lambda: defaultdict(list))

    def add_node(self, node: str, listed: Iterable[tuple[Pod, Revision]]) -> None:
        """Count the pods of a node; the first of a kind is the one that may stay."""
        seen: set[int] = set()
        for pod, revision in listed:
            self._replicas[revision] += 1
            if revision.identity in seen:
                for owner in revision.owners:
                    self.surplus[owner][node].append(pod)
            seen.add(revision.identity)

    def occurrences(self) -> Counter[Owner]:
        """Return how many pods each owner has."""
        found: Counter[Owner] = Counter()
        for revision, number in self._replicas.items():
            for owner in revision.owners:
                found[owner] += number
        return found


class Duplicates:
    """Evicts, per owner and node, what is above the even share over the nodes that its duplicates may use."""

    def __init__(self, args: Args, handle: Handle) -> None:
        self._handle = handle
        self._kinds = frozenset(args.exclude_owner_kinds)
        self._pods = pod_filter(
            handle.evictor.filter, handle.evictor.pre_eviction_filter, namespaces=args.namespaces
        )

    def balance(self, nodes: Sequence[Node]) -> None:
        """Evict owner by owner."""
        world = self._handle.world
        shapes = {node.metadata.name: world.shapes_on(node.metadata.name) for node in nodes}
        revised = {name: [shape.revision for shape in alike] for name, alike in shapes.items()}
        wanted = self._wanted(revised.values())
        found = _Duplicates()
        for name, revisions in revised.items():
            pairs = zip(world.active_on(name), revisions, strict=True)
            found.add_node(name, [pair for pair in pairs if pair[1] in wanted and self._pods(pair[0])])
        occurrences, here = found.occurrences(), world.fit.rows(nodes)
        for owner, by_node in found.surplus.items():
            targets = self._targets(by_node.values(), here)
            if targets < 2:
                continue
            share = math.ceil(occurrences[owner] / targets)
            surplus = (pods[share - 1 :] for pods in by_node.values())
            if not all(evict_all(self._handle.evictor, pods, NAME) for pods in surplus):
                return

    def _wanted(self, groups: Collection[Sequence[Revision]]) -> set[Revision]:
        """Return the revisions to look at: of owners that may have duplicates, and of no excluded kind."""
        owners = {owner for revision in _doubled(groups) for owner in revision.owners}
        return {
            revision
            for revision in {revision for group in groups for revision in group}
            if not owners.isdisjoint(revision.owners)
            and self._kinds.isdisjoint([owner.kind for owner in revision.owners])
        }

    def _targets(self, groups: Iterable[Sequence[Pod]], here: Mask) -> int:
        """Count the nodes whose labels and taints admit a duplicate that has more than one such node."""
        fit = self._handle.world.fit
        targets = np.zeros_like(here)
        masks = {id(mask): mask for mask in [fit.admitted(pod) for pods in groups for pod in pods]}
        for mask in masks.values():
            admitted = mask & here
            if np.count_nonzero(admitted) > 1:
                targets |= admitted
        return int(np.count_nonzero(targets))


def _doubled(groups: Iterable[Sequence[Revision]]) -> set[Revision]:
    """Return the revisions of which two pods with one identity are on a node."""
    found: set[Revision] = set()
    for revisions in groups:
        identities = [revision.identity for revision in revisions]
        if len(set(identities)) < len(identities):
            numbers = Counter(identities)
            found.update(revision for revision in revisions if numbers[revision.identity] > 1)
    return found


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    return namespace_problems(args.namespaces)


PLUGIN: Final = PluginType(NAME, frozenset({Point.BALANCE}), Args, Duplicates, validate)
