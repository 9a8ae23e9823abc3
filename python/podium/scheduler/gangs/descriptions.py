"""What each gang asks for, from its object and its members, as the core is told it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final

from podium.api import Pod, PriorityClass
from podium.api.admission.priority import SYSTEM_CLASSES
from podium.api.gangs import Way, describe, role_of
from podium.scheduler.entry import Entry
from podium.scheduler.gangs.book import Book
from podium.scheduler.gangs.group import Group
from podium.scheduler.gangs.members import Signature, Verdict, judge, signature

#: The signature of members that say different things.
_MIXED: Final = "mixed"

#: What the core is told of a gang, as ``set_groups`` takes it.
_Told = tuple[int, tuple[int, ...], int, bool, tuple[str, ...], bool]

#: What gangs by label say, remembered by what each of their members says.
_VERDICTS: Final = 1024


@dataclass(slots=True)
class Descriptions:
    """Makes the descriptions of gangs, and makes them anew where something they depend on has changed."""

    book: Book
    classes: dict[str, PriorityClass] = field(default_factory=dict)
    """What priority classes are worth, by name."""
    _verdicts: dict[Signature, Verdict] = field(default_factory=dict)

    def describe(self, groups: Iterable[Group]) -> None:
        """Hear the members of gangs, and tell the core what they need together."""
        entering: list[tuple[Group, Collection[Entry]]] = []
        runs: list[tuple[_Told, list[int]]] = []
        for group in groups:
            before = group.description.roles
            verdict = self._verdict(group)
            group.description = verdict.description
            if group.floor:
                group.floor = min(group.floor, group.minimum)
            told = self._told(group, verdict)
            if runs and runs[-1][0] == told:
                runs[-1][1].append(group.handle)
            else:
                runs.append((told, [group.handle]))
            if group.description.roles != before:
                entering.append((group, group.members.values()))
        for told, handles in runs:
            self.book.engine.set_groups(handles, *told)
        if entering:
            self.enter(entering)

    def enter(self, joins: Iterable[tuple[Group, Collection[Entry]]]) -> None:
        """Tell the core of members and their roles."""
        groups: list[int] = []
        handles: list[int] = []
        roles: list[int] = []
        for group, entries in joins:
            groups += repeat(group.handle, len(entries))
            handles += [entry.handle for entry in entries]
            roles += self._roles(group, entries)
        self.book.engine.join_groups(groups, handles, roles)

    def _roles(self, group: Group, entries: Collection[Entry]) -> Iterable[int]:
        roles = group.description.roles
        if not roles:
            return repeat(0, len(entries))
        numbers = {role: number for number, role in enumerate(roles, 1)}
        return [numbers.get(role_of(entry.pod), 0) for entry in entries]

    def _verdict(self, group: Group) -> Verdict:
        """Hear the members, and note what they say; of gangs by label that say the same one is enough."""
        pods = [entry.pod for entry in group.members.values()]
        says = self._says(pods)
        by_label = group.key.way is Way.LABEL
        verdict = self._verdicts.get(says) if by_label and says is not None else None
        if verdict is None:
            said = describe(group.key, group.object, pods, self.book.settings.min_available)
            verdict = judge(said, pods, self._class_value(said.class_name))
            if by_label and says is not None and not verdict.description.problem:
                if len(self._verdicts) >= _VERDICTS:
                    self._verdicts.clear()
                self._verdicts[says] = verdict
        # Where members differ in what they say, the next one that comes makes it anew.
        differ = signature(pods[0], self.book.settings) if verdict.uniform else _MIXED
        group.signature = differ if says is None else says
        return verdict

    def tell_minimum(self, group: Group) -> None:
        """Tell the core how many members must be on nodes, now that some have ended."""
        self.book.engine.set_minimums(group.handle, *self._minimums(group))

    def _says(self, pods: Sequence[Pod]) -> Signature | None:
        """Return what all pods say, None if they differ; those of one template often share its parts."""
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

    def _told(self, group: Group, verdict: Verdict) -> _Told:
        description = group.description
        minimum, of_roles = self._minimums(group)
        return (
            minimum,
            of_roles,
            verdict.priority,
            verdict.may_preempt,
            description.topology,
            description.preferred,
        )

    def _minimums(self, group: Group) -> tuple[int, tuple[int, ...]]:
        """Return the minimum, and those of the roles, without members that have ended well."""
        done, roles = group.done, group.description.roles
        if not roles:
            return max(0, group.minimum - done), ()
        left = dict(roles)
        for pod in group.succeeded.values() if done else ():
            if left.get(role_of(pod)):
                left[role_of(pod)] -= 1
        return max(0, group.minimum - done), (0, *left.values())

    def _class_value(self, name: str) -> int | None:
        if name in SYSTEM_CLASSES:
            return SYSTEM_CLASSES[name]
        found = self.classes.get(name)
        return None if found is None else found.value
