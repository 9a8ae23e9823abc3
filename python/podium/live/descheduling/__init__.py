"""Deschedules a live cluster. ``work`` is the place to start reading."""
