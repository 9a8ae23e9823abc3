"""Where a pod may go: node selectors, affinity, tolerations, spreading."""

from collections.abc import Sequence

import msgspec

from podium.api.objects.base import Base, Int32, Int64, LabelSelector


class NodeSelectorRequirement(Base):
    """In, NotIn, Exists, DoesNotExist, Gt or Lt over a node's labels or fields."""

    key: str = ""
    operator: str = ""
    values: Sequence[str] = ()


class NodeSelectorTerm(Base):
    """All requirements of one term; an empty term matches no node."""

    match_expressions: Sequence[NodeSelectorRequirement] = ()
    match_fields: Sequence[NodeSelectorRequirement] = ()


class NodeSelector(Base):
    """Any of the terms."""

    node_selector_terms: Sequence[NodeSelectorTerm] = ()


class PreferredSchedulingTerm(Base):
    """A term with a weight of 1..100."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = msgspec.field(default_factory=NodeSelectorTerm)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeAffinity(Base):
    """Required and preferred nodes."""

    required: NodeSelector | None = msgspec.field(name=_REQUIRED, default=None)
    preferred: Sequence[PreferredSchedulingTerm] = msgspec.field(name=_PREFERRED, default=())


class PodAffinityTerm(Base):
    """Pods that this pod wants near or far; both selectors distinguish ``None`` from empty."""

    label_selector: LabelSelector | None = None
    namespaces: Sequence[str] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: Sequence[str] = ()
    mismatch_label_keys: Sequence[str] = ()


class WeightedPodAffinityTerm(Base):
    """A pod affinity term with a weight of 1..100."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = msgspec.field(default_factory=PodAffinityTerm)


class PodAffinity(Base):
    """Required and preferred neighbours; the same shape serves anti-affinity."""

    required: Sequence[PodAffinityTerm] = msgspec.field(name=_REQUIRED, default=())
    preferred: Sequence[WeightedPodAffinityTerm] = msgspec.field(name=_PREFERRED, default=())


class Affinity(Base):
    """All affinities of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Base):
    """A taint that a pod bears; an absent operator is Equal, an absent key or effect is any."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(Base):
    """How evenly pods spread; the policies stay ``None`` as upstream leaves them."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: Sequence[str] = ()
