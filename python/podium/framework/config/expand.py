"""Merges a profile's plugin sets with the defaults, and expands ``multiPoint`` into a list per point.

Rules: ``mergePluginSet`` (``k8s.io/kubernetes/pkg/scheduler/apis/config/v1``) and ``NewFramework`` /
``expandMultiPointPlugins`` (``k8s.io/kubernetes/pkg/scheduler/framework/runtime``) at v1.37.2.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from podium.framework.config.v1 import PluginEntry, PluginSet
from podium.framework.points import POINTS, WEIGHTED_POINTS, interface

#: What runs at each point, in order, with the weight (0 where the point has none).
Points = dict[str, list[tuple[str, int]]]
#: The points a plugin implements, or None for a plugin that does not exist.
Implements = Callable[[str], AbstractSet[str] | None]
#: Receives the point (or ``multiPoint``), the plugin and what is wrong.
Report = Callable[[str, str, str], None]


def merge(defaults: Mapping[str, PluginSet], custom: Mapping[str, PluginSet]) -> dict[str, PluginSet]:
    """Merge what a profile says with the defaults, point by point (``multiPoint`` is one of them)."""
    return {
        point: _merge_set(defaults.get(point, PluginSet()), custom.get(point, PluginSet()))
        for point in ("multiPoint", *POINTS)
    }


def _merge_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """Keep the defaults' order, replace those that are configured again, append the rest.

    Of a plugin that is listed twice, the last entry replaces the default and the others are appended;
    expansion then refuses the repetition.
    """
    disabled = (*custom.disabled, *default.disabled)
    off = {entry.name for entry in disabled}
    last = {entry.name: at for at, entry in enumerate(custom.enabled)}
    enabled: list[PluginEntry] = []
    replaced: set[int] = set()
    for entry in default.enabled if "*" not in off else ():
        if entry.name in off:
            continue
        if entry.name in last:
            replaced.add(last[entry.name])
            entry = custom.enabled[last[entry.name]]
        enabled.append(entry)
    enabled.extend(entry for at, entry in enumerate(custom.enabled) if at not in replaced)
    return PluginSet(
        enabled=tuple(enabled), disabled=tuple(PluginEntry(name=entry.name) for entry in disabled)
    )


def expand(sets: Mapping[str, PluginSet], implements: Implements, report: Report) -> Points:
    """Return what runs at each point: overrides, then ``multiPoint``, then the other plugins of the point.

    An override is a plugin that is listed at the point as well as in ``multiPoint``; overrides run in the
    order of the point's own list. The result is meaningful only if nothing was reported.
    """
    known = [entry for entry in sets["multiPoint"].enabled if _exists(entry.name, implements, report)]
    points: Points = {}
    for point in POINTS:
        own = _own_plugins(point, sets[point].enabled, implements, report)
        names = _expand_point(point, own, known, _Point(sets[point], implements, report))
        points[point] = [(name, _weight(point, name, own, known)) for name in names]
    return points


def _exists(name: str, implements: Implements, report: Report) -> bool:
    if implements(name) is None:
        report("multiPoint", name, f'{interface("preFilter")} "{name}" does not exist')
        return False
    return True


def _own_plugins(
    point: str, enabled: Sequence[PluginEntry], implements: Implements, report: Report
) -> dict[str, PluginEntry]:
    own: dict[str, PluginEntry] = {}
    for entry in enabled:
        points = implements(entry.name)
        if points is None:
            report(point, entry.name, f'{interface(point)} "{entry.name}" does not exist')
        elif point not in points:
            report(point, entry.name, f'plugin "{entry.name}" does not extend {interface(point)} plugin')
        elif entry.name in own:
            report(point, entry.name, f'plugin "{entry.name}" already registered as "{interface(point)}"')
        else:
            own[entry.name] = entry
    return own


class _Point:
    """What the expansion of one point asks about a plugin."""

    def __init__(self, plugins: PluginSet, implements: Implements, report: Report) -> None:
        self.disabled = {entry.name for entry in plugins.disabled}
        self.implements = implements
        self.report = report


def _expand_point(
    point: str, own: Mapping[str, PluginEntry], multi: Sequence[PluginEntry], context: _Point
) -> list[str]:
    if "*" in context.disabled:
        return list(own)
    overrides: set[str] = set()
    from_multi: dict[str, None] = {}
    for entry in multi:
        name = entry.name
        if point not in (context.implements(name) or ()) or name in context.disabled:
            continue
        if name in own:
            overrides.add(name)
        elif name in from_multi:
            context.report("multiPoint", name, f'plugin "{name}" already registered as "{interface(point)}"')
        else:
            from_multi[name] = None
    return [
        *(name for name in own if name in overrides),
        *from_multi,
        *(name for name in own if name not in overrides),
    ]


def _weight(point: str, name: str, own: Mapping[str, PluginEntry], multi: Sequence[PluginEntry]) -> int:
    """Return the weight: the point's own entry first, else the one in ``multiPoint``; none and 0 count as 1.

    The sum of weight times 100 cannot exceed 64 bits, since a weight has 32.
    """
    if point not in WEIGHTED_POINTS:
        return 0
    entry = own.get(name) or next((entry for entry in multi if entry.name == name), PluginEntry())
    return entry.weight or 1
