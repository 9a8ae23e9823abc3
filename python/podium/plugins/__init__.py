"""Podium's own plugins in Python; ``podium.framework.own`` is their table."""
