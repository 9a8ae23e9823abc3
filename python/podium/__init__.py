"""Podium: a Kubernetes scheduler that is also a Python library, with a Rust scoring core."""

import importlib
from typing import TYPE_CHECKING, Any

from podium._core import __version__

if TYPE_CHECKING:
    from podium.engine import Engine, Placements

__all__ = ["Engine", "Placements", "__version__"]

#: Public name -> its module, imported at the first use: the command line starts without NumPy and polars.
_MODULES = {
    "Engine": "podium.engine",
    "Placements": "podium.engine",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
