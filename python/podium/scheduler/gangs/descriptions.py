"""What each gang asks for, from its object and its members, as the core is told it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
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

#: What gangs by label say, remembered by what each of their members says.
_VERDICTS: Final = 1024


@dataclass(slots=True)
class Descriptions:
    """Makes the descriptions of gangs, and makes them anew where something they depend on has changed."""

    book: Book
    classes: dict[str, PriorityClass] = field(default_factory=dict)
    """What priority classes are worth, by name."""
    _verdicts: dict[Signature, Verdict] = field(default_factory=dict)

    def describe(self, group: Group) -> None:
        """Hear the members of a gang, and tell the core what they need together."""
        pods = [entry.pod for entry in group.members.values()]
        verdict = self._verdict(group, pods)
        before = group.description
        group.description = verdict.description
        if group.floor:
            group.floor = min(group.floor, group.minimum)
        self._tell_core(group, verdict)
        if group.description.roles != before.roles:
            self.enter(group, group.members.values())
        # Where members differ in what they say, the next one that comes makes it anew.
        group.signature = signature(pods[0], self.book.settings) if verdict.uniform else _MIXED

    def enter(self, group: Group, entries: Collection[Entry]) -> None:
        """Tell the core of members and their roles."""
        handles = [entry.handle for entry in entries]
        self.book.engine.join_group(group.handle, handles, self._roles(group, entries))

    def _roles(self, group: Group, entries: Collection[Entry]) -> list[int]:
        roles = group.description.roles
        if not roles:
            return [0 for _ in entries]
        numbers = {role: number for number, role in enumerate(roles, 1)}
        return [numbers.get(role_of(entry.pod), 0) for entry in entries]

    def _verdict(self, group: Group, pods: Sequence[Pod]) -> Verdict:
        """Hear the members; gangs by label whose members all say the same need that only once."""
        said_alike = None
        if group.key.way is Way.LABEL:
            signatures = self._signatures(pods)
            if len(signatures) == 1:
                said_alike = signatures.pop()
                known = self._verdicts.get(said_alike)
                if known is not None:
                    return known
        said = describe(group.key, group.object, pods, self.book.settings.min_available)
        verdict = judge(said, pods, self._class_value(said.class_name))
        if said_alike is not None and not verdict.description.problem:
            if len(self._verdicts) >= _VERDICTS:
                self._verdicts.clear()
            self._verdicts[said_alike] = verdict
        return verdict

    def _signatures(self, pods: Sequence[Pod]) -> set[Signature]:
        """Return what pods say; those of one template often share its parts, which then say the same."""
        spec: object = None
        annotations: object = None
        said = set()
        for pod in pods:
            if pod.spec is not spec or pod.metadata.annotations is not annotations:
                spec, annotations = pod.spec, pod.metadata.annotations
                said.add(signature(pod, self.book.settings))
        return said

    def _tell_core(self, group: Group, verdict: Verdict) -> None:
        description = group.description
        self.book.engine.set_group(
            group.handle,
            *self._minimums(group),
            verdict.priority,
            verdict.may_preempt,
            description.topology,
            description.preferred,
        )

    def tell_minimum(self, group: Group) -> None:
        """Tell the core how many members must be on nodes, now that some have ended."""
        self.book.engine.set_minimums(group.handle, *self._minimums(group))

    def _minimums(self, group: Group) -> tuple[int, list[int]]:
        """Return the minimum, and those of the roles, without members that have ended well."""
        roles = dict(group.description.roles or {})
        for pod in group.succeeded.values() if group.done else ():
            if roles.get(role_of(pod)):
                roles[role_of(pod)] -= 1
        return max(0, group.minimum - group.done), [0, *roles.values()] if roles else []

    def _class_value(self, name: str) -> int | None:
        if name in SYSTEM_CLASSES:
            return SYSTEM_CLASSES[name]
        found = self.classes.get(name)
        return None if found is None else found.value
