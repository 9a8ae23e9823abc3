"""DaemonSet: a pod for every node that matches, pinned to it by its name."""

from collections.abc import Iterator, Sequence

import msgspec

from podium.api.matching import fits_node, fits_taints
from podium.api.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Toleration,
)
from podium.api.objects.base import Object
from podium.api.objects.node import Node
from podium.api.objects.pod import PodSpec
from podium.api.objects.workloads import DaemonSet
from podium.api.workloads.owned import Surroundings
from podium.api.workloads.template import hash_of, names, pod

REVISION = "controller-revision-hash"
GENERATION = "pod-template-generation"

_NO_EXECUTE = ("not-ready", "unreachable")
_NO_SCHEDULE = ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")


def daemon_set(item: DaemonSet, around: Surroundings) -> Iterator[Object]:
    """Yield the pods of a DaemonSet that has none: one for each node it should run on."""
    if around.owned.by(item):
        return
    spec = item.spec.template.spec
    tolerations = [*spec.tolerations, *_added(spec)]
    template = msgspec.structs.replace(
        item.spec.template, spec=msgspec.structs.replace(spec, tolerations=tolerations)
    )
    labels = {REVISION: hash_of(item.spec.template), GENERATION: str(item.metadata.generation or 1)}
    for node, name in zip(_targets(template.spec, around.nodes), names(item), strict=False):
        made = pod(item, name, template, around, labels)
        made.spec = _pinned(made.spec, node)
        yield made


def _targets(spec: PodSpec, nodes: Sequence[Node]) -> list[Node]:
    return [
        node
        for node in nodes
        if spec.node_name in ("", node.metadata.name)
        and fits_node(spec, node)
        and fits_taints(spec.tolerations, node)
    ]


def _added(spec: PodSpec) -> list[Toleration]:
    """Return the tolerations that daemon pods have and the template does not."""
    wanted = [(key, "NoExecute") for key in _NO_EXECUTE]
    wanted += [(key, "NoSchedule") for key in _NO_SCHEDULE]
    if spec.host_network:
        wanted.append(("network-unavailable", "NoSchedule"))
    tolerations = [
        Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)
        for key, effect in wanted
    ]
    return [toleration for toleration in tolerations if toleration not in spec.tolerations]


def _pinned(spec: PodSpec, node: Node) -> PodSpec:
    """Return the spec bound to one node: required node affinity gives way to the node's name."""
    name = NodeSelectorRequirement(key="metadata.name", operator="In", values=[node.metadata.name])
    required = NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[name])])
    affinity = msgspec.structs.replace(spec.affinity) if spec.affinity else Affinity()
    preferred = affinity.node_affinity.preferred if affinity.node_affinity else ()
    affinity.node_affinity = NodeAffinity(required=required, preferred=preferred)
    return msgspec.structs.replace(spec, affinity=affinity)
