"""What a pod asks of a node, and what it holds there once it runs."""

from collections.abc import Callable
from fractions import Fraction

from tests.checker.quantity import read, whole

Amounts = dict[str, Fraction]
View = Callable[[dict], Amounts]


def incoming(pod: dict) -> dict[str, int]:
    """The request that the fit test of a new pod uses: the spec alone."""
    spec = pod["spec"]
    total = _containers(spec, lambda c: read((c.get("resources") or {}).get("requests")))
    return _counted(_with_pod_level(pod, total, _pod_level(spec)))


def held(pod: dict) -> dict[str, int]:
    """The request that a pod on a node counts for: the largest of spec, allocated and actuated."""
    spec, status = pod["spec"], pod.get("status") or {}
    infeasible = _resize_infeasible(status)
    statuses = {
        s["name"]: s for k in ("containerStatuses", "initContainerStatuses") for s in status.get(k) or []
    }

    def wanted(container: dict) -> Amounts:
        return read((container.get("resources") or {}).get("requests"))

    def allocated(container: dict) -> Amounts:
        given = statuses.get(container["name"], {}).get("allocatedResources")
        return read(given) if given is not None else {} if infeasible else wanted(container)

    def actuated(container: dict) -> Amounts:
        given = (statuses.get(container["name"], {}).get("resources") or {}).get("requests")
        return read(given) if given is not None else allocated(container)

    views: list[Amounts] = [_containers(spec, allocated), _containers(spec, actuated)]
    now = (status.get("resources") or {}).get("requests")
    if status.get("allocatedResources") is not None and now is not None:
        views = [read(status["allocatedResources"]), read(now)]
    if not infeasible:
        views.append(_containers(spec, wanted))
    return _counted(_with_pod_level(pod, _largest(views), _held_pod_level(pod, infeasible=infeasible)))


def _containers(spec: dict, view: View) -> Amounts:
    """Main containers and sidecars together, or the largest moment of the start-up, whichever is more."""
    running: Amounts = {}
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("containers") or []:
        running = _sum(running, view(container))
    for container in spec.get("initContainers") or []:
        own = view(container)
        if container.get("restartPolicy") == "Always":
            running, sidecars = _sum(running, own), _sum(sidecars, own)
            stage = sidecars
        else:
            stage = _sum(own, sidecars)
        peak = _largest([peak, stage])
    return _largest([running, peak])


def _pod_level(spec: dict) -> Amounts:
    return read((spec.get("resources") or {}).get("requests"))


def _held_pod_level(pod: dict, *, infeasible: bool) -> Amounts:
    own, status = _pod_level(pod["spec"]), pod.get("status") or {}
    if not any(_may_be_pod_level(name) for name in own) or status.get("resources") is None:
        return own
    reported = [read(status["resources"].get("requests")), read(status.get("allocatedResources"))]
    return _largest(reported if infeasible else [own, *reported])


def _with_pod_level(pod: dict, total: Amounts, pod_level: Amounts) -> Amounts:
    replaced = {**total, **{k: v for k, v in pod_level.items() if _may_be_pod_level(k)}}
    return _sum(replaced, read(pod["spec"].get("overhead")))


def _may_be_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _counted(amounts: Amounts) -> dict[str, int]:
    return {name: whole(name, amount) for name, amount in amounts.items() if counted(name)}


def counted(name: str) -> bool:
    """The resources a scheduler counts: the native three, and every scalar resource."""
    native = name in ("cpu", "memory", "ephemeral-storage")
    prefixed = "/" in name and not name.startswith("requests.")
    return native or prefixed or name.startswith(("hugepages-", "attachable-volumes-"))


def _resize_infeasible(status: dict) -> bool:
    pending = [c for c in status.get("conditions") or [] if c.get("type") == "PodResizePending"]
    return bool(pending) and pending[0].get("reason") == "Infeasible"


def _sum(a: Amounts, b: Amounts) -> Amounts:
    return {name: a.get(name, Fraction(0)) + b.get(name, Fraction(0)) for name in a | b}


def _largest(views: list[Amounts]) -> Amounts:
    names = {name for view in views for name in view}
    return {name: max(view[name] for view in views if name in view) for name in names}
