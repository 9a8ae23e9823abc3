"""What plugins remember during one attempt to schedule one pod, from PreFilter to PostBind."""

import copy
import threading
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np

from podium.errors import PluginError

T = TypeVar("T")
D = TypeVar("D")

_NOBODY: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class StateKey(Generic[T]):
    """A typed name in the state: ``COUNTS: StateKey[dict[str, int]] = StateKey("Spread/counts")``.

    Two keys with the same name are the same key; start the name with that of the plugin.
    """

    name: str


#: Pods that a plugin wants in the active queue when the cycle, or the binding cycle, ends.
PODS_TO_ACTIVATE: StateKey[dict[str, Any]] = StateKey("kubernetes.io/pods-to-activate")


class CycleState:
    """Thread-safe storage of one scheduling attempt.

    ``clone`` gives preemption and what-if questions a state of their own: values with a ``clone()`` method
    are cloned, lists, dicts, sets and writable arrays are copied one level deep, everything else is shared
    and must not change. The skip sets are the framework's: plugins that answered SKIP and are left out for
    the rest of the attempt.
    """

    __slots__ = (
        "_lock",
        "_values",
        "concerned",
        "members",
        "parallel_pre_bind",
        "skip_all_post_filter",
        "skip_filter",
        "skip_pre_bind",
        "skip_score",
    )

    def __init__(self, concerned: frozenset[str] | None = None) -> None:
        self.concerned = concerned
        """The plugins that the pod concerns; None: all."""
        self.members: Any = None
        """The same by extension point, once the runner has asked; a state is one runner's."""
        self.skip_filter = self.skip_score = self.skip_pre_bind = self.parallel_pre_bind = _NOBODY
        self.skip_all_post_filter = False
        self._values: dict[str, Any] = {}
        self._lock = threading.Lock()

    def write(self, key: StateKey[T], value: T) -> None:
        """Store a value, replacing what was there."""
        with self._lock:
            self._values[key.name] = value

    def read(self, key: StateKey[T]) -> T:
        """Return the value of a key.

        Raises:
            PluginError: if nothing was written under it in this attempt.

        """
        with self._lock:
            if key.name in self._values:
                value: T = self._values[key.name]
                return value
        raise PluginError(f'cycle state has no "{key.name}": write it in pre_filter or pre_score first')

    @overload
    def get(self, key: StateKey[T]) -> T | None: ...
    @overload
    def get(self, key: StateKey[T], default: D) -> T | D: ...
    def get(self, key: StateKey[T], default: Any = None) -> Any:
        """Return the value of a key, or ``default``."""
        with self._lock:
            return self._values.get(key.name, default)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written."""
        return not self._values

    def delete(self, key: StateKey[T]) -> None:
        """Forget a key; no error if it is absent."""
        with self._lock:
            self._values.pop(key.name, None)

    def clone(self) -> "CycleState":
        """Return an independent copy."""
        with self._lock:
            values = {name: _clone(value) for name, value in self._values.items()}
        other = CycleState(self.concerned)
        other.skip_filter, other.skip_score = self.skip_filter, self.skip_score
        other.skip_pre_bind, other.parallel_pre_bind = self.skip_pre_bind, self.parallel_pre_bind
        other.skip_all_post_filter = self.skip_all_post_filter
        other._values = values
        return other


def _clone(value: Any) -> Any:
    own = getattr(value, "clone", None)
    if callable(own):
        return own()
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.writeable else value
    return copy.copy(value) if isinstance(value, list | dict | set) else value
