"""Whether what Podium says of a scenario is what kube-scheduler said: asked in one way, or in every way."""

from __future__ import annotations

from collections.abc import Callable

from tests.parity.compare import Mismatch, compare
from tests.parity.engines import disagreements, upstream_disagreements
from tests.parity.process import Answer, Scenario

RAISED = "raised"  # the path of a mismatch that is an error of Podium's
WAYS = "ways"  # the path of a mismatch between ways of playing a sequence

Answerer = Callable[[Scenario], Answer]
Judge = Callable[[Answer, Scenario], list[Mismatch]]


def one_way(answerer: Answerer) -> Judge:
    """Hold an answer function against the oracle's answers."""

    def judge(expected: Answer, scenario: Scenario) -> list[Mismatch]:
        try:
            return compare(expected, answerer(scenario))
        except Exception as error:  # noqa: BLE001  whatever Podium raises is a mismatch, and the run goes on
            return [Mismatch(RAISED, "an answer", repr(error))]

    return judge


def every_way(answerer: Answerer, seed: int) -> Judge:
    """The same, and for a sequence every engine (engines.py) as upstream and as the seed chooses."""
    alone = one_way(answerer)

    def judge(expected: Answer, scenario: Scenario) -> list[Mismatch]:
        found = alone(expected, scenario)
        if found or scenario["tier"] == "A":
            return found
        try:
            texts = upstream_disagreements(scenario, expected) + disagreements(scenario, seed)
        except Exception as error:  # noqa: BLE001  as above
            return [Mismatch(RAISED, "the same in every way", repr(error))]
        return [Mismatch(WAYS, "the same in every way", text) for text in texts]

    return judge
