"""Pods in one line: ``make_pod("web").request(cpu="500m").label("app", "web").build()``.

A builder never changes: every method returns another one, so a half-built pod is a template. Results have
what the API server would fill in and plugins read (uid, phase, scheduler name); everything else is as given.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from podium.api import (
    Container,
    ContainerPort,
    LabelSelector,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodAffinityTerm,
    PodSpec,
    PodStatus,
    PreferredSchedulingTerm,
    Quantity,
    ResourceRequirements,
    SchedulingGate,
    SchedulingGroup,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from podium.api.objects.affinity import Affinity, PodAffinity
from podium.api.objects.volumes import Volume
from podium.testing.builder import Builder, copy_of, with_changes


def make_pod(name: str = "pod", namespace: str = "default") -> "PodBuilder":
    """Start a pending pod without containers."""
    meta = ObjectMeta(name=name, namespace=namespace, uid=f"pod-{namespace}-{name}")
    spec = PodSpec(scheduler_name="default-scheduler", restart_policy="Always")
    return PodBuilder(Pod(metadata=meta, spec=spec, status=PodStatus(phase="Pending")))


class PodBuilder(Builder):
    """A pod in the making."""

    def request(self, resources: Mapping[str, Quantity] | None = None, **more: Quantity) -> Self:
        """Add a container that requests this: ``request(cpu="500m", memory="1Gi")``."""
        return self.container({**(resources or {}), **more})

    def container(self, requests: Mapping[str, Quantity] | None = None, image: str = "image") -> Self:
        """Add a container."""
        containers = self.item.spec.containers
        own = _container(f"c{len(containers)}", requests, image)
        return self._spec(containers=[*containers, own])

    def init_container(self, requests: Mapping[str, Quantity], *, sidecar: bool = False) -> Self:
        """Add an init container, or a sidecar."""
        containers = self.item.spec.init_containers
        own = _container(f"i{len(containers)}", requests, "image")
        if sidecar:
            own = replace(own, restart_policy="Always")
        return self._spec(init_containers=[*containers, own])

    def host_port(self, port: int, protocol: str = "TCP", ip: str = "") -> Self:
        """Add a container that takes a port of the node."""
        ports = [ContainerPort(container_port=port, host_port=port, protocol=protocol, host_ip=ip)]
        own = Container(name=f"c{len(self.item.spec.containers)}", image="image", ports=ports)
        return self._spec(containers=[*self.item.spec.containers, own])

    def overhead(self, **resources: Quantity) -> Self:
        """Set the overhead."""
        return self._spec(overhead=resources)

    def node(self, name: str) -> Self:
        """Bind the pod to a node."""
        return self._spec(node_name=name)

    def nominated(self, name: str) -> Self:
        """Nominate the pod to a node."""
        return type(self)(
            with_changes(self.item, status=with_changes(self.item.status, nominated_node_name=name))
        )

    def priority(self, priority: int) -> Self:
        """Set the priority."""
        return self._spec(priority=priority)

    def preemption_policy(self, policy: str) -> Self:
        """Set the preemption policy: PreemptLowerPriority or Never."""
        return self._spec(preemption_policy=policy)

    def scheduler(self, name: str) -> Self:
        """Set the scheduler's name."""
        return self._spec(scheduler_name=name)

    def gate(self, name: str) -> Self:
        """Add a scheduling gate."""
        return self._spec(scheduling_gates=[*self.item.spec.scheduling_gates, SchedulingGate(name=name)])

    def group(self, name: str) -> Self:
        """Make the pod a member of a PodGroup."""
        return self._spec(scheduling_group=SchedulingGroup(pod_group_name=name))

    def owner(self, kind: str, name: str) -> Self:
        """Set the controller that owns the pod."""
        owner = OwnerReference(kind=kind, name=name, uid=f"{kind}-{name}".lower(), controller=True)
        return self._meta(owner_references=[owner])

    def claim(self, name: str) -> Self:
        """Add a volume of a PersistentVolumeClaim."""
        raw = {"name": f"v{len(self.item.spec.volumes)}", "persistentVolumeClaim": {"claimName": name}}
        return self._spec(volumes=[*self.item.spec.volumes, msgspec.convert(raw, Volume)])

    def toleration(self, key: str, value: str | None = None, effect: str = "") -> Self:
        """Tolerate a taint: any value, unless one is given."""
        operator = "Exists" if value is None else "Equal"
        own = Toleration(key=key, operator=operator, value=value or "", effect=effect)
        return self._spec(tolerations=[*self.item.spec.tolerations, own])

    def node_selector(self, labels: Mapping[str, str]) -> Self:
        """Require labels of the node."""
        return self._spec(node_selector={**(self.item.spec.node_selector or {}), **labels})

    def node_affinity(self, key: str, operator: str, values: Sequence[str] = ()) -> Self:
        """Require an expression about the node's labels, besides those given before."""
        own = NodeSelectorRequirement(key=key, operator=operator, values=list(values))
        affinity = self._affinity()
        current = affinity.node_affinity or NodeAffinity()
        before = current.required.node_selector_terms[0].match_expressions if current.required else ()
        term = NodeSelectorTerm(match_expressions=[*before, own])
        required = NodeSelector(node_selector_terms=[term])
        return self._spec(affinity=replace(affinity, node_affinity=replace(current, required=required)))

    def prefer_node(self, weight: int, key: str, operator: str, values: Sequence[str] = ()) -> Self:
        """Prefer nodes whose labels match an expression."""
        own = NodeSelectorRequirement(key=key, operator=operator, values=list(values))
        term = PreferredSchedulingTerm(weight=weight, preference=NodeSelectorTerm(match_expressions=[own]))
        affinity = self._affinity()
        current = affinity.node_affinity or NodeAffinity()
        changed = replace(current, preferred=[*current.preferred, term])
        return self._spec(affinity=replace(affinity, node_affinity=changed))

    def pod_affinity(self, key: str, labels: Mapping[str, str], weight: int | None = None) -> Self:
        """Require (or prefer, with a weight) pods with these labels in the same domain of label ``key``."""
        affinity = self._affinity()
        changed = _add_term(affinity.pod_affinity, _pod_term(key, labels), weight)
        return self._spec(affinity=replace(affinity, pod_affinity=changed))

    def pod_anti_affinity(self, key: str, labels: Mapping[str, str], weight: int | None = None) -> Self:
        """Forbid (or avoid, with a weight) pods with these labels in the same domain of label ``key``."""
        affinity = self._affinity()
        changed = _add_term(affinity.pod_anti_affinity, _pod_term(key, labels), weight)
        return self._spec(affinity=replace(affinity, pod_anti_affinity=changed))

    def spread(
        self, key: str, labels: Mapping[str, str], max_skew: int = 1, unsatisfiable: str = "DoNotSchedule"
    ) -> Self:
        """Spread pods with these labels over the domains of label ``key``."""
        own = TopologySpreadConstraint(
            max_skew=max_skew,
            topology_key=key,
            when_unsatisfiable=unsatisfiable,
            label_selector=LabelSelector(match_labels=dict(labels)),
        )
        constraints = [*self.item.spec.topology_spread_constraints, own]
        return self._spec(topology_spread_constraints=constraints)

    def _affinity(self) -> Affinity:
        affinity: Affinity | None = self.item.spec.affinity
        return affinity or Affinity()

    def _spec(self, **changes: Any) -> Self:
        return type(self)(with_changes(self.item, spec=with_changes(self.item.spec, **changes)))

    def build(self) -> Pod:
        """Return the pod, a copy of its own."""
        return copy_of(self.item, Pod)


def _container(name: str, requests: Mapping[str, Quantity] | None, image: str) -> Container:
    return Container(name=name, image=image, resources=ResourceRequirements(requests=dict(requests or {})))


def _pod_term(key: str, labels: Mapping[str, str]) -> PodAffinityTerm:
    return PodAffinityTerm(topology_key=key, label_selector=LabelSelector(match_labels=dict(labels)))


def _add_term(current: PodAffinity | None, term: PodAffinityTerm, weight: int | None) -> PodAffinity:
    current = current or PodAffinity()
    if weight is None:
        return replace(current, required=[*current.required, term])
    weighted = WeightedPodAffinityTerm(weight=weight, pod_affinity_term=term)
    return replace(current, preferred=[*current.preferred, weighted])
