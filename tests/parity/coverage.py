"""How much scenarios say: what each plugin rejected, and where its scores differed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from tests.parity.process import Answer

# Plugins that Podium implements; the oracle runs DynamicResources as well, which no scenario uses.
FILTERS = (
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeDeclaredFeatures",
)
SCORES = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
)


@dataclass
class Coverage:
    """Counts over any number of answers."""

    scenarios: int = 0
    pods: int = 0
    pairs: int = 0
    rejected: Counter[str] = field(default_factory=Counter)  # plugin → (pod, node) pairs
    differing: Counter[str] = field(default_factory=Counter)  # score plugin → scenarios
    contested: int = 0  # pods with three feasible nodes or more, not all equal
    results: Counter[str] = field(default_factory=Counter)
    sequences: int = 0
    cycles: int = 0
    filled: int = 0  # sequences in which resources ran out on some node
    preempting: int = 0

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        if answer["tier"] == "A":
            self._add_judgements(answer)
        else:
            self._add_sequence(answer)

    def merge(self, other: Coverage) -> None:
        """Add another's counts."""
        for counts in fields(self):
            value = getattr(self, counts.name) + getattr(other, counts.name)
            setattr(self, counts.name, value)

    def _add_judgements(self, answer: Answer) -> None:
        self.scenarios += 1
        differing: set[str] = set()
        for pod in answer["pods"]:
            self.results[pod["result"]] += 1
            if "evaluated" not in pod:
                continue
            self.pods += 1
            self.pairs += len(answer["snapshot"])
            for rejections in pod.get("filter", {}).values():
                self.rejected.update(rejections.keys())
            scores = pod.get("scores", {})
            differing |= _differing(scores)
            self.contested += len(scores) >= 3 and len({s["total"] for s in scores.values()}) > 1
        self.differing.update(differing)

    def _add_sequence(self, answer: Answer) -> None:
        self.sequences += 1
        steps = [step for step in answer["steps"] if step]
        self.cycles += len(steps)
        self.results.update(step["result"] for step in steps)
        texts = [step.get("message", "") for step in steps]
        self.filled += any("Insufficient" in text or "Too many pods" in text for text in texts)
        self.preempting += any(step.get("nominated") for step in steps)

    def shares(self) -> dict[str, float]:
        """Every count that has a target, as a share of what it is counted over."""
        found = {f"{name} rejects": self.rejected[name] / max(1, self.pairs) for name in FILTERS}
        found |= {f"{name} differs": self.differing[name] / max(1, self.scenarios) for name in SCORES}
        found["contested pods"] = self.contested / max(1, self.pods)
        found["sequences that fill nodes"] = self.filled / max(1, self.sequences)
        found["sequences that preempt"] = self.preempting / max(1, self.sequences)
        return found


def _differing(scores: dict[str, Any]) -> set[str]:
    values: dict[str, set[int]] = {}
    for score in scores.values():
        for plugin, (_, normalized, _) in score["plugins"].items():
            values.setdefault(plugin, set()).add(normalized)
    return {plugin for plugin, seen in values.items() if len(seen) > 1}


def targets() -> dict[str, float]:
    """What a run must reach, by the names of ``Coverage.shares``."""
    found = {f"{name} rejects": 0.01 for name in FILTERS}
    found |= {f"{name} differs": 0.01 for name in SCORES}
    return found | {
        "contested pods": 0.30,
        "sequences that fill nodes": 0.10,
        "sequences that preempt": 0.05,
    }
