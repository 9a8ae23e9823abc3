"""Scenarios by number, and as a hypothesis strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.parity.generator.chooser import Chooser, DrawnChooser, SeededChooser
from tests.parity.generator.cluster import draw_tier_a
from tests.parity.generator.sequence import draw_tier_b
from tests.parity.generator.world import Object

TIERS: dict[str, Callable[[Chooser, str], Object]] = {"A": draw_tier_a, "B": draw_tier_b}


def seeded(tier: str, number: int) -> Object:
    """Scenario ``number`` of a tier: the same on every machine."""
    name = f"{tier.lower()}-{number}"
    return TIERS[tier](SeededChooser(name), name)


@st.composite
def scenarios(draw: Callable[..., Any], tier: str) -> Object:
    """The same scenarios, drawn by hypothesis."""
    return TIERS[tier](DrawnChooser(draw), "drawn")
