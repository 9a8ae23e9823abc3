"""The contract between the scheduler and its plugins, and the configuration that chooses them.

What a plugin needs is here; ``config`` reads configurations, ``registry`` finds plugins and ``runner`` calls
them.
"""

from podium.framework.events import Action, ClusterEvent, EventRegistration, Hint, Resource
from podium.framework.handle import Handle, Overlay, WaitingPod
from podium.framework.nodes import Interned, NodeRow, NodesView
from podium.framework.normalize import default_normalize
from podium.framework.per_node import PerNodeFilter, PerNodeScore
from podium.framework.plugin import (
    DOMAIN,
    EVERYTHING,
    MAX_SCORE,
    MIN_SCORE,
    NODE,
    BindPlugin,
    DependsOn,
    FilterPlugin,
    NormalizeScore,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreBindPreFlight,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueuedPod,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.framework.results import FilterResult, NodeStatuses, PostFilterResult, PreFilterResult, PreFlight
from podium.framework.state import PODS_TO_ACTIVATE, CycleState, StateKey
from podium.framework.status import SUCCESS, Code, Status

__all__ = [
    "DOMAIN",
    "EVERYTHING",
    "MAX_SCORE",
    "MIN_SCORE",
    "NODE",
    "PODS_TO_ACTIVATE",
    "SUCCESS",
    "Action",
    "BindPlugin",
    "ClusterEvent",
    "Code",
    "CycleState",
    "DependsOn",
    "EventRegistration",
    "FilterPlugin",
    "FilterResult",
    "Handle",
    "Hint",
    "Interned",
    "NodeRow",
    "NodeStatuses",
    "NodesView",
    "NormalizeScore",
    "Overlay",
    "PerNodeFilter",
    "PerNodeScore",
    "PermitPlugin",
    "Plugin",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreBindPreFlight",
    "PreEnqueuePlugin",
    "PreFilterExtensions",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreFlight",
    "PreScorePlugin",
    "QueueSortPlugin",
    "QueuedPod",
    "ReservePlugin",
    "Resource",
    "ScorePlugin",
    "StateKey",
    "Status",
    "WaitingPod",
    "default_normalize",
]
