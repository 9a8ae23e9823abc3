"""Podium's own plugins in Python, each imported when something asks for it; all are off by default."""

from typing import Final

OWN_PLUGINS: Final = {"LoadAware": "podium.plugins.load_aware.plugin:LoadAware"}
