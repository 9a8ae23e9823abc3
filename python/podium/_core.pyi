"""Types of the extension module; its scheduling logic is the crate podium-core."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

_Weight: TypeAlias = int | float | Fraction | Decimal
_Limit: TypeAlias = int | float | None
_Refusal: TypeAlias = tuple[Literal["capability", "guarantee", "deserved"], int, int, int | None]

__version__: Final[str]

@final
class Quantity:
    """An exact Kubernetes quantity with apimachinery's rounding and overflow.

    Args:
        value: any notation of the API (``"100m"``, ``"1.5Gi"``, ``"1e3"``), or a number of a manifest.

    Raises:
        ValueError: with the API server's text, if the text is no quantity.
        TypeError: if the value is neither str, int, float nor Quantity.

    """

    def __new__(cls, value: Quantity | str | float) -> Quantity: ...
    def value(self) -> int:
        """Return the number rounded up to an integer; overflows as upstream's ``Value()``."""

    def milli_value(self) -> int:
        """Return thousandths, rounded up; overflows as upstream's ``MilliValue()``."""

    def fits(self, scale: int) -> bool:
        """Tell whether the number in units of 10**scale fits in 64 bits, so that nothing overflows."""

    def is_integer(self) -> bool:
        """Tell whether there is no fractional part."""

    def is_zero(self) -> bool: ...
    def sign(self) -> int:
        """Return -1, 0 or 1."""

    def round_up(self, scale: int) -> Quantity:
        """Return the number rounded away from zero to a multiple of 10**scale."""

    def __add__(self, other: Quantity | str | float, /) -> Quantity: ...
    def __radd__(self, other: Quantity | str | float, /) -> Quantity: ...
    def __sub__(self, other: Quantity | str | float, /) -> Quantity: ...
    def __rsub__(self, other: str | float, /) -> Quantity: ...
    def __neg__(self) -> Quantity: ...
    def __bool__(self) -> bool: ...
    def __float__(self) -> float: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Quantity, /) -> bool: ...
    def __le__(self, other: Quantity, /) -> bool: ...
    def __gt__(self, other: Quantity, /) -> bool: ...
    def __ge__(self, other: Quantity, /) -> bool: ...

@final
class Decision:
    """How one scheduling cycle ended.

    Attributes:
        result: ``placed``, ``unschedulable`` or ``failed``.
        row: the node's row where placed.
        feasible, evaluated: numbers of nodes; where not placed, those with a status of their own.
        message: kube-scheduler's text where not placed.
        plugins: those that rejected the pod or some node.

    """

    @property
    def result(self) -> str: ...
    @property
    def row(self) -> int | None: ...
    @property
    def feasible(self) -> int: ...
    @property
    def evaluated(self) -> int: ...
    @property
    def message(self) -> str: ...
    @property
    def plugins(self) -> list[str]: ...

@final
class Eviction:
    """What preemption decided.

    Attributes:
        result: ``nominate``; ``helpless`` (an earlier nomination is void), ``ineligible`` (it stands) or
            ``failed``.
        row: the nominated node's row.
        victims: handles, the most important first.
        violations: victims whose eviction violates a PodDisruptionBudget.
        message: what a FailedScheduling text says of it, after the reasons of the nodes.

    """

    @property
    def result(self) -> str: ...
    @property
    def row(self) -> int | None: ...
    @property
    def victims(self) -> list[int]: ...
    @property
    def violations(self) -> int: ...
    @property
    def message(self) -> str: ...

@final
class Batch:
    """What one call of ``run_batch`` did.

    Attributes:
        pods, rows: uint32, the placed pods in order and the row of each.
        nanos: uint64, how long each cycle took, where asked for; a gang's is one cycle.
        stopped_nanos: how long the cycle took that ended the batch.
        stopped: a popped pod, or gang (top bit set), that was not placed, which ended the batch.
        decision: how its cycle ended; None if its profile needs Python plugins and nothing was decided, or if
            it is a gang that was tried.
        kept: pods and rows of a stopped gang that were kept: it has others on nodes.
        shortage: what the stopped gang lacks; None if it is a pod, or nothing was tried.
        asks: uint32, rows of which Python plugins must say what they think of the stopped pod there
            (``Engine.resume``); None if it needs more than that.
        assumed: the row that the stopped pod has been given, where Python goes on from there.

    """

    def __len__(self) -> int: ...
    @property
    def pods(self) -> NDArray[np.uint32]: ...
    @property
    def rows(self) -> NDArray[np.uint32]: ...
    @property
    def nanos(self) -> NDArray[np.uint64]: ...
    @property
    def stopped_nanos(self) -> int: ...
    @property
    def stopped(self) -> int | None: ...
    @property
    def decision(self) -> Decision | None: ...
    @property
    def asks(self) -> NDArray[np.uint32] | None: ...
    @property
    def assumed(self) -> int | None: ...
    @property
    def kept(self) -> list[tuple[int, int]]: ...
    @property
    def shortage(self) -> Shortage | None: ...

