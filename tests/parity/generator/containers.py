"""Containers and what a pod asks for."""

from __future__ import annotations

from tests.parity.generator import vocabulary as words
from tests.parity.generator.chooser import chance, subset
from tests.parity.generator.quantities import (
    CPU_REQUESTS,
    GI,
    MEMORY_REQUESTS,
    MI,
    Amounts,
    huge,
    spelled,
)
from tests.parity.generator.world import Object, World


def draw_containers(w: World, spec: Object) -> Amounts:
    """Fill in containers, init containers, pod-level resources and overhead; return what the pod asks for."""
    drawn = [_container(w, f"c{i}") for i in range(w.c.pick((1, 1, 1, 2, 3)))]
    spec["containers"] = [container for container, _ in drawn]
    init = [_init_container(w, f"i{i}") for i in range(w.c.integer(1, 3))] if w.often("sidecars", 60) else []
    if init:
        spec["initContainers"] = [container for container, _ in init]
    total = _effective([a for _, a in drawn], [("restartPolicy" in c, a) for c, a in init])
    if w.often("podlevel", 50) and not w.has("huge"):
        _pod_level(w, spec, total)
    if w.often("podlevel", 40):
        overhead = _overhead(w)
        spec["overhead"] = spelled(w.c, overhead, odd=w.has("odd"))
        total = _sum(total, overhead)
    return total


def _sum(*parts: Amounts) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + amount
    return total


def _effective(regular: list[Amounts], init: list[tuple[bool, Amounts]]) -> Amounts:
    """What a pod needs at most at one time: all regular containers and sidecars, or an init stage."""
    sidecars: Amounts = {}
    stages = []
    for restartable, amounts in init:
        stages.append(_sum(sidecars, amounts))
        if restartable:
            sidecars = stages[-1]
    stages.append(_sum(sidecars, *regular))
    names = dict.fromkeys(name for stage in stages for name in stage)  # a set has no certain order
    return {name: max(stage.get(name, 0) for stage in stages) for name in names}


def _container(w: World, name: str) -> tuple[Object, Amounts]:
    container: Object = {"name": name, "image": w.c.pick(words.IMAGES)}
    if w.often("huge", 20):
        container["resources"] = {"requests": huge(w.c)}
        return container, {}
    amounts = draw_amounts(w)
    if resources := _resources(w, amounts):
        container["resources"] = resources
    if w.often("ports", 40):
        container["ports"] = _ports(w)
    return container, amounts


def draw_amounts(w: World) -> Amounts:
    """Requests of a container: no key, an explicit zero and an amount are three different things."""
    c = w.c
    amounts: Amounts = {}
    if not chance(c, 12):
        amounts["cpu"] = c.pick(CPU_REQUESTS)
    if not chance(c, 18):
        amounts["memory"] = c.pick(MEMORY_REQUESTS)
    if w.often("scalars", 30):
        amounts["ephemeral-storage"] = c.pick((10 * MI, 10 * MI, 500 * MI, 0))
    if w.often("scalars", 30):
        amounts[c.pick(words.EXTENDED)] = c.pick((1, 1, 2, 0, 4))
    if "memory" in amounts and w.often("scalars", 8):
        amounts["hugepages-2Mi"] = c.pick((2 * MI, 128 * MI))
    elif "cpu" in amounts and w.often("scalars", 4):
        amounts["hugepages-1Gi"] = c.pick((GI, 2 * GI))
    return amounts


def _resources(w: World, amounts: Amounts) -> Object:
    if not amounts:
        return {}
    requests = spelled(w.c, amounts, odd=w.has("odd"))
    limits = {n: requests[n] for n in amounts if n in words.EXTENDED or n in words.HUGEPAGES}
    if chance(w.c, 25) and amounts.get("cpu"):
        limits["cpu"] = f"{amounts['cpu'] * w.c.pick((1, 2))}m"
    return {"requests": requests, "limits": limits} if limits else {"requests": requests}


def _init_container(w: World, name: str) -> tuple[Object, Amounts]:
    container, amounts = _container(w, name)
    if chance(w.c, 50):
        container["restartPolicy"] = "Always"
    return container, amounts


def _ports(w: World) -> list[Object]:
    found: dict[tuple[str, str, int], Object] = {}
    for _ in range(w.c.integer(1, 2)):
        port: Object = {"containerPort": w.c.pick(words.HOST_PORTS), "protocol": w.c.pick(words.PROTOCOLS)}
        if not chance(w.c, 15):
            port["hostPort"] = w.c.pick(words.HOST_PORTS)
        if ip := w.c.pick(words.HOST_IPS):
            port["hostIP"] = ip
        found[ip, port["protocol"], port.get("hostPort", 0)] = port
    return list(found.values())


def _pod_level(w: World, spec: Object, total: Amounts) -> None:
    """Requests of the pod as a whole: at least what its containers ask for, as validation wants.

    The API server fills in what only the containers mention; objects that are older than that mention less.
    """
    for name in subset(w.c, ("cpu", "memory"), 2) or ["cpu"]:
        extra = w.c.pick((0, 64 * MI, 1000) if name == "memory" else (0, 100, 1000))
        total[name] = total.get(name, 0) + extra
        spec.setdefault("resources", {"requests": {}})["requests"][name] = ""
    requests = spec["resources"]["requests"]
    if not chance(w.c, 20):
        requests |= {name: "" for name in total if name in {"cpu", "memory", *words.HUGEPAGES}}
    requests |= spelled(w.c, {name: total[name] for name in requests}, odd=False)


def _overhead(w: World) -> Amounts:
    overhead: Amounts = {"cpu": w.c.pick((10, 100, 250))}
    if chance(w.c, 60):
        overhead["memory"] = w.c.pick((16 * MI, 100 * MI))
    return overhead
