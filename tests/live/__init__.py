"""Podium on a real control plane."""
