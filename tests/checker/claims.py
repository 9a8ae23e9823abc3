"""Claims: bound volumes must reach the node, unbound ones must be able to get a volume there.

An answer does not say which volume an unbound claim got, so the test is whether any assignment exists:
a matching of the claims of all placed pods to volumes, claims that can be provisioned left out.
"""

from tests.checker.storage import SELECTED_NODE, Claim, Storage, fully_bound, reachable, zone_mismatch
from tests.checker.world import Node, Pod, World


def claims_usable(world: World, pod: Pod, _node: Node) -> str | None:
    storage = Storage.of(world)
    for key in pod.claims():
        claim = _claim(storage, pod, key)
        if claim is None:
            return f"claim {'/'.join(key)} does not exist"
        if (claim.get("status") or {}).get("phase") == "Lost" or claim["metadata"].get("deletionTimestamp"):
            return f"claim {'/'.join(key)} is lost or being deleted"
        volume = storage.volume_of(claim)
        if volume is not None and volume not in storage.volumes:
            return f"claim {'/'.join(key)} names volume {volume}, which does not exist"
    return None


def volume_affinity(world: World, pod: Pod, node: Node) -> str | None:
    for volume in _bound_volumes(world, pod):
        if not reachable(volume, node):
            return f"volume {volume['metadata']['name']} is not reachable from the node"
    return None


def volume_zone(world: World, pod: Pod, node: Node) -> str | None:
    """Only volumes of plain claims have their zone labels looked at, as upstream."""
    for volume in _bound_volumes(world, pod, ephemeral=False):
        mismatch = zone_mismatch(volume, node)
        if mismatch:
            return mismatch
    return None


def assignable(world: World, pod: Pod, node: Node) -> str | None:
    """Unbound claims of the pod, together with those of all placed pods, can all get a volume."""
    storage = Storage.of(world)
    mine = [
        key for key in pod.claims() if storage.volume_of(_claim(storage, pod, key) or {"spec": {}}) is None
    ]
    if not mine:
        return None
    nodes_of: dict[Claim, list[Node]] = {}
    claims: dict[Claim, dict] = {}
    for user, place in [*world.where.values(), (pod, node)]:
        for key in user.claims():
            claim = _claim(storage, user, key)
            if claim is not None and storage.volume_of(claim) is None:
                nodes_of.setdefault(key, []).append(place)
                claims[key] = claim
    for key in mine:
        selected = (
            (claims[key]["metadata"].get("annotations") or {}).get(SELECTED_NODE) if key in claims else None
        )
        if selected and selected != node.name:
            return f"claim {'/'.join(key)} is to be provisioned for node {selected}"
    options = {key: _options(storage, key, claims[key], nodes) for key, nodes in nodes_of.items()}
    lonely = _unmatched({key: found for key, found in options.items() if found is not None}, wanted=mine)
    return f"no volume is left for claim {'/'.join(lonely)}" if lonely else None


def certain(world: World, pod: Pod, node: Node) -> bool:
    """Whether the claims surely let the pod onto the node, whatever volumes the earlier claims got."""
    storage = Storage.of(world)
    in_use = {key for user, _ in world.where.values() for key in user.claims()}
    contested = {
        name
        for key in in_use
        if key in storage.claims and storage.volume_of(storage.claims[key]) is None
        for name in _candidates(storage, storage.claims[key], None)
    }
    for key in pod.claims():
        claim = storage.claims.get(key)
        if claim is None:
            return False
        if fully_bound(claim):
            continue
        if (
            not storage.waits(claim)
            or key in in_use
            or SELECTED_NODE in (claim["metadata"].get("annotations") or {})
        ):
            return False
        free = sorted(_candidates(storage, claim, node) - contested)
        if not free and not storage.provisions(claim, node):
            return False
        contested.update(free)  # a second claim of the pod must not count on the same volumes
    return True


def _claim(storage: Storage, pod: Pod, key: Claim) -> dict | None:
    """The claim; one of an ephemeral volume exists from the moment that its controller sees the pod."""
    if key in storage.claims:
        return storage.claims[key]
    for volume in pod.volumes:
        if volume.get("ephemeral") is not None and key == (pod.namespace, f"{pod.name}-{volume['name']}"):
            template = volume["ephemeral"]["volumeClaimTemplate"]
            return {"metadata": {"name": key[1], "namespace": key[0]}, "spec": template["spec"]}
    return None


def _bound_volumes(world: World, pod: Pod, *, ephemeral: bool = True) -> list[dict]:
    storage = Storage.of(world)
    claims = [_claim(storage, pod, key) for key in pod.claims(ephemeral=ephemeral)]
    names = [storage.volume_of(claim) for claim in claims if claim is not None]
    return [storage.volumes[name] for name in names if name in storage.volumes]


def _options(storage: Storage, key: Claim, claim: dict, nodes: list[Node]) -> set[str] | None:
    """Volumes that all the nodes of the claim's pods can use; None where one can be made for them."""
    question = (key, *(node.name for node in nodes))
    if question not in storage.options:
        made = storage.provisions(claim, nodes[0])
        storage.options[question] = (
            None if made else set.intersection(*(_candidates(storage, claim, node) for node in nodes))
        )
    return storage.options[question]


def _candidates(storage: Storage, claim: dict, node: Node | None) -> set[str]:
    return {name for name, volume in storage.volumes.items() if storage.fits(volume, claim, node)}


def _unmatched(options: dict[Claim, set[str]], wanted: list[Claim]) -> Claim | None:
    """The first of the wanted claims that no complete matching can serve (Kuhn's augmenting paths)."""
    taken: dict[str, Claim] = {}

    def place(key: Claim, seen: set[str]) -> bool:
        for volume in sorted(options[key] - seen):
            seen.add(volume)
            if volume not in taken or place(taken[volume], seen):
                taken[volume] = key
                return True
        return False

    earlier = [key for key in options if key not in wanted]
    failed = [key for key in [*earlier, *(k for k in wanted if k in options)] if not place(key, set())]
    return failed[0] if failed else None
