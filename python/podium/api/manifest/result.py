"""What loading gives back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, cast

from podium.api.kinds import kind_of
from podium.api.objects.base import Object

T = TypeVar("T", bound=Object)


class Loaded(NamedTuple):
    """An object that was accepted."""

    item: Object
    source: str
    """"file:document", with ``.items[n]`` for a member of a list; what a workload's controller makes has
    the workload's."""
    derived: bool = False
    """Whether a controller made it from a workload, rather than the input saying it."""


class Note(NamedTuple):
    """One entry of ``rejected`` or ``warnings``."""

    object: str
    """"Pod ns/name", or "" where not even that could be read."""
    source: str
    message: str
    quirk: bool = False
    """A warning of what v1.37.2 does against its documentation: without effect under ``strict``."""

    def to_wire(self) -> dict[str, str]:
        """Return the entry as the CLI's JSON has it."""
        return {"object": self.object, "source": self.source, "message": self.message}


@dataclass(frozen=True, slots=True)
class Manifest:
    """All inputs as one cluster: defaulted, admitted, valid objects in input order, and what was not one."""

    objects: Mapping[type[Object], Sequence[Loaded]] = field(default_factory=dict)
    rejected: Sequence[Note] = ()
    warnings: Sequence[Note] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)
    """Kind to number of objects of kinds that scheduling does not read."""

    def of(self, kind: type[T]) -> list[T]:
        """Return the objects of a kind in input order; what a workload makes is in its place."""
        return [cast("T", loaded.item) for loaded in self.objects.get(kind, ())]

    def entries(self, kind: type[Object]) -> Sequence[Loaded]:
        """Return the objects of a kind with their sources."""
        return self.objects.get(kind, ())

    def __iter__(self) -> Iterator[Loaded]:
        """Iterate over all objects, kind by kind."""
        for loaded in self.objects.values():
            yield from loaded

    def counts(self) -> dict[str, int]:
        """Return kind to number of objects that the input itself says."""
        counts: dict[str, int] = {}
        for kind, loaded in self.objects.items():
            given = sum(not entry.derived for entry in loaded)
            if given:
                counts[kind_of(kind)] = counts.get(kind_of(kind), 0) + given
        return counts
