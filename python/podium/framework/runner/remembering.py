"""Asking Python filters and scores for some nodes at a time, so that what they say can be remembered.

That is possible where every plugin that judges a pod depends on the node alone (``depends_on = NODE``), and
none looks at all nodes together before or after (PreFilter, PreScore, NormalizeScore).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.framework.nodes import NodesView
from podium.framework.plugin import NODE
from podium.framework.runner.calls import Calls, Failure
from podium.framework.runner.filtering import Answer, ask_filter, unusable
from podium.framework.runner.members import Member, Members
from podium.framework.runner.scoring import ask_score
from podium.framework.state import CycleState
from podium.framework.status import Code, Status

#: One mask per filter, and the scores and weight of each score plugin.
Answers = tuple[list[NDArray[np.bool_]], list[tuple[NDArray[np.int64], int]]]

#: Points before a node is found that cannot be remembered.
_OF_ALL_NODES = ("preFilter", "preScore")

#: Points from the node that has been found on.
_AFTER = ("reserve", "permit", "preBind", "bind", "postBind")


@dataclass(frozen=True, slots=True)
class Judges:
    """The filters and scores that concern some pods.

    Attributes:
        up_to_node: whether other points have plugins for them too, from Reserve on.

    """

    filters: tuple[Member, ...]
    scores: tuple[Member, ...]
    up_to_node: bool

    @property
    def members(self) -> tuple[Member, ...]:
        """All of them."""
        return (*self.filters, *self.scores)

    def __bool__(self) -> bool:
        """Whether there is anything to ask."""
        return bool(self.filters or self.scores)

    def ask(self, calls: Calls, state: CycleState, pod: Pod, nodes: NodesView) -> Answers | None:
        """Ask about the nodes of a view; None if a plugin fails, which is then to be found out in full."""
        masks: list[NDArray[np.bool_]] = []
        for member in self.filters:
            result = ask_filter(calls, member, state, pod, nodes)
            if isinstance(result, Status):
                return None
            code = result.code
            simple = isinstance(code, Code) and code.is_rejected
            if not simple and unusable(Answer(member.name, member.order, result, ~result.mask)) is not None:
                return None
            masks.append(result.mask)
        scores: list[tuple[NDArray[np.int64], int]] = []
        for member in self.scores:
            answer = ask_score(calls, member, state, pod, nodes)
            if isinstance(answer, Failure):
                return None
            scores.append((answer, member.weight))
        return masks, scores


def judges_of(members: Members, concerned: frozenset[str]) -> Judges | None:
    """Return who judges pods that these plugins concern; None if it cannot be remembered."""
    at = members.of_concerned(concerned)
    if any(at[point] for point in _OF_ALL_NODES):
        return None
    judges = (*at["filter"], *at["score"])
    if any(getattr(member.plugin, "depends_on", None) != NODE for member in judges):
        return None
    if any(member.also is not None for member in at["score"]):
        return None
    after = any(at[point] for point in _AFTER)
    return Judges(at["filter"], at["score"], after)
