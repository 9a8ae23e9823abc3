"""What the builders of nodes and pods have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import msgspec
from msgspec.structs import replace

T = TypeVar("T")


def with_changes(part: Any, **changes: Any) -> Any:
    """Return a copy of a struct with other values in some fields."""
    return replace(part, **changes)


@dataclass(frozen=True, slots=True)
class Builder:
    """What nodes and pods have in common: metadata."""

    item: Any

    def _meta(self, **changes: Any) -> Self:
        return type(self)(with_changes(self.item, metadata=with_changes(self.item.metadata, **changes)))

    def label(self, key: str, value: str) -> Self:
        """Set a label."""
        return self.labels({key: value})

    def labels(self, labels: Mapping[str, str]) -> Self:
        """Set labels."""
        return self._meta(labels={**self.item.metadata.labels, **labels})

    def annotation(self, key: str, value: str) -> Self:
        """Set an annotation."""
        return self._meta(annotations={**self.item.metadata.annotations, key: value})

    def uid(self, uid: str) -> Self:
        """Set the uid."""
        return self._meta(uid=uid)

    def created(self, timestamp: str) -> Self:
        """Set the time of creation (RFC 3339)."""
        return self._meta(creation_timestamp=timestamp)

    def terminating(self, timestamp: str = "2020-01-01T00:00:00Z") -> Self:
        """Mark the object as being deleted."""
        return self._meta(deletion_timestamp=timestamp)


def copy_of(item: Any, kind: type[T]) -> T:
    """Copy through the wire format, so that what is built is what a manifest would give."""
    return msgspec.json.decode(msgspec.json.encode(item), type=kind)
