"""Rebalancing: evicts pods so that the scheduler may place them better.

Policies are those of sigs.k8s.io/descheduler v0.36.0. ``loop`` is the place to start reading.
"""
