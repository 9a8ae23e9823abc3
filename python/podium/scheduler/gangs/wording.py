"""What a person reads about a gang without places."""

from podium._core import Shortage
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.gangs.group import Group
from podium.scheduler.state import State


def shortage_text(state: State, gangs: Gangs, group: Group, shortage: Shortage) -> str:
    """Say who has no place, why, how near it is, and who holds what is missing."""
    if shortage.member is None and group.missing:
        return f"gang {group.name}: {group.missing}"
    parts = [fitting(group, shortage.placeable, shortage.need)]
    parts.append(together_in(shortage.domain, shortage.domains))
    if shortage.member is not None:
        parts.append(f", {state.by_handle(shortage.member).pod.metadata.name} does not")
    parts.append(f": {shortage.message}")
    if shortage.nearest:
        parts.append(f" It needs {shortage.nearest}")
        if shortage.holders:
            held = ", ".join(
                f"{_holder(state, gangs, pod, of)} ({amount})" for pod, of, amount in shortage.holders
            )
            parts.append(f", held by {held}")
        parts.append(".")
    return "".join(parts)


def fitting(group: Group, placeable: int, need: int) -> str:
    """Say how many of the members that a gang needs have nodes, and would get them."""
    have = group.minimum - need
    if have <= 0:
        return f"gang {group.name}: {placeable} of {need} members fit"
    fit = f"{placeable} of {need} missing ones fit"
    return f"gang {group.name}: {have} of {group.minimum} members have nodes, {fit}"


def together_in(domain: str, domains: int) -> str:
    """Say of which domain it is told how many members fit there, empty if all nodes are one."""
    if not domain:
        return ""
    best = f", the best of {domains} domains" if domains > 1 else ""
    return f" together in {domain}{best}"


def _holder(state: State, gangs: Gangs, pod: int, group: int | None) -> str:
    if group is not None:
        return f"gang {gangs.by_handle(group).name}"
    metadata = state.by_handle(pod).pod.metadata
    return f"{metadata.namespace}/{metadata.name}"
