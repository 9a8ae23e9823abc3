"""The extension points: their names in a configuration, in messages, and as Python methods.

One table serves the configuration (which plugin runs where), the registry (what a class implements)
and the runner (in which order). Names, and their order, are kube-scheduler's.
"""

from collections.abc import Iterable

#: Extension point -> the methods whose presence makes a Python plugin part of it. The order is that in which
#: kube-scheduler checks a profile (``getExtensionPoints``), so the first error is the same. Points without
#: methods exist in configurations and for native plugins only.
POINT_METHODS: dict[str, tuple[str, ...]] = {
    "preFilter": ("pre_filter",),
    "filter": ("filter",),
    "postFilter": ("post_filter",),
    "reserve": ("reserve", "unreserve"),
    "preScore": ("pre_score",),
    "score": ("score",),
    "preBind": ("pre_bind",),
    "bind": ("bind",),
    "postBind": ("post_bind",),
    "permit": ("permit",),
    "preEnqueue": ("pre_enqueue",),
    "queueSort": ("less",),
    "placementGenerate": (),
    "placementScore": (),
    "podGroupPostFilter": (),
}

POINTS: tuple[str, ...] = tuple(POINT_METHODS)

#: Points whose plugins have a weight.
WEIGHTED_POINTS = frozenset({"score", "placementScore"})

#: Points of the scheduling cycle, in which calls must be quick and must not wait.
CYCLE_POINTS = ("preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit")

#: Points of the binding cycle: calls may be ``async def`` and may take time.
BINDING_POINTS = ("preBind", "bind", "postBind")

#: A rejection at one of these points is remembered, and only a registered event brings the pod back.
ENQUEUE_POINTS = frozenset({"preEnqueue", "preFilter", "filter", "reserve", "permit"})


def label(point: str) -> str:
    """Return the value of the ``extension_point`` metric label, e.g. ``PreFilter``."""
    return point[:1].upper() + point[1:]


def interface(point: str) -> str:
    """Return kube-scheduler's interface name, which its messages use, e.g. ``PreFilterPlugin``."""
    return f"{label(point)}Plugin"


def in_order(points: Iterable[str]) -> tuple[str, ...]:
    """Sort extension points into the order of the table."""
    wanted = frozenset(points)
    return tuple(point for point in POINTS if point in wanted)
