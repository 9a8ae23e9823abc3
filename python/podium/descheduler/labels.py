"""Pods by namespace and label: a selector is asked of shapes, not of pods."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import merge

from podium.api import LabelSelector, Pod
from podium.api.matching import selects
from podium.descheduler.shapes import Shape

Group = tuple[Sequence[Pod], Sequence[Shape]]
"""Pods, and their shapes in the same order."""


class Labelled:
    """An index over pods; answers keep their order. Labels do not change while it is used."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._pods: list[Pod] = []
        shapes: list[Shape] = []
        for pods, alike in groups:
            self._pods += pods
            shapes += alike
        self._at: dict[Shape, list[int]] = defaultdict(list)
        for place, shape in enumerate(shapes):
            self._at[shape].append(place)
        self._shapes: dict[str, list[Shape]] = defaultdict(list)
        for shape in self._at:
            self._shapes[shape.example.metadata.namespace].append(shape)
        self._having: dict[str, dict[tuple[str, str], list[Shape]]] = {}

    def namespaces(self) -> Iterable[str]:
        """Return the namespaces that have pods, in order of appearance."""
        return self._shapes.keys()

    def shapes(self, namespace: str) -> Sequence[Shape]:
        """Return the shapes of the pods of a namespace, in order of appearance."""
        return self._shapes.get(namespace, ())

    def of(self, namespace: str) -> list[Pod]:
        """Return the pods of a namespace."""
        return self._in_order(self.shapes(namespace))

    def selected(self, namespace: str, selector: LabelSelector | None) -> list[Pod]:
        """Return the pods of a namespace that a selector selects; None selects nothing."""
        if selector is None:
            return []
        likely = self._likely(namespace, selector)
        return self._in_order([item for item in likely if selects(selector, item.example.metadata.labels)])

    def _in_order(self, shapes: Sequence[Shape]) -> list[Pod]:
        pods = self._pods
        if len(shapes) == 1:
            return [pods[place] for place in self._at[shapes[0]]]
        return [pods[place] for place in merge(*map(self._at.__getitem__, shapes))]

    def _likely(self, namespace: str, selector: LabelSelector) -> Sequence[Shape]:
        """Return shapes among which are all that the selector selects: those with its rarest label."""
        having = self._having.get(namespace)
        if having is None:
            having = self._having[namespace] = defaultdict(list)
            for shape in self.shapes(namespace):
                for pair in shape.example.metadata.labels.items():
                    having[pair].append(shape)
        pairs = [*selector.match_labels.items()]
        one = (item for item in selector.match_expressions if item.operator == "In" and len(item.values) == 1)
        pairs += [(item.key, item.values[0]) for item in one]
        lists = [having.get(pair, ()) for pair in pairs]
        return min(lists, key=len, default=self.shapes(namespace))
