"""The shipped tree against the exact model, and against itself built afresh, over random histories."""

from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from podium._core import FairShares

from tests.drf.model import Model, Node

RESOURCES = 2
TOLERANCE = Fraction(1, 2**32)
weights = st.sampled_from([1, 1, 2, 1000, 0, 0, Fraction(1, 3), Fraction(5, 7)])
amounts = st.lists(st.integers(0, 6), min_size=RESOURCES, max_size=RESOURCES)
capacities = st.lists(st.integers(0, 40), min_size=RESOURCES, max_size=RESOURCES)
which = st.integers(0, 1000)


def rebuilt(model: Model) -> FairShares:
    """The same state, reached on the shortest way."""
    shares = FairShares(model.capacity)
    shares.set_resource_weights(model.resource_weights)
    nodes = [(child, None) for child in model.root.children]
    for node, parent in nodes:
        handle = shares.add(node.name, parent)
        nodes += [(child, handle) for child in node.children]
        shares.set_weight(handle, node.weight)
        if node.blocked:
            shares.block(handle)
    for leaf in model.root.leaves():
        if leaf is not model.root:
            shares.charge(shares.find(leaf.name), leaf.used)
            if leaf.head:
                shares.set_head(shares.find(leaf.name), *leaf.head[:2], band=leaf.head[2])
    return shares