@final
class Shortage:
    """Why a gang has no places.

    Attributes:
        need: members that must get places together.
        placeable: how many of them do.
        member: the first that does not; None if there are not enough members.
        message: what its filters say of the nodes, with the others in place.
        plugins: whose events can help.
        nearest: the least that must become free, such as ``2 more nvidia.com/gpu``; empty where amounts are
            not all that is in the way.
        holders: who holds most of it: a pod, its gang if it stands for one, the amount.
        domain: the topology domain that came nearest, such as ``rack=r1``.
        domains: how many domains the topology keys make.
        failed: whether it is an error.

    """

    @property
    def need(self) -> int: ...
    @property
    def placeable(self) -> int: ...
    @property
    def member(self) -> int | None: ...
    @property
    def message(self) -> str: ...
    @property
    def plugins(self) -> list[str]: ...
    @property
    def nearest(self) -> str: ...
    @property
    def holders(self) -> list[tuple[int, int | None, str]]: ...
    @property
    def domain(self) -> str: ...
    @property
    def domains(self) -> int: ...
    @property
    def failed(self) -> bool: ...

@final
class Said:
    """What Python plugins say of a gang's members; see ``Engine.said``."""

@final
class GangEviction:
    """What preemption can do for a gang.

    Attributes:
        result: ``nominate``, ``helpless`` or ``ineligible``.
        places: members and the rows they are to go to.
        victims: the most important first; none if those that leave anyway are enough.
        violations: how many of them a disruption budget wanted to keep.

    """

    @property
    def result(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def places(self) -> list[tuple[int, int]]: ...
    @property
    def victims(self) -> list[int]: ...
    @property
    def violations(self) -> int: ...

#: Plugin, code, reasons.
_Rejected: TypeAlias = tuple[str, int, list[str]]

def refused(asked: NDArray[np.bool_], mask: NDArray[np.bool_], /) -> NDArray[np.bool_] | None:
    """Return where ``asked`` is true and ``mask`` is not, read-only; None if that is nowhere."""

def first_outside(scores: NDArray[np.int64], counts: NDArray[np.bool_], low: int, high: int, /) -> int | None:
    """Return the position of the first score that counts and is not within ``low..high``."""

@final
class Opened:
    """How a pod fares with the native plugins alone, nodes in the order of ``Engine.columns().live()``.

    Attributes:
        steps: PreFilter plugins that rejected the pod or left nodes out: plugin, code, reasons, names.
        first: int16, shape (nodes,): the place in the profile's Filter list of the first native plugin that
            rejects the node, -1 where none does, 0 where PreFilter left it out; empty if the pod is rejected.
        passed: bool, shape (nodes,): nodes that no native plugin rejects.
        last: the greatest place in ``first``.
        crowded: nodes that are out because of pods nominated there: position and refusal.
        contested: positions of nodes with nominated pods that this one may not push aside.
        failed: the message if something else went wrong.

    """

    @property
    def steps(self) -> list[tuple[str, int, list[str], list[str] | None]]: ...
    @property
    def first(self) -> NDArray[np.int16]: ...
    @property
    def passed(self) -> NDArray[np.bool_]: ...
    @property
    def count(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def crowded(self) -> list[tuple[int, _Rejected]]: ...
    @property
    def contested(self) -> list[int]: ...
    @property
    def failed(self) -> str | None: ...

@final
class Columns:
    """The columns of all rows at one moment, as read-only views without a copy.

    Each is int64, shape (rows,), valid and constant for as long as it is kept. Resources are numbers
    (``Engine.resource``); None: no node and no pod has named it when the columns were taken.
    """

    def allocatable(self, resource: int, /) -> NDArray[np.int64] | None: ...
    def requested(self, resource: int, /) -> NDArray[np.int64] | None: ...
    def nonzero_requested(self, resource: int, /) -> NDArray[np.int64] | None: ...
    def allowed_pods(self) -> NDArray[np.int64]: ...
    def pod_count(self) -> NDArray[np.int64]: ...
    def live(self) -> NDArray[np.int64] | None:
        """Return the rows that are nodes, ascending; None where all are."""

    def __len__(self) -> int: ...

@final
class Engine:
    """Snapshot, profiles and queue behind one lock. Pods are handles, nodes are rows, times nanoseconds.

    Objects come in as Kubernetes JSON, defaulted and validated. Unknown handles and rows raise ``KeyError``,
    JSON that is no such object ``podium.errors.CoreError``.

    Args:
        choose: ``seeded`` (uniformly among the best, by seed, pod uid and attempt) or ``upstream``.
        seed: of the choice among equals.
        sample: look only at kube-scheduler's sample of the nodes.

    """

    def __new__(cls, *, choose: str = "seeded", seed: int = 0, sample: bool = False) -> Engine: ...
    def add_profile(self, json: bytes, /) -> None: ...
    def set_node(self, json: bytes, /) -> int: ...
    def remove_node(self, name: str, /) -> int | None: ...
    def set(self, kind_name: str, json: bytes, /) -> None: ...
    def remove(self, kind_name: str, namespace: str, name: str, /) -> None: ...
    def add_pod(self, json: bytes, /) -> int: ...
    def add_pods(
        self, metadata: list[bytes], specs: list[bytes], statuses: list[bytes], /
    ) -> NDArray[np.uint32]:
        """Add pods as the JSON of their parts, an empty status is none; those on nodes are put there."""

    def keep_examples(self, pods: NDArray[np.uint32], /) -> None:
        """Keep what pending pods, just added, say; examples are numbered from 0 in the order of keeping."""

    def forget_examples(self) -> None:
        """Drop all examples; numbering starts anew."""

    def add_pods_like(
        self, examples: NDArray[np.uint32], names: list[str], uids: list[str], /
    ) -> NDArray[np.uint32]:
        """Add pending pods that differ from examples in name and uid alone."""

    def add_pods_labelled(
        self,
        examples: NDArray[np.uint32],
        names: list[str],
        uids: list[str],
        labels: list[Mapping[str, str] | None],
        /,
    ) -> NDArray[np.uint32]:
        """Add pending pods that differ from examples in name, uid, labels and annotations alone.

        Raises:
            ValueError: an example has affinity to pods or spread constraints, which labels may be part of.

        """

    def add_settled(
        self,
        examples: NDArray[np.uint32],
        names: list[str],
        uids: list[str],
        nodes: list[str],
        starts: list[str | None],
        wholes: list[tuple[bytes, bytes, bytes]],
        /,
    ) -> NDArray[np.uint32]:
        """Add pods on nodes, in order. Those that differ only in name, uid, node and start have an example.

        Args:
            examples: by number, from 0. The next one that is not kept yet stands for the next of ``wholes``,
                and keeps it; so does any higher number, without keeping it.
            names: each pod's own.
            uids: each pod's own.
            nodes: spec.nodeName of each.
            starts: status.startTime of each.
            wholes: metadata, spec and status as JSON of pods without an example, in order.

        """

    def forget_settled(self) -> None:
        """Drop the examples of ``add_settled``; numbering starts anew."""

    def update_pod(self, pod: int, json: bytes, /) -> None: ...
    def remove_pod(self, pod: int, /) -> None: ...
    def schedule(self, pod: int, attempt: int = 0) -> Decision:
        """Find a node; nothing is placed."""

    def schedule_batch(self, pods: NDArray[np.uint32], attempts: NDArray[np.uint64], /) -> NDArray[np.int32]:
        """Schedule and assume pods in order, past the queue; -1 for the first that fails, which ends it."""

    def preempt(self, pod: int, attempt: int = 0) -> Eviction | None:
        """Say which pods to evict for a pod that was found unschedulable; None if preemption is off."""

    def assume(self, pod: int, row: int, /) -> _Rejected | None:
        """Take a node for a pod; returns who refuses at Reserve, None on success."""

    def forget(self, pod: int, /) -> None:
        """Undo ``assume``: unreserve in reverse order, then off the node."""

    def nominate(self, pod: int, node: str | None, /) -> None: ...
    def nominated(self, pod: int, /) -> str | None: ...
    def feasible(self, pod: int, /) -> list[str]:
        """Names of the nodes that pass every filter, in node order."""

    def volume_writes(self, pod: int, /) -> list[tuple[str, str, str, bytes, bytes]]:
        """Return what must be written before a reserved pod can be bound.

        Kind, namespace, name, JSON merge patch, and the write as ``VolumeController.write`` takes it.
        """

    def volumes_bound(self, pod: int, /) -> bool:
        """Tell whether all claims of a reserved pod are bound; raises CoreError if they never will be."""

    def row(self, name: str, /) -> int | None: ...
    def node_name(self, row: int, /) -> str: ...
    def node_names(self, rows: NDArray[np.uint32], /) -> list[str]: ...
    def rows_of(self, pods: NDArray[np.uint32], /) -> NDArray[np.int32]:
        """Row of each pod, -1 where it is on none."""

    def totals(self) -> dict[str, tuple[int, int]]:
        """Allocatable and requested of every resource, summed over all nodes, in base units."""

    def explain(self, pod: int, /) -> dict[str, Any]:
        """Judge a pod alone: state, message, plugins, feasible, nodes, totals, scores."""

    def nominated_below(self, pod: int, node: str, /) -> list[int]:
        """Pods of lower priority nominated to a node: a pod nominated there pushes them aside."""

    def audit(self, pod: int, /) -> bytes:
        """Return all that all plugins have to say about a pod, as JSON (tests/parity/README.md, tier A)."""

    def node_order(self) -> list[str]:
        """Names of the nodes in kube-scheduler's order."""

    def classes(self) -> int:
        """How many classes of pods have remembered results."""

    def columns(self) -> Columns: ...
    def resource(self, name: str, /) -> int | None: ...
    def label(self, key: str, /) -> tuple[NDArray[np.int32], list[str]]:
        """Return a label by row: which of the values each node has, -1 where it has none."""

    def names(self) -> list[str]:
        """Return the names by row; empty where a row is no node."""

    def columns_at(self, rows: NDArray[np.uint32], /) -> Columns:
        """Return the columns of some rows, as copies."""

    def touch(self, rows: Sequence[int], /) -> None:
        """Say that Python plugins may see something else on these rows."""

    def set_concern(
        self,
        pods: NDArray[np.uint32],
        kind: int,
        concerned: bool,
        table: int | None = None,
        up_to_node: bool = False,
    ) -> None:
        """Say what Python plugins mean to pods of a profile that has some.

        Args:
            pods: handles.
            kind: a number for pods that are alike to the plugins.
            concerned: whether any of them concerns the pods.
            table: where to remember what they say of nodes; None: they are not asked for that (with
                ``up_to_node``), or must be asked for everything.
            up_to_node: the cycle goes on in Python once a node is found.

        """

    def resume(
        self,
        batch: Batch,
        accepts: Sequence[NDArray[np.bool_]],
        scores: Sequence[tuple[NDArray[np.int64], int]],
        limit: int,
        now: int,
    ) -> Batch | None:
        """Take what plugins say of the rows that were asked for, and go on with the pod and the batch.

        Args:
            batch: the one that asked; the answer has its pods too, it has none any more.
            accepts: one mask per filter, shape (rows,).
            scores: scores and weight of each score plugin, shape (rows,).
            limit: the most pods in the answer.
            now: as for ``run_batch``; the resumed pod is not timed.

        Returns:
            None if a score is outside 0..100 where the filters accept the row: then nothing is remembered,
            and the batch is as it was.

        """

    def open(self, pod: int, /) -> Opened:
        """Ask the native plugins about all nodes; there must be one."""

    def no_nodes(self) -> Decision | None:
        """Return how a cycle ends where there is no node at all, None where there is one."""

    def reasons(self, pod: int, within: NDArray[np.bool_], /) -> tuple[list[tuple[str, int]], list[str]]:
        """Return why native plugins reject the nodes of a mask: reasons with numbers, and the plugins."""

    def codes(self, pod: int, /) -> NDArray[np.uint8]:
        """Return the code of the native plugins per node."""

    def native_status(self, pod: int, row: int, /) -> _Rejected | None: ...
    def sampled(self, pod: int, feasible: NDArray[np.bool_], /) -> NDArray[np.bool_]:
        """Return the feasible nodes that kube-scheduler would have found before it stopped looking."""

    def best(
        self, pod: int, within: NDArray[np.bool_], scores: Sequence[tuple[NDArray[np.int64], int]], /
    ) -> int | None:
        """Return the row of the best node, by the native scores as if only the nodes of a mask were feasible.

        ``scores`` are added, each with its weight.

        Raises:
            CoreError: if a native score fails.

        """

    def explain_within(self, pod: int, within: NDArray[np.bool_], /) -> dict[str, Any]:
        """Return the native scores as if only a mask's nodes were feasible, in the form of ``explain``."""

    def begin_overlay(self) -> None:
        """Open a what-if transaction; they nest. While one is open nothing real may change."""

    def place_in_overlay(self, pod: int, row: int, /) -> tuple[str, int, list[str]] | None:
        """Place a pod; returns plugin, code and reasons of a native refusal at Reserve."""

    def evict_in_overlay(self, pod: int, /) -> None: ...
    def end_overlay(self) -> None: ...
    def begin_trial(self, pod: int, /) -> bool:
        """Begin to try a pod on hypothetical nodes, as preemption does; the same rules as for overlays."""

    def try_with(self, pod: int, row: int, /) -> None: ...
    def try_without(self, pod: int, /) -> None: ...
    def try_row(self, row: int, /) -> _Rejected | None: ...
    def restart_trial(self) -> None: ...
    def end_trial(self) -> None: ...
    def plan_preemption(
        self, pod: int, attempt: int, codes: NDArray[np.uint8], /
    ) -> tuple[list[int], int, Eviction | None] | None:
        """Return rows to try and how many candidates are enough, or the end; None if preemption is off."""

    def pods_below(self, pod: int, row: int, /) -> list[int]:
        """Pods on a row of lower priority."""

    def nominated_above(self, pod: int, row: int, /) -> list[int]:
        """Pods nominated to a row that this one may not push aside."""

    def nominated_to(self, node: str, /) -> list[int]:
        """Pods nominated to a node."""

    def rank_victims(self, victims: list[int], /) -> tuple[list[int], list[int]]:
        """Sort by importance; return those whose eviction violates a budget, and the others."""

    def by_importance(self, pods: list[int], /) -> list[int]: ...
    def conclude_preemption(
        self, candidates: list[tuple[int, list[int], int]], statuses: list[tuple[int, list[str]]], /
    ) -> Eviction:
        """Choose among candidates (row, victims, violations), or say why there is none."""

    def set_backoff(self, initial: int, max: int, /) -> None:  # noqa: A002 (positional only)
        """Set the queue's backoff; empties the queue, so it comes first."""

    def order_by_places(self) -> None:
        """Order the queue by places instead of priority; comes after ``set_backoff``."""

    def set_places(self, pods: NDArray[np.uint32], places: NDArray[np.uint64], /) -> None:
        """Say where queued pods stand, the least first; pods that are in no queue are left out."""

    def register_plugin(self, name: str, events: int, /) -> int:
        """Give a plugin its bit in the queue's sets; returns the bit's position."""

    def set_pod_events(self, added: int, deleted: int, /) -> None:
        """Set the event bits that the core itself announces."""

    def awaits(self, event: int, /) -> bool:
        """Tell whether anything is parked, or in flight, to which one of the events may be news."""

    def announce(
        self,
        pod: int,
        event: int,
        now: int,
        spared: Sequence[tuple[int, int]] = (),
        gang: int | None = None,
    ) -> int:
        """Tell the queue of something that happened to a pod on a node; returns how many pods it woke.

        The pod itself does not hear of it, nor does ``gang`` while it is in flight: it is their own doing.
        """

    def enqueue(self, pod: int, since: int, gated: bool, created: int | None = None) -> None: ...
    def enqueue_many(
        self, pods: NDArray[np.uint32], since: int, created: NDArray[np.int64] | None = None
    ) -> None:
        """Queue pods that were just added, in this order; ``created`` orders those of one tenant."""

    def enqueue_group(self, group: int, json: bytes, since: int, tenant: int = 0) -> None:
        """Put a group into the queue.

        Args:
            group: a number with the top bit (2**31) set; the queue takes it wherever it takes a pod.
            json: ``priority``, ``created`` (nanoseconds), ``completing`` (members that a running group
                misses), ``gated`` and ``request`` (name -> quantity, of the whole group).
            since: now, in nanoseconds.
            tenant: its lane where tenants take turns.

        """

    def amend_group(self, group: int, json: bytes, /) -> None:
        """Take over what changed of a queued group; its age stays."""

    def set_tenants(
        self, tree: bytes, handles: NDArray[np.uint32], positions: NDArray[np.uint32], /
    ) -> list[int]:
        """Replace all tenants.

        Args:
            tree: JSON: ``bandFirst``, ``resourceWeights`` (name -> [numerator, denominator]) and ``tenants``,
                parents first, each with ``name``, ``parent`` (position or null), ``weight`` ([n, d] or null),
                ``priority``, ``capability``, ``guarantee`` and ``deserved`` (name -> quantity).
            handles: all known pods and queued groups.
            positions: the position in ``tenants`` of the leaf that each belongs to.

        Returns:
            The handles of ``tenants``: the lanes of the queue.

        Raises:
            CoreError: if the shares refuse something.

        """

    def add_tenant(self, name: str, parent: int | None = None, /) -> int: ...
    def assign_tenants(self, handles: NDArray[np.uint32], tenants: NDArray[np.uint32], /) -> None:
        """Say whose pods or queued groups these are; books and lanes follow."""

    def tenants(
        self,
    ) -> list[tuple[int, str, str | None, tuple[int, int], list[tuple[str, int]], str | None, int, int]]:
        """Return all tenants and inner queues.

        Each: handle, name, parent, weight, amounts in use, dominant resource, its use and its capacity.
        """

    def tenant_order(self) -> list[int]:
        """Return the tenants that have something active, the next one first."""

    def tenant_refusal(self, handle: int, /) -> str | None:
        """Return why the tenant of a pod or queued group may not have what it asks for; None if it may."""

    def reclaim(
        self, pod: int, spared_pods: NDArray[np.uint32], spared_tenants: NDArray[np.uint32], /
    ) -> tuple[int, list[int]] | None:
        """Return a row and the pods of other tenants that must leave it so that the pod fits.

        None: nobody owes the pod's tenant that much. With the victims gone and the pod in place, its tenant
        has no larger share than theirs, limits hold, and no disruption budget is violated.
        """

    def reclaim_group(
        self,
        group: int,
        spared_pods: NDArray[np.uint32],
        spared_tenants: NDArray[np.uint32],
        said: Said | None = None,
        /,
    ) -> GangEviction | None:
        """Return the pods of other tenants that must go so that a gang fits; conditions as of ``reclaim``."""

    def claimed_by_group(
        self, group: int, spared_pods: NDArray[np.uint32], spared_tenants: NDArray[np.uint32], /
    ) -> list[int]:
        """Return pods of other tenants that could be asked to leave for a gang."""

    def roomiest(self, pod: int, kept: int | None = None, /) -> int | None:
        """Return the row that has to lose least before the pod fits: ``kept`` if it can; None if none can."""

    def keep_space(self, pod: int, row: int, /) -> None:
        """Nominate a pod and keep the space from pods of any priority, the system-critical ones aside."""

    def wake_rejected(self, plugin: str, now: int, /) -> None:
        """Try again what a plugin rejected, whatever events it waits for."""

    def requeue(self, pod: int, gated: bool) -> None:
        """Take over a changed priority or gate of a queued pod."""

    def hold(self, pod: int, /) -> None:
        """Put a pod of the queue into the gated pool: a PreEnqueue plugin holds it."""

    def release(self, pod: int, now: int, /) -> None:
        """Let a pod leave the gated pool, to be tried as soon as its backoff is over."""

    def dequeue(self, pod: int, /) -> None: ...
    def pop(self) -> int | None: ...
    def settle(self, pod: int, /) -> None:
        """Let events mean nothing to a popped pod from now on: it waits for nobody any more."""

    def put_back(self, pod: int, now: int, rejected_by: int = 0, pending_by: int = 0) -> None:
        """Return a popped pod; without plugins it failed with an error."""

    def queue_event(
        self,
        event: int,
        now: int,
        spared: Sequence[tuple[int, int]] = (),
        *,
        node: bool = False,
        claim: tuple[str, str] | None = None,
        detached: bool = False,
        deaf: int = 0,
    ) -> int:
        """Wake what an event can help; returns how many pods.

        Args:
            event: its bits.
            now: the time in nanoseconds.
            spared: plugins (positions of bits) and kinds of pods that it cannot help.
            node: whether it is about the node that was set or removed last.
            claim: namespace and name of the claim that it is about.
            detached: whether a volume was detached.
            deaf: plugins, as bits, to whose pods it means nothing.

        """

    def parked_kinds(self, plugin: int, event: int, /) -> list[tuple[int, int]]:
        """Return one parked pod per kind, and the kind, that a plugin rejected and the event may help."""

    def activate(self, pod: int, /) -> None: ...
    def flush_queue(self, now: int, max_parked: int, /) -> None: ...
    def next_due(self, max_parked: int, /) -> int | None: ...
    def next_retry(self) -> int | None: ...
    def pool(self, pod: int, /) -> str | None: ...
    def attempts(self, pod: int, /) -> int: ...
    def queue_counts(self) -> dict[str, int]: ...
    def confirm(self, pods: NDArray[np.uint32], /) -> None:
        """Note that bindings succeeded; the pods leave the queue for good."""

    def run_batch(self, limit: int, now: int, timed: bool = False) -> Batch:
        """Pop, schedule and assume up to ``limit`` pods, without the GIL."""

    def add_groups(self, count: int, /) -> list[int]:
        """Make gangs; returns their numbers, whose handles in the queue have the top bit set."""

    def set_groups(
        self,
        groups: Sequence[int],
        minimum: int,
        role_minimums: Sequence[int],
        priority: int,
        may_preempt: bool,
        topology: Sequence[str],
        preferred: bool,
        /,
    ) -> None:
        """Replace what gangs say of themselves, all the same.

        ``topology`` are label keys whose values members share.
        """

    def set_minimums(self, group: int, minimum: int, role_minimums: Sequence[int], /) -> None: ...
    def remove_group(self, group: int, /) -> None: ...
    def join_groups(
        self, groups: Sequence[tuple[int, int]], pods: Sequence[int], roles: Sequence[int], /
    ) -> None:
        """Add members, each with the number of its role; of each gang, how many of them are its, in order."""

    def leave_group(self, pod: int, /) -> None: ...
    def avoid_node(self, group: int, pod: int, node: str, /) -> None:
        """Keep a member from a node where its binding failed, if there is another for it."""

    def enqueue_gangs(
        self, groups: Sequence[int], since: int, created: Sequence[int], completing: Sequence[bool], /
    ) -> None:
        """Queue gangs as one entity each, in this order; the core knows what they ask for."""

    def dequeue_gangs(self, groups: Sequence[int], /) -> None: ...
    def rest_gang(self, group: int, now: int, /) -> None:
        """Have a gang that waits in the queue rest as after an error."""

    def enqueue_surplus(self, pods: Sequence[int], since: int, /) -> None:
        """Queue members beyond their gang's minimum, behind everything else."""

    def try_group(self, group: int, said: Said | None = None) -> Shortage | None:
        """Return what a gang lacks now, None if it would get its places; nothing is kept."""

    def said(
        self,
        kinds: Sequence[tuple[int, int]],
        masks: Sequence[NDArray[np.bool_]],
        refused: Sequence[tuple[int, int, Sequence[int]]],
        /,
    ) -> Said:
        """Put together what Python plugins say of a gang's members.

        Args:
            kinds: each member and its kind: plugins cannot tell members of one kind apart.
            masks: by kind, the nodes that the plugins leave to it; bool, shape (nodes,).
            refused: a kind, a row, and how many members of each kind were there when a member was refused
                nevertheless; with more of them there it would be refused too.

        """

    def group_domains(self, group: int, /) -> tuple[list[tuple[str, list[int] | None]], int]:
        """Return where the missing members of a gang may be together, and how many domains its keys make.

        In the order in which it is tried: what the domain is called, and its rows; None: all nodes.
        """

    def arrange_group(self, group: int, said: Said, /) -> list[tuple[int, int]] | None:
        """Return where missing members could go, as far as Python plugins have said; nothing is kept."""

    def below_group(self, group: int, respect_budgets: bool, /) -> tuple[list[int], list[int]]:
        """Return the pods that could be evicted for a gang, and those below it that are leaving."""

    def preempt_group(self, group: int, respect_budgets: bool, said: Said | None = None) -> GangEviction: ...
    def foresee_group(
        self, group: int, pods: NDArray[np.uint32], ends: NDArray[np.int64], said: Said | None = None, /
    ) -> tuple[int, list[tuple[int, int]]] | None:
        """Return when a gang fits if pods leave at these times, and where; None if it never does."""

    def fill_gap(self, pod: int, group: int, /) -> int | None:
        """Schedule and assume a pod as if nothing were held for a gang; returns its row."""

    def fingerprint(self) -> int:
        """Return one number for everything that a transaction may touch."""

    def remembers_truly(self, pod: int, /) -> bool:
        """Tell whether what is remembered of a pod's class equals an evaluation from scratch."""

    def run_popped(self, pod: int, now: int, /) -> Batch:
        """Schedule and assume one popped pod."""

@final
class FairShares:
    """Dominant resource fairness: who has what, and who goes next.

    Tenants and inner queues are handles (ints) into a tree; resources are indices ``0..R``, amounts are ints
    from 0 to 2**63 - 1 in any unit. Every operation on one tenant costs O(depth x (R + log children)). All
    methods may be called from any thread. See ``docs/gang-and-fairness.md`` for the rule.

    Args:
        capacity: R, an amount per resource; a resource of capacity 0 is no part of any share.

    Raises:
        CoreError: in every method, for unknown handles, amounts of the wrong number, sign or size, and for
            whatever the method says; nothing has changed then.

    """

    def __new__(cls, capacity: Iterable[int]) -> FairShares: ...
    def capacity(self) -> list[int]: ...
    def set_capacity(self, capacity: Iterable[int]) -> None:
        """Replace the capacities and re-key all tenants; more amounts than before add resources."""

    def set_resource_weights(self, weights: Sequence[_Weight]) -> None:
        """Let a share of resource j count ``weights[j]`` times, not at all where that is 0."""

    def add(self, name: str, parent: int | None = None) -> int:
        """Add a tenant of weight 1 below ``parent`` (None: at the top); refused if the name exists."""

    def remove(self, tenant: int) -> None:
        """Remove a tenant without children, usage and head; its handle may be used again."""

    def find(self, name: str) -> int | None: ...
    def name(self, tenant: int) -> str: ...
    def tenants(self) -> list[int]:
        """Return all tenants and inner queues, by handle."""

    def parent(self, tenant: int) -> int | None: ...
    def set_parent(self, tenant: int, parent: int | None) -> None:
        """Move a tenant with all below it."""

    def weight(self, tenant: int) -> tuple[int, int]:
        """Return numerator and denominator."""

    def set_weight(self, tenant: int, weight: _Weight | None) -> None:
        """Set the weight among siblings: None is 1; 0 comes after all who have a claim."""

    def limits(self, tenant: int) -> tuple[list[_Limit], list[_Limit], list[_Limit]]:
        """Return capability, guarantee and deserved."""

    def set_limits(
        self,
        tenant: int,
        *,
        capability: Sequence[_Limit] = ...,
        guarantee: Sequence[_Limit] = ...,
        deserved: Sequence[_Limit] = ...,
    ) -> None:
        """Set the limits per resource: None is unset, ``math.inf`` unlimited; a list may be short."""

    def charge(self, tenant: int, request: Iterable[int]) -> None:
        """Add a request to the usage of a leaf and of all above it; no total may leave 64 bits."""

    def refund(self, tenant: int, request: Iterable[int]) -> None:
        """Take back what ``charge`` added; refused if the tenant does not use as much."""

    def used(self, tenant: int) -> list[int]: ...
    def total(self) -> list[int]:
        """Return the usage of all tenants together."""

    def admits(self, tenant: int, request: Iterable[int]) -> _Refusal | None:
        """Return what forbids the tenant to take the request: a capability, or the siblings' guarantees."""

    def releases(self, tenant: int, loss: Iterable[int], to: int) -> _Refusal | None:
        """Return what forbids to reclaim ``loss`` from the tenant: its guarantee, or what it deserves."""

    def set_head(self, tenant: int, time: int, sequence: int = 0, *, band: int = 0) -> None:
        """Say with which pod a leaf waits: the greatest band first; time and sequence decide ties."""

    def clear_head(self, tenant: int) -> None: ...
    def head(self, tenant: int) -> tuple[int, int, int] | None:
        """Return time, sequence and band."""

    def block(self, tenant: int) -> None:
        """Skip a tenant, or all below an inner queue, until it is unblocked."""

    def unblock(self, tenant: int) -> None: ...
    def unblock_all(self) -> None: ...
    def is_blocked(self, tenant: int) -> bool: ...
    def pick(self) -> int | None:
        """Return the leaf that goes next, None if nobody is ready."""

    def order(self) -> list[int]:
        """Return all leaves with a head in the order of the rule, blocked ones in their place."""

    def share(self, tenant: int) -> tuple[int | None, int, int]:
        """Return the dominant resource (None: all are 0), its usage and capacity; no weights applied."""

    def weighted_share(self, tenant: int) -> float:
        """Return the value that orders the tenant among its siblings, rounded to a float."""

    def compare(self, a: int, b: int) -> int:
        """Return -1, 0 or 1: what two tenants really have, by weight, exactly; in a tree where they part."""

    def fill(
        self,
        tenants: Sequence[int],
        demands: NDArray[np.int64],
        *,
        most: Sequence[int] | None = None,
        limit: int | None = None,
    ) -> NDArray[np.uint32]:
        """Grant constant demands to whoever is picked until nothing more fits the capacity.

        Args:
            tenants: leaves, with heads; nobody else may be ready.
            demands: int64, shape (tenants, R).
            most: the most grants of each tenant.
            limit: the most grants of all.

        Returns:
            uint32, one element per grant in order: an index into ``tenants``. The grants are charged.

        """

    def digest(self) -> int:
        """Return a hash of the books; equal after a charge and its refund."""

@final
class VolumeController:
    """Storage of a cluster in memory, and the controllers and provisioners that act on it at once.

    What kube-controller-manager v1.37.2 does with claims and volumes, without its delays. Raises
    ``podium.errors.CoreError`` for JSON that is no such object, and for writes that the API server refuses.
    """

    def __new__(cls) -> VolumeController: ...
    def apply(self, kind: str, json: bytes, /) -> None:
        """Take over an object; kinds that have nothing to do with storage are ignored."""

    def remove(self, kind: str, namespace: str, name: str, /) -> None: ...
    def write(self, action: bytes, /) -> None:
        """Carry out a write of the scheduler."""

    def settle(self) -> list[tuple[str, str, str, bytes | None]]:
        """Let the controllers act; return kind, namespace, name and JSON of what changed (None: deleted)."""
