"""Podium: a Kubernetes scheduler that is also a Python library, with a Rust scoring core."""

from podium._core import __version__

__all__ = ["__version__"]
