"""What each gang asks for, from its object and its members, as the core is told it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Final

from podium.api import Object, Pod, PodSpec, PriorityClass
from podium.api.admission.priority import SYSTEM_CLASSES
from podium.api.gangs import LABEL, GangKey, describe, role_of
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.members import Signature, Told, Verdict, judge, signature
from podium.scheduler.gangs.whole import Gang

#: The signature of members that say different things.
_MIXED: Final = "mixed"

#: What gangs by label say, remembered by what each of their members says.
_VERDICTS: Final = 1024


@dataclass(slots=True)
class Descriptions:
    """Makes the descriptions of gangs, and makes them anew where something they depend on has changed."""

    book: Book
    classes: dict[str, PriorityClass] = field(default_factory=dict)
    """What priority classes are worth, by name."""
    _verdicts: dict[Signature, Verdict] = field(default_factory=dict)
    _heard: tuple[PodSpec | None, object, Signature | None, Verdict | None] = (None, None, None, None)
    """Spec and annotations of what :meth:`hear_one` was asked about last, and its answer."""

    def describe(self, groups: Iterable[Group]) -> None:
        """Hear the members of gangs, and tell the core what they need together."""
        entering: list[tuple[Group, Collection[Entry]]] = []
        told: list[tuple[int, Told]] = []
        for group in groups:
            before = group.description.roles
            pods = [entry.pod for entry in group.members.values()]
            says, verdict = self.hear(group.key, group.object, pods)
            # Where members differ in what they say, the next one that comes makes it anew.
            differ = signature(pods[0], self.book.settings) if verdict.uniform else _MIXED
            group.signature = differ if says is None else says
            group.description = verdict.description
            if group.floor:
                group.floor = min(group.floor, group.minimum)
            told.append((group.handle, self._told(group, verdict)))
            if group.description.roles != before:
                entering.append((group, group.members.values()))
        self.tell(told)
        if entering:
            self.enter(entering)

    def tell(self, told: Iterable[tuple[int, Told]]) -> None:
        """Tell the core what gangs, by handle, say of themselves; neighbours often say the same."""
        for what, run in groupby(told, key=itemgetter(1)):
            self.book.engine.set_groups([handle for handle, _ in run], *what)

    def tell_minimum(self, group: Group) -> None:
        """Tell the core how many members must be on nodes, now that some have ended."""
        self.book.engine.set_minimums(group.handle, *self._minimums(group))

    def enter(self, joins: Sequence[tuple[Gang, Collection[Entry]]]) -> None:
        """Tell the core of members and their roles."""
        handles = [entry.handle for _, entries in joins for entry in entries]
        roles = [0] * len(handles)
        place = 0
        for gang, entries in joins:
            if type(gang) is Group and gang.description.roles:
                roles[place : place + len(entries)] = self._roles(gang.description.roles, entries)
            place += len(entries)
        sizes = [(gang.handle, len(entries)) for gang, entries in joins]
        self.book.engine.join_groups(sizes, handles, roles)

    def _roles(self, roles: Mapping[str, int], entries: Iterable[Entry]) -> list[int]:
        """Return the numbers of the members' roles; 0 is that of those who name none."""
        numbers = {role: number for number, role in enumerate(roles, 1)}
        return [numbers.get(role_of(entry.pod), 0) for entry in entries]

    def hear(
        self, key: GangKey, declared: Object | None, pods: Sequence[Pod]
    ) -> tuple[Signature | None, Verdict]:
        """Hear members; of gangs by label that say the same one is enough.

        Returns:
            What each of them says, None if they differ; and what follows for the gang.

        """
        says = self._says(pods)
        by_label = says if key.way is LABEL else None
        verdict = None if by_label is None else self._verdicts.get(by_label)
        if verdict is None:
            said = describe(key, declared, pods, self.book.settings.min_available)
            verdict = judge(said, pods, self._class_value(said.class_name))
            if by_label is not None and not verdict.description.problem:
                if len(self._verdicts) >= _VERDICTS:
                    self._verdicts.clear()
                self._verdicts[by_label] = verdict
        return says, verdict

    def hear_one(self, key: GangKey, pod: Pod) -> tuple[Signature | None, Verdict]:
        """Hear the members of a gang by label that all say what one of them does."""
        annotations = pod.metadata.annotations
        spec, others, says, verdict = self._heard
        if verdict is None or pod.spec is not spec or annotations != others:
            says, verdict = self.hear(key, None, [pod])
            self._heard = pod.spec, annotations and dict(annotations), says, verdict
        return says, verdict

    def _says(self, pods: Sequence[Pod]) -> Signature | None:
        """Return what all pods say, None if they differ; neighbours often say the same."""
        settings, first = self.book.settings, pods[0]
        spec, annotations = first.spec, first.metadata.annotations
        said = signature(first, settings)
        for pod in pods:
            if pod.spec is spec and pod.metadata.annotations is annotations:
                continue
            spec, annotations = pod.spec, pod.metadata.annotations
            if signature(pod, settings) != said:
                return None
        return said

    def _told(self, group: Group, verdict: Verdict) -> Told:
        if not group.done:
            return verdict.told
        minimum, of_roles = self._minimums(group)
        return verdict.told._replace(minimum=minimum, role_minimums=of_roles)

    def _minimums(self, group: Group) -> tuple[int, tuple[int, ...]]:
        """Return the minimum, and those of the roles, without members that have ended well."""
        roles = dict(group.description.roles or {})
        for pod in group.succeeded.values() if group.done else ():
            if roles.get(role_of(pod)):
                roles[role_of(pod)] -= 1
        return max(0, group.minimum - group.done), (0, *roles.values()) if roles else ()

    def _class_value(self, name: str) -> int | None:
        if name in SYSTEM_CLASSES:
            return SYSTEM_CLASSES[name]
        found = self.classes.get(name)
        return None if found is None else found.value
