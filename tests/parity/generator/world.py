"""What the builders of one scenario share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.parity.generator.chooser import Chooser, chance
from tests.parity.generator.quantities import Amounts

Object = dict[str, Any]

# Each trait switches one family of features on, with this probability in percent. A scenario with all of
# them would reject everything everywhere; one with none would say nothing.
TRAITS = {
    "odd": 30,  # quantities in unusual forms
    "scalars": 35,  # extended resources, huge pages, ephemeral storage
    "sidecars": 30,  # init containers of both kinds
    "podlevel": 20,  # pod-level resources, overhead
    "resize": 20,  # in-place resize states of bound pods
    "terminating": 25,
    "ports": 30,
    "images": 40,
    "taints": 40,
    "nodeaffinity": 36,
    "pins": 8,  # matchFields, nodeName
    "spread": 35,
    "owners": 35,  # services and controllers, for the default spread constraints
    "interpod": 33,
    "volumes": 48,  # claims and volumes
    "inline": 20,  # volumes named in the pod itself
    "limits": 30,  # CSINode limits, attachments
    "nominated": 25,
    "priorities": 45,
    "budgets": 25,
    "features": 15,  # declared features of nodes
    "full": 12,  # nodes have little room left
    "contention": 14,  # they are full of pods that matter less than the pending ones
    "weights": 30,
    "arguments": 40,
    "disabled": 20,
    "profiles": 15,
    "huge": 2,
}


@dataclass
class World:
    """A scenario under construction: its objects so far, and the room that is left on its nodes."""

    c: Chooser
    traits: frozenset[str]
    scenario: Object
    room: dict[str, Amounts] = field(default_factory=dict)
    profiles: list[str] = field(default_factory=list)
    owners: list[tuple[str, Object]] = field(default_factory=list)  # namespace, ownerReference
    started: dict[str, int] = field(default_factory=dict)  # pods that each node has seen start
    serial: int = 0

    def has(self, trait: str) -> bool:
        """Whether this scenario has a trait."""
        return trait in self.traits

    def often(self, trait: str, percent: int) -> bool:
        """Whether a feature of a trait is used this time."""
        return trait in self.traits and chance(self.c, percent)

    def add(self, kind: str, obj: Object) -> Object:
        """Put an object into one of the scenario's lists."""
        self.scenario.setdefault(kind, []).append(obj)
        return obj

    def all(self, kind: str) -> list[Object]:
        """The objects of a kind so far."""
        found: list[Object] = self.scenario.get(kind, [])
        return found

    def node_names(self) -> list[str]:
        """Names of the nodes so far."""
        return [node["metadata"]["name"] for node in self.all("nodes")]

    def number(self) -> int:
        """Count up: for names, and for what must differ between objects."""
        self.serial += 1
        return self.serial


# What leaves preemption little to do: it helps against lack of room, ports, spread and anti-affinity only.
HOPELESS = {"nodeaffinity", "pins", "features", "volumes", "inline", "huge", "taints"}


def draw_traits(c: Chooser) -> frozenset[str]:
    """Choose what this scenario is about."""
    traits = {trait for trait, percent in TRAITS.items() if chance(c, percent)}
    if "contention" in traits:
        traits = traits - HOPELESS | {"full", "priorities"}
    return frozenset(traits)


def new_world(c: Chooser, tier: str, name: str) -> World:
    """Start a scenario."""
    traits = draw_traits(c)
    return World(c, traits, {"id": name, "tier": tier, "traits": sorted(traits)})
