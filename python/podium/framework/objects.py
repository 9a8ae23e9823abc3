"""The Kubernetes objects that the contract speaks of, under one name for the framework."""

from typing import Any, TypeAlias

#: A pod as ``podium.api`` decodes it.
Pod: TypeAlias = Any
