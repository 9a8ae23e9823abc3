"""What Python plugins said of nodes, remembered in tables of the core until the node changes."""

import itertools
import logging
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from podium.api import Pod
from podium.framework.runner import Answers, Judges, Runner
from podium.framework.state import CycleState
from podium.scheduler.entry import Entry
from podium.scheduler.handle import Services

#: Tables that are told apart; beyond that all start afresh.
_TABLES = 1 << 16

log = logging.getLogger("podium.framework")


class Remembered:
    """The tables of all profiles: pods share one if their plugins cannot tell them apart."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.kinds = itertools.count()
        """Numbers of kinds of pods."""
        self._numbers = itertools.count()
        self._tables: dict[Hashable, int] = {}

    def table(self, runner: Runner, judges: Judges, pod: Pod, pod_class: Hashable) -> int:
        """Return the table of a pod, a new one if there is none for what its plugins read of it."""
        read = tuple(_key(member.name, member.plugin, pod) for member in judges.members)
        at = (id(runner), judges, pod_class if None in read else read)
        known = self._tables.get(at)
        if known is None:
            if len(self._tables) >= _TABLES:
                self._tables.clear()
            known = self._tables[at] = next(self._numbers)
        return known

    def ask(self, entry: Entry, runner: Runner, rows: NDArray[np.uint32]) -> Answers | None:
        """Ask what is not remembered for a pod, about rows of the core; None if a plugin fails."""
        judges = runner.judges(entry.concerned)
        if judges is None:
            return None
        state = CycleState(concerned=entry.concerned)
        return runner.ask(judges, state, entry.pod, self._services.view_at(rows))


def _key(name: str, plugin: object, pod: Pod) -> Hashable | None:
    try:
        key: Hashable = plugin.pod_key(pod)  # type: ignore[attr-defined]  # every Plugin has it
        hash(key)
    except Exception:
        # Whoever cannot tell is asked about every class.
        log.exception("plugin %s failed at pod_key", name)
        return None
    return key
