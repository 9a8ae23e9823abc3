"""HTTP extenders as plugins: asked after all filters, added to all scores, first of all binders.

Rules: ``extender.go``, ``findNodesThatPassExtenders``, ``prioritizeNodes`` and ``extendersBinding`` of the
scheduler in ``k8s.io/kubernetes`` at v1.37.2. As there, the dry runs of preemption and nominated pods do not
ask them, a failed ``prioritize`` counts as no opinion, and an ignorable extender that fails is left out.
Scores outside 0 to 10 are taken for the nearest of these.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium.api import Container, Pod
from podium.errors import ExtenderError
from podium.framework.config import SchedulerConfig
from podium.framework.config.v1 import Extender
from podium.framework.handle import Handle
from podium.framework.plugin import MAX_SCORE, Plugin
from podium.framework.results import FilterResult
from podium.framework.state import CycleState
from podium.framework.status import Code, Status
from podium.scheduler.nodes import SnapshotNodes

log = logging.getLogger("podium.scheduler")

#: The best score an extender can give (``MaxExtenderPriority``).
_MAX_PRIORITY: Final = 10

_encode: Final = msgspec.json.Encoder().encode


class Client(Protocol):
    """Reaches one extender."""

    def post(self, verb: str, body: bytes) -> bytes:
        """Send a request; ExtenderError if it fails."""


class ExtenderPlugin(Plugin):
    """One extender in one profile."""

    name = "Extender"

    def __init__(self, name: str, extender: Extender, client: Client, handle: Handle) -> None:
        super().__init__(None, handle)
        self.name = name  # type: ignore[misc]  # there is one plugin for each extender
        self._extender = extender
        self._client = client
        self._managed = frozenset(resource.name for resource in extender.managed_resources)

    def applies_to(self, pod: Pod) -> bool:
        """Whether it manages a resource that the pod names, or manages none in particular."""
        spec = pod.spec
        containers: Iterable[Container] = (*spec.containers, *spec.init_containers)
        return not self._managed or any(self._manages(container) for container in containers)

    def _manages(self, container: Container) -> bool:
        resources = container.resources
        return not self._managed.isdisjoint((*resources.requests, *resources.limits))

    def filter(self, state: CycleState, pod: Pod, nodes: SnapshotNodes) -> FilterResult:  # noqa: ARG002
        """Ask which of the nodes that are left will do."""
        mask = np.ones(len(nodes), np.bool_)
        if not self._extender.filter_verb or not nodes.is_whole:
            return FilterResult(mask)
        rows = np.flatnonzero(nodes.candidates)
        try:
            answer = self._ask(self._extender.filter_verb, self._args(pod, nodes, rows))
            kept = self._kept(answer, {str(nodes.names[row]): int(row) for row in rows})
        except ExtenderError as error:
            if not self._extender.ignorable:
                raise
            log.warning("extender %s is ignored: %s", self._extender.url_prefix, error)
            return FilterResult(mask)
        mask[rows] = False
        mask[kept] = True
        return _with_reasons(mask, nodes, answer)

    def _kept(self, answer: Mapping[str, Any], positions: Mapping[str, int]) -> list[int]:
        names = answer.get("nodenames") if self._extender.node_cache_capable else None
        if names is None:
            items = _lower(answer.get("nodes")).get("items") or ()
            names = [item["metadata"]["name"] for item in items]
        for name in names:
            if name not in positions:
                who = f'extender "{self._extender.url_prefix}"'
                text = f'claims a filtered node "{name}" which is not found in the input node list'
                raise ExtenderError(f"{who} {text}")
        return [positions[name] for name in names]

    def score(self, state: CycleState, pod: Pod, nodes: SnapshotNodes) -> NDArray[np.int64]:  # noqa: ARG002
        """Ask how good the feasible nodes are; a failure is no opinion."""
        scores = np.zeros(len(nodes), np.int64)
        try:
            body = self._client.post(
                self._extender.prioritize_verb, self._args(pod, nodes, np.flatnonzero(nodes.candidates))
            )
            given = [_lower(one) for one in msgspec.json.decode(body) or ()]
            for one in given:
                priority = min(max(int(one["score"]), 0), _MAX_PRIORITY)
                scores[nodes.index(one["host"])] = priority * (MAX_SCORE // _MAX_PRIORITY)
        except (ExtenderError, msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
            log.warning("extender %s has no say in scores: %s", self._extender.url_prefix, error)
            scores[:] = 0
        return scores

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:  # noqa: ARG002
        """Let the extender bind the pod."""
        meta = pod.metadata
        args = {"PodName": meta.name, "PodNamespace": meta.namespace, "PodUID": meta.uid, "Node": node_name}
        self._ask(self._extender.bind_verb, _encode(args))
        return None

    def preempt(
        self, pod: Pod, victims: Mapping[str, tuple[Sequence[Pod], int]]
    ) -> dict[str, tuple[list[str], int]]:
        """Return which of the nodes, with which victims (uids) and violated budgets, the extender agrees to.

        Raises:
            ExtenderError: if it fails or names a node without victims, unless it is ignorable.

        """
        whole = {
            node: {"Pods": list(pods), "NumPDBViolations": count} for node, (pods, count) in victims.items()
        }
        meta = {
            node: {"Pods": [{"UID": pod.metadata.uid} for pod in pods], "NumPDBViolations": count}
            for node, (pods, count) in victims.items()
        }
        key = "NodeNameToMetaVictims" if self._extender.node_cache_capable else "NodeNameToVictims"
        sent = meta if self._extender.node_cache_capable else whole
        answer = self._ask(self._extender.preempt_verb, _encode({"Pod": pod, key: sent}))
        agreed = {}
        for node, own in (answer.get("nodenametometavictims") or {}).items():
            entry = _lower(own)
            uids = [_lower(one)["uid"] for one in entry.get("pods") or ()]
            if uids:
                agreed[node] = (uids, int(entry.get("numpdbviolations") or 0))
            elif not self._extender.ignorable:
                raise ExtenderError(f'expected at least one victim pod on node "{node}"')
        return agreed

    @property
    def preempts(self) -> bool:
        """Whether it has a say in preemption."""
        return bool(self._extender.preempt_verb)

    @property
    def is_ignorable(self) -> bool:
        """Whether its failures are nobody's."""
        return self._extender.ignorable

    def _args(self, pod: Pod, nodes: SnapshotNodes, rows: NDArray[np.intp]) -> bytes:
        if self._extender.node_cache_capable:
            names = [str(name) for name in nodes.names[rows]]
            return _encode({"Pod": pod, "Nodes": None, "NodeNames": names})
        items = {"metadata": {}, "items": [nodes.node(int(row)) for row in rows]}
        return _encode({"Pod": pod, "Nodes": items, "NodeNames": None})

    def _ask(self, verb: str, body: bytes) -> dict[str, Any]:
        try:
            answer = _lower(msgspec.json.decode(self._client.post(verb, body)))
        except msgspec.DecodeError as error:
            raise ExtenderError(f"extender {self._extender.url_prefix}: {verb}: {error}") from error
        if answer.get("error"):
            raise ExtenderError(str(answer["error"]))
        return answer