class Histories(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.shares = FairShares([20, 20])
        self.model = Model([20, 20])
        self.handles: dict[str, int] = {}
        self.count = 0

    def nodes(self) -> list[Node]:
        found = list(self.model.root.children)
        for node in found:
            found += node.children
        return found

    def node(self, at: int) -> Node:
        nodes = self.nodes()
        return nodes[at % len(nodes)]

    def leaf(self, at: int) -> Node:
        leaves = [node for node in self.nodes() if not node.children]
        return leaves[at % len(leaves)]

    def free(self, node: Node | None) -> bool:
        """Whether it may get children."""
        return node is None or bool(node.children) or not (node.head or any(node.used))

    some = precondition(lambda self: self.count > 0 and self.model.root.children)

    def grow(self, parent: Node | None, weight: Fraction, pods: tuple[list[int], bool]) -> Node:
        name = f"n{self.count:03}"
        self.count += 1
        node = self.model.add(name, parent)
        node.weight = Fraction(weight)
        handle = self.shares.add(name, self.handles[parent.name] if parent else None)
        self.handles[name] = handle
        self.shares.set_weight(handle, weight)
        used, waits = pods
        if waits:
            node.used, node.head = used, (self.count, 0, 0)
            self.shares.charge(handle, used)
            self.shares.set_head(handle, self.count)
        return node

    @initialize(
        weights=st.lists(weights, min_size=6, max_size=6), used=st.lists(amounts, min_size=4, max_size=4)
    )
    def two_queues(self, weights: list[Fraction], used: list[list[int]]) -> None:
        for i in range(2):
            queue = self.grow(None, weights[i], ([0, 0], False))
            for j in (2 * i, 2 * i + 1):
                self.grow(queue, weights[2 + j], (used[j], True))

    @rule(at=which, top=st.booleans(), weight=weights, used=amounts, waits=st.booleans())
    def add(self, at: int, top: bool, weight: Fraction, used: list[int], waits: bool) -> None:
        parent = None if top or not self.nodes() else self.node(at)
        if self.free(parent) and len(self.nodes()) < 10:
            self.grow(parent, weight, (used, waits))

    @some
    @rule(at=which)
    def remove(self, at: int) -> None:
        leaf = self.leaf(at)
        if not leaf.head and not any(leaf.used):
            self.shares.remove(self.handles.pop(leaf.name))
            leaf.parent.children.remove(leaf)

    @some
    @rule(at=which, to=which, top=st.booleans())
    def move(self, at: int, to: int, top: bool) -> None:
        node, parent = self.node(at), None if top else self.node(to)
        if (parent and node in parent.path()) or not self.free(parent):
            return
        self.shares.set_parent(self.handles[node.name], self.handles[parent.name] if parent else None)
        node.parent.children.remove(node)
        node.parent = parent or self.model.root
        node.parent.children.append(node)

    @some
    @rule(at=which, weight=weights)
    def weigh(self, at: int, weight: Fraction) -> None:
        node = self.node(at)
        node.weight = Fraction(weight)
        self.shares.set_weight(self.handles[node.name], weight)

    @some
    @rule(at=which, request=amounts)
    def charge(self, at: int, request: list[int]) -> None:
        leaf = self.leaf(at)
        self.shares.charge(self.handles[leaf.name], request)
        leaf.used = [used + amount for used, amount in zip(leaf.used, request, strict=True)]

    @some
    @rule(at=which, request=amounts)
    def refund(self, at: int, request: list[int]) -> None:
        leaf = self.leaf(at)
        request = [min(used, amount) for used, amount in zip(leaf.used, request, strict=True)]
        self.shares.refund(self.handles[leaf.name], request)
        leaf.used = [used - amount for used, amount in zip(leaf.used, request, strict=True)]

    @some
    @rule(at=which, time=st.integers(0, 3), band=st.sampled_from([0, 0, 0, 5, -1]))
    def wait(self, at: int, time: int, band: int) -> None:
        leaf = self.leaf(at)
        leaf.head = (time, 0, band)
        self.shares.set_head(self.handles[leaf.name], time, band=band)

    @some
    @rule(at=which)
    def stop_waiting(self, at: int) -> None:
        leaf = self.leaf(at)
        leaf.head = None
        self.shares.clear_head(self.handles[leaf.name])

    @some
    @rule(at=which, blocked=st.booleans())
    def block(self, at: int, blocked: bool) -> None:
        node = self.node(at)
        node.blocked = blocked
        act = self.shares.block if blocked else self.shares.unblock
        act(self.handles[node.name])

    @rule(capacity=capacities)
    def resize(self, capacity: list[int]) -> None:
        self.model.capacity = capacity
        self.shares.set_capacity(capacity)

    @rule(of_first=st.sampled_from([1, 1, 2, 0, Fraction(1, 3)]))
    def weigh_resources(self, of_first: Fraction) -> None:
        self.model.resource_weights = [Fraction(of_first), Fraction(1)]
        self.shares.set_resource_weights([of_first, 1])

    @invariant()
    def same_pick(self) -> None:
        picked = self.shares.pick()
        if picked is None:
            assert self.model.first(self.model.root) is None
            return
        by_name = {node.name: node for node in self.nodes()}
        for chosen in by_name[self.shares.name(picked)].path():
            siblings = [node for node in chosen.parent.children if self.model.ready(node)]
            best = min(siblings, key=self.model.key)
            if any(node.children for node in chosen.parent.children):
                (band, claim, share, *_), (best_band, best_claim, least, *_) = map(
                    self.model.key, (chosen, best)
                )
                assert (band, claim) == (best_band, best_claim)
                assert share - least <= TOLERANCE
            else:
                assert chosen is best

    @invariant()
    def same_shares_and_usage(self) -> None:
        for node in self.nodes():
            handle = self.handles[node.name]
            want = self.model.weighted(node)
            assert abs(Fraction(self.shares.weighted_share(handle)) - want) <= TOLERANCE * max(1, want) / 2**8
            assert self.shares.used(handle) == self.model.usage(node)

    @invariant()
    def as_if_built_afresh(self) -> None:
        afresh = rebuilt(self.model)
        assert [self.shares.name(t) for t in self.shares.order()] == [afresh.name(t) for t in afresh.order()]
        ready = next((t for t in self.shares.order() if not self.held(t)), None)
        assert self.shares.pick() == ready

    def held(self, tenant: int | None) -> bool:
        while tenant is not None:
            if self.shares.is_blocked(tenant):
                return True
            tenant = self.shares.parent(tenant)
        return False


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)
