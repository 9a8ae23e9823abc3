"""Kubernetes objects as msgspec structs, trimmed to what scheduling, the descheduler and gangs read."""
