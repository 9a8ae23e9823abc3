"""Who goes together: a pod alone, a surplus member of a gang alone, or a gang as a whole."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from podium.api import Pod
from podium.api.gangs import Description, GangKey, gang_of, role_of
from podium.descheduler.evictor import Evicted
from podium.descheduler.guard.reasons import GANG, NotBetterError
from podium.descheduler.ports import WhatIf
from podium.descheduler.shapes import is_active
from podium.descheduler.world import World

MayGo = Callable[[str, Pod], bool]
"""Whether the evictor of a profile, by name, lets a pod go."""


class Gangs:
    """The gangs of one cycle, and which of their members are planned to go.

    A member may go alone as long as those that stay are as many as the gang must have, of its role too. If
    that is not so, all members go or none does.
    """

    def __init__(self, world: World, whatif: WhatIf, may_go: MayGo) -> None:
        self._world = world
        self._whatif = whatif
        self._may_go = may_go
        self._described: dict[GangKey, Description | None] = {}
        self._going: dict[GangKey, list[Pod]] = defaultdict(list)

    def key(self, pod: Pod) -> GangKey | None:
        """Return the gang of a pod."""
        return gang_of(pod, self._whatif.gang_label)

    def company(self, wanted: Evicted) -> list[Evicted]:
        """Return who goes with a pod, itself first; raises NotBetterError if they cannot."""
        key = self.key(wanted.pod)
        if key is None:
            return [wanted]
        if key not in self._described:
            self._described[key] = self._whatif.gang(wanted.pod)
        description = self._described[key]
        if description is None:
            raise NotBetterError(f"member of gang {key}, of which the scheduler does not know", GANG)
        members = self._members[key]
        if self._is_spare(wanted.pod, key, description):
            return [wanted]
        if self._going[key]:
            raise NotBetterError(f"gang {key} has no more members to spare", GANG)
        self._check(key, wanted, members)
        others = [replace(wanted, pod=pod, gang=str(key)) for pod in members if pod is not wanted.pod]
        return [replace(wanted, gang=str(key)), *others]

    def go(self, company: Iterable[Evicted]) -> None:
        """Note who is planned to go."""
        for item in company:
            key = self.key(item.pod)
            if key is not None:
                self._going[key].append(item.pod)

    def _is_spare(self, pod: Pod, key: GangKey, description: Description) -> bool:
        members, going = self._members[key], [*self._going[key], pod]
        staying = len(members) - len(going)
        if staying < description.minimum:
            return False
        role, least = role_of(pod), description.roles or {}
        left = Counter(map(role_of, members))[role] - Counter(map(role_of, going))[role]
        return left >= least.get(role, 0)

    def _check(self, key: GangKey, wanted: Evicted, members: Sequence[Pod]) -> None:
        """Raise NotBetterError if a member cannot go with the others."""
        for pod in members:
            name = pod.metadata.name
            if not pod.spec.node_name:
                raise NotBetterError(f"gang {key} is not complete: {name} waits for a node", GANG)
            if pod is not wanted.pod and not self._may_go(wanted.profile, pod):
                raise NotBetterError(f"gang {key} moves as a whole or not at all, and {name} is kept", GANG)

    @cached_property
    def _members(self) -> Mapping[GangKey, Sequence[Pod]]:
        """Members that run or wait; who is being deleted counts for nothing."""
        found: dict[GangKey, list[Pod]] = defaultdict(list)
        for pod in self._world.pods:
            key = self.key(pod)
            if key is not None and is_active(pod) and not pod.metadata.deletion_timestamp:
                found[key].append(pod)
        return found