def _lower(answer: Any) -> dict[str, Any]:
    """Return an object by lower-case keys: Go reads names in any case, so extenders write them in any."""
    return {str(key).lower(): value for key, value in answer.items()} if isinstance(answer, dict) else {}


def _with_reasons(mask: NDArray[np.bool_], nodes: SnapshotNodes, answer: Mapping[str, Any]) -> FilterResult:
    failed = answer.get("failednodes") or {}
    never = answer.get("failedandunresolvablenodes") or {}
    codes = np.full(len(mask), int(Code.UNSCHEDULABLE), np.int64)
    reason = np.zeros(len(mask), np.int64)
    texts: dict[str, int] = {"node(s) didn't satisfy an extender": 0}
    for row in np.flatnonzero(~mask & nodes.candidates):
        name = str(nodes.names[row])
        if name in never:
            codes[row] = int(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
        text = never.get(name) or failed.get(name)
        if text:
            reason[row] = texts.setdefault(str(text), len(texts))
    return FilterResult(mask, tuple(texts), reason, codes)


#: Makes the plugin of an extender for a profile, given its handle.
Factory = Callable[[Handle], ExtenderPlugin]


def with_extenders(
    config: SchedulerConfig, client: Callable[[Extender], Client]
) -> tuple[SchedulerConfig, dict[str, Factory]]:
    """Return a configuration whose profiles have the extenders among their plugins, and how to make them."""
    if not config.extenders:
        return config, {}
    factories: dict[str, Factory] = {}
    places: dict[str, list[tuple[str, int]]] = {"filter": [], "score": [], "bind": []}
    for number, extender in enumerate(config.extenders):
        name = f"Extender[{number}]"
        factories[name] = _factory(name, extender, client(extender))
        if extender.filter_verb or extender.preempt_verb:
            places["filter"].append((name, 0))
        if extender.prioritize_verb:
            places["score"].append((name, extender.weight))
        if extender.bind_verb:
            places["bind"].append((name, 0))
    profiles = [
        msgspec.structs.replace(
            profile,
            points={
                **profile.points,
                "filter": [*profile.points["filter"], *places["filter"]],
                "score": [*profile.points["score"], *places["score"]],
                "bind": [*places["bind"], *profile.points["bind"]],
            },
        )
        for profile in config.profiles
    ]
    return msgspec.structs.replace(config, profiles=profiles), factories


def _factory(name: str, extender: Extender, client: Client) -> Factory:
    return lambda handle: ExtenderPlugin(name, extender, client, handle)
