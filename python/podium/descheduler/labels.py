"""Pods by namespace and label: a selector looks at the pods of its rarest label alone."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from podium.api import LabelSelector, Pod
from podium.api.matching import selects


class Labelled:
    """An index over pods; answers keep their order. Labels do not change while it is used."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self._all: dict[str, list[Pod]] = defaultdict(list)
        self._having: dict[str, dict[tuple[str, str], list[Pod]]] = {}
        for pod in pods:
            self._all[pod.metadata.namespace].append(pod)

    def namespaces(self) -> Iterable[str]:
        """Return the namespaces that have pods, in order of appearance."""
        return self._all.keys()

    def of(self, namespace: str) -> Sequence[Pod]:
        """Return the pods of a namespace."""
        return self._all.get(namespace, ())

    def selected(self, namespace: str, selector: LabelSelector | None) -> list[Pod]:
        """Return the pods of a namespace that a selector selects; None selects nothing."""
        if selector is None:
            return []
        return [pod for pod in self._likely(namespace, selector) if selects(selector, pod.metadata.labels)]

    def _likely(self, namespace: str, selector: LabelSelector) -> Sequence[Pod]:
        """Return pods among which are all that the selector selects."""
        having = self._having.get(namespace)
        if having is None:
            having = self._having[namespace] = defaultdict(list)
            for pod in self._all.get(namespace, ()):
                for pair in pod.metadata.labels.items():
                    having[pair].append(pod)
        pairs = [*selector.match_labels.items()]
        one = (item for item in selector.match_expressions if item.operator == "In" and len(item.values) == 1)
        pairs += [(item.key, item.values[0]) for item in one]
        lists = [having.get(pair, ()) for pair in pairs]
        return min(lists, key=len, default=self._all.get(namespace, ()))
