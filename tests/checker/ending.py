"""The end of a run: no pod may be pending that fits somewhere."""

from tests.checker.claims import certain
from tests.checker.rules import Violation, in_gang, passes, unpinned_daemon, why_not_tried
from tests.checker.world import Pod, World

Pending = list[tuple[Pod, dict]]


def pending_although_it_fits(world: World, pending: Pending, schedulers: tuple[str, ...]) -> list[Violation]:
    """Nominated pods keep their place against those of no higher priority; equal pods share a verdict."""
    nominated = [(pod, entry["nominated"]) for pod, entry in pending if entry.get("nominated")]
    verdicts: dict[str, str | None] = {}
    found = []
    for pod, entry in pending:
        if pod.key in world.where or entry.get("nominated") or why_not_tried(pod, schedulers):
            continue
        if in_gang(pod) or unpinned_daemon(pod):
            continue
        signature = repr((pod.namespace, pod.spec, pod.labels, list(pod.claims())))
        if signature not in verdicts:
            verdicts[signature] = _fits_somewhere(world, pod, nominated)
        node = verdicts[signature]
        if node is not None:
            found.append(Violation("pending-fits", pod.key, node, "pending although it fits there"))
    return found


def _fits_somewhere(world: World, pod: Pod, nominated: list[tuple[Pod, str]]) -> str | None:
    for node in world.nodes.values():
        if not passes(world, pod, node) or not certain(world, pod, node):
            continue
        rivals = [p for p, name in nominated if name == node.name and p.priority >= pod.priority]
        guests = [rival for rival in rivals if rival.key not in world.where]
        for guest in guests:
            world.add(guest, node)
        fits = not guests or passes(world, pod, node)
        for guest in guests:
            world.remove(guest.key)
        if fits:
            return node.name
    return None
