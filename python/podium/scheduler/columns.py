"""Columns that plugins add to the nodes: loads, prices, ranks. May be updated from any thread."""

import threading
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.errors import PluginError


class _Column:
    __slots__ = ("array", "default", "dtype", "fresh", "plugin", "values", "version")

    def __init__(self, plugin: str, dtype: type[np.generic], default: object) -> None:
        self.plugin = plugin
        self.dtype = dtype
        self.default = default
        self.values: dict[str, object] = {}
        self.array: NDArray[Any] | None = None
        self.version = -1
        self.fresh: dict[str, object] = {}
        """Values that ``array`` does not show yet."""


class CustomColumns:
    """All custom columns, by name. An array that a view has shown is never written to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._columns: dict[str, _Column] = {}
        self._changed: set[str] = set()

    def __bool__(self) -> bool:
        """Whether some values have changed."""
        return bool(self._changed)

    def take_changed(self) -> Iterable[str]:
        """Return the names of the nodes that have other values than when this was asked last."""
        if not self._changed:
            return ()
        with self._lock:
            changed, self._changed = self._changed, set()
            return changed

    def register(self, plugin: str, name: str, dtype: type[np.generic], default: object) -> None:
        """Add a column; the same plugin may do so again, in another profile.

        Raises:
            PluginError: if the name is taken, or the default is no value of the type.

        """
        try:
            np.full(1, default, dtype)
        except (TypeError, ValueError) as error:
            raise PluginError(f'plugin "{plugin}": column "{name}": {error}') from None
        with self._lock:
            known = self._columns.get(name)
            if known is None:
                self._columns[name] = _Column(plugin, dtype, default)
            elif (known.plugin, known.dtype, known.default) != (plugin, dtype, default):
                text = f'column "{name}" is registered already by plugin "{known.plugin}"'
                raise PluginError(f'plugin "{plugin}": {text}')

    def update(self, plugin: str, name: str, values: Mapping[str, object]) -> None:
        """Set values by node name.

        Raises:
            PluginError: if there is no such column, or a value is not of its type.

        """
        column = self._find(plugin, name)
        try:
            converted = np.array(list(values.values()), column.dtype).tolist()
        except (TypeError, ValueError, OverflowError) as error:
            raise PluginError(f'plugin "{plugin}": column "{name}": {error}') from None
        with self._lock:
            column.fresh.update(zip(values, converted, strict=True))
            self._changed.update(values)

    def column(self, name: str, rows: Mapping[str, int], version: int) -> NDArray[Any]:
        """Return a column for these nodes (name -> row); ``version`` tells one set of rows from another."""
        column = self._find("", name)
        with self._lock:
            column.values.update(column.fresh)
            if column.array is None or column.version != version:
                known, default = column.values, column.default
                array = np.array([known.get(node, default) for node in rows], column.dtype)
            elif column.fresh:
                array = column.array.copy()
                for node, value in column.fresh.items():
                    if node in rows:
                        array[rows[node]] = value
            else:
                return column.array
            array.flags.writeable = False
            column.array, column.version, column.fresh = array, version, {}
            return array

    def _find(self, plugin: str, name: str) -> _Column:
        column = self._columns.get(name)
        if column is None:
            who = f'plugin "{plugin}": ' if plugin else ""
            raise PluginError(f'{who}no plugin has registered a column "{name}"')
        return column
