"""The conformance kit: whether a plugin keeps the contract."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from podium.api import Node, Pod
from podium.errors import PluginError
from podium.framework.plugin import Plugin
from podium.framework.points import ENQUEUE_POINTS
from podium.framework.registry import PluginInfo, Registry
from podium.testing.check_cycle import (
    check_filters,
    check_post_filter,
    check_pre_filter_extensions,
    check_scores,
)
from podium.testing.check_effects import check_binding, check_permit, check_reserve
from podium.testing.check_queue import check_applies_to, check_events, check_less, check_pre_enqueue
from podium.testing.handle import FakeHandle
from podium.testing.samples import sample_bound_pods, sample_nodes, sample_pods
from podium.testing.subject import Subject


@dataclass(frozen=True, slots=True)
class Report:
    """A plugin that conforms: its name, the points it was tried at, and remarks that are no faults."""

    name: str
    points: tuple[str, ...]
    notes: tuple[str, ...] = ()


#: The checks; each yields what is wrong, in words.
CHECKS: Final[tuple[Callable[[Subject], Iterator[str]], ...]] = (
    check_applies_to,
    check_events,
    check_less,
    check_pre_enqueue,
    check_filters,
    check_pre_filter_extensions,
    check_post_filter,
    check_scores,
    check_reserve,
    check_permit,
    check_binding,
)


def check_plugin(
    plugin: type[Plugin],
    args: msgspec.Struct | None = None,
    *,
    nodes: Sequence[Node] | None = None,
    pods: Sequence[Pod] | None = None,
    handle: Callable[[], FakeHandle] = FakeHandle,
) -> Report:
    """Try a plugin at every point it implements, on many nodes and pods.

    It is called as the scheduler calls it, and must: answer with the right types and codes, give the same
    answer to the same question, also from several threads and with the nodes in another order, leave what it
    is shown as it is, depend on no more than ``depends_on`` says, keep a cloned state apart, and be able to
    unreserve what it did or did not reserve.

    Args:
        plugin: the class.
        args: its arguments; default: those of its ``Args`` without any field given.
        nodes: what it is shown; default: a dozen nodes of many kinds.
        pods: the pending pods it is asked about, with ``spec.node_name`` empty; default: ten of many kinds.
        handle: makes the handle of each instance, for plugins that need custom columns or waiting pods.

    Returns:
        What was tried.

    Raises:
        PluginError: one line for each fault.

    """
    info = Registry.build(installed=()).register(plugin)
    shown = list(nodes) if nodes is not None else sample_nodes()
    subject = Subject(
        info=info,
        args=_args_of(info, args),
        nodes=shown,
        bound=sample_bound_pods(shown),
        pods=list(pods) if pods is not None else sample_pods(),
        make_handle=handle,
    )
    subject.fresh()
    faults = [fault for check in CHECKS for fault in check(subject)]
    if faults:
        lines = "".join(f"\n  {fault}" for fault in dict.fromkeys(faults))
        raise PluginError(f'plugin "{info.name}" does not keep the contract:{lines}')
    return Report(info.name, info.points, tuple(_notes(subject)))


def _args_of(info: PluginInfo, args: Any) -> Any:
    kind = info.args_type
    if kind is None:
        if args is not None:
            raise PluginError(f'plugin "{info.name}" takes no arguments')
        return None
    if args is None:
        try:
            return kind()
        except TypeError as error:
            raise PluginError(f'plugin "{info.name}" needs arguments, give some: {error}') from None
    if not isinstance(args, kind):
        raise PluginError(
            f'plugin "{info.name}": args must be {kind.__qualname__}, not {type(args).__name__}'
        )
    return args


def _notes(subject: Subject) -> Iterator[str]:
    if subject.has(*ENQUEUE_POINTS) and subject.fresh().plugin.events_to_register() is None:
        yield "events_to_register returns None: a rejected pod is tried again after every event"
    if subject.has("filter", "score") and subject.fresh().plugin.depends_on.kind == "everything":
        yield "depends_on is EVERYTHING: filter and score are called in every cycle"
