"""In-place resize: what the kubelet reports of a bound pod that differs from its spec."""

from __future__ import annotations

from tests.parity.generator.chooser import chance
from tests.parity.generator.quantities import CPU_REQUESTS, MEMORY_REQUESTS, spelled
from tests.parity.generator.world import Object, World


def draw_resize(w: World, pod: Object) -> None:
    """Give a bound pod container statuses in some stage of a resize."""
    if not w.often("resize", 55):
        return
    spec, status = pod["spec"], pod["status"]
    status["containerStatuses"] = [_container_status(w, c) for c in spec["containers"] if not chance(w.c, 15)]
    if "initContainers" in spec:
        status["initContainerStatuses"] = [
            _container_status(w, c) for c in spec["initContainers"] if not chance(w.c, 30)
        ]
    if chance(w.c, 35):
        reason = w.c.pick(("Infeasible", "Deferred"))
        condition = {"type": "PodResizePending", "status": "True", "reason": reason}
        status["conditions"] = [*status.get("conditions", []), condition]
    if "resources" in spec and chance(w.c, 60):
        _pod_status(w, status)


def _amounts(w: World) -> dict[str, str]:
    amounts = {"cpu": w.c.pick(CPU_REQUESTS)}
    if not chance(w.c, 30):
        amounts["memory"] = w.c.pick(MEMORY_REQUESTS)
    return spelled(w.c, amounts, odd=w.has("odd"))


def _container_status(w: World, container: Object) -> Object:
    status: Object = {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": True,
        "restartCount": 0,
    }
    if not chance(w.c, 25):
        status["allocatedResources"] = _amounts(w)
    if not chance(w.c, 25):
        status["resources"] = {"requests": _amounts(w)}
    return status


def _pod_status(w: World, status: Object) -> None:
    """The same at pod level. Either map may be missing; then the aggregates of the containers stand."""
    if not chance(w.c, 25):
        status["resources"] = {"requests": _amounts(w)}
    if not chance(w.c, 25):
        status["allocatedResources"] = _amounts(w)
