"""Gangs: groups of pods that are placed together or not at all. Start reading at ``gangs.py``."""
