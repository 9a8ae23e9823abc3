"""Guarded mode: evict only where the scheduler itself says that the pod will land somewhere better.

Candidates are those of compat mode; each must pass here before anything is done, and at the end all of them
together. ``planner`` is the place to start reading.
"""
