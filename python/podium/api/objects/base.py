"""The base of all structs, and the types of what is not a struct.

Rules of the whole package:

* camelCase on the wire, snake case in Python; fields that nothing here reads are skipped on decoding.
* What upstream distinguishes from empty is ``None`` by default (``node_selector``, ``selector``,
  ``allocatable`` …). Sequences default to the empty tuple and decode to lists, so an explicit ``[]`` is
  encoded again while an absent one stays absent.
* Structs are shared (all pods of a workload have one ``spec``): change a copy
  (``msgspec.structs.replace``), never the object.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec

Quantity: TypeAlias = str | int | float
"""A quantity as a manifest holds it. After defaulting it is the canonical text, always a ``str``."""

ResourceList: TypeAlias = Mapping[str, Quantity]
"""Resource name to quantity."""

Labels: TypeAlias = Mapping[str, str]

Timestamp: TypeAlias = str
"""RFC 3339, as the API server writes it."""

Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""A number of 32 bits: the API server refuses larger ones when it reads them."""

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

IntOrString: TypeAlias = Int32 | str
"""A number, or a percentage such as ``"25%"``."""


class Base(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A part of an object."""


class Opaque(Base):
    """Something whose presence matters and whose content does not."""


class OwnerReference(Base):
    """Who made an object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Base):
    """Names, labels and times of an object."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: Labels = {}
    annotations: Labels = {}
    owner_references: Sequence[OwnerReference] = ()


class Object(Base, tag_field="kind"):
    """What has a kind and metadata. Subclasses set ``tag`` to the kind."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)


class LabelSelectorRequirement(Base):
    """One expression: In, NotIn, Exists or DoesNotExist."""

    key: str = ""
    operator: str = ""
    values: Sequence[str] = ()


class LabelSelector(Base):
    """All labels and expressions must match: ``LabelSelector()`` selects everything, ``None`` nothing."""

    match_labels: Labels = {}
    match_expressions: Sequence[LabelSelectorRequirement] = ()


class Condition(Base):
    """A condition of a pod, node, job, budget or group."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Timestamp | None = None


class ResourceRequirements(Base):
    """What a container or pod asks for and may use."""

    requests: ResourceList = {}
    limits: ResourceList = {}
    claims: Sequence[Opaque] = ()
