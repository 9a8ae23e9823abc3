"""Random owners and their pods, with everything that a plugin of the descheduler reads."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.descheduler.differential.chance import Dice
from tests.descheduler.differential.nodes import GPU, NAMESPACES, ZONES, Manifest, meta

EVICT = "descheduler.alpha.kubernetes.io/evict"
PREFER_NOT = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
APPS = ("web", "db", "job")
REASONS = ("CrashLoopBackOff", "ImagePullBackOff", "ContainerCreating")
ENDS = ("OOMKilled", "Error", "Completed")


class Clock:
    """Ages end in half minutes, so that whole minutes as bounds stay clear of them while a test runs."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def ago(self, minutes: int) -> str:
        at = self._now.astimezone(UTC) - timedelta(minutes=minutes, seconds=30)
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def tolerations(dice: Dice) -> list[Manifest]:
    options = [
        {"key": "dedicated", "operator": "Exists"},
        {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        {"operator": "Exists"},
        {"operator": "Exists", "effect": "NoExecute"},
        {"key": "load", "operator": "Lt", "value": dice.pick(("7", "8", "x"))},
        {"key": "load", "operator": "Gt", "value": "6", "effect": "NoSchedule"},
    ]
    automatic = [
        {
            "key": f"node.kubernetes.io/{what}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }
        for what in ("not-ready", "unreachable")
    ]
    return (dice.some(options, 3) if dice.percent(40) else []) + (automatic if dice.percent(70) else [])


def expressions(dice: Dice) -> list[Manifest]:
    options = [
        {"key": "zone", "operator": "In", "values": dice.some(ZONES, 2, 1)},
        {"key": "zone", "operator": "NotIn", "values": [dice.pick(ZONES)]},
        {"key": "disk", "operator": dice.pick(("Exists", "DoesNotExist"))},
        {"key": "pool", "operator": "In", "values": [dice.pick(("x", "y"))]},
    ]
    return dice.some(options, 2, 1)


def selector(dice: Dice) -> Manifest:
    if dice.percent(70):
        return {"matchLabels": {"app": dice.pick(APPS)}}
    values = dice.some(APPS, 2, 1)
    return {"matchExpressions": [{"key": "app", "operator": dice.pick(("In", "NotIn")), "values": values}]}


def affinity(dice: Dice) -> Manifest:
    result: Manifest = {}
    if dice.percent(30):
        terms = [{"matchExpressions": expressions(dice)} for _ in range(dice.randint(1, 2))]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        result["nodeAffinity"] = required
    if dice.percent(20):
        preferred = [
            {"weight": dice.randint(1, 100), "preference": {"matchExpressions": expressions(dice)}}
            for _ in range(dice.randint(1, 2))
        ]
        result.setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    if dice.percent(25):
        term: Manifest = {
            "labelSelector": selector(dice),
            "topologyKey": dice.pick(("kubernetes.io/hostname", "zone", "missing")),
        }
        if dice.percent(20):
            term["namespaces"] = dice.some(NAMESPACES, 2, 1)
        result["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return result


def spread(dice: Dice) -> list[Manifest]:
    result = []
    for _ in range(dice.randint(1, 2)):
        item: Manifest = {
            "maxSkew": dice.randint(1, 2),
            "topologyKey": dice.pick(("zone", "kubernetes.io/hostname", "disk")),
            "whenUnsatisfiable": dice.pick(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": selector(dice),
        }
        if dice.percent(15):
            item["matchLabelKeys"] = ["revision"]
        if dice.percent(20):
            item["nodeAffinityPolicy"] = dice.pick(("Ignore", "Honor"))
        if dice.percent(25):
            item["nodeTaintsPolicy"] = dice.pick(("Ignore", "Honor"))
        result.append(item)
    return result


def resources(dice: Dice) -> Manifest:
    requests = {}
    if dice.percent(85):
        requests["cpu"] = dice.pick(("100m", "250m", "500m", "1", "1500m", "0"))
    if dice.percent(80):
        requests["memory"] = dice.pick(("128Mi", "512Mi", "1Gi", "2Gi", "1500M"))
    if dice.percent(10):
        requests[GPU] = "1"
    limits = dict(requests) if dice.percent(20) else {}
    return {key: value for key, value in (("requests", requests), ("limits", limits)) if value}


def template(dice: Dice) -> Manifest:
    """The specification that all pods of an owner share."""
    images = dice.some(("one:1", "two:1", "two:2"), 2, 1)
    spec: Manifest = {
        "containers": [
            {"name": f"c{number}", "image": image, "resources": resources(dice)}
            for number, image in enumerate(images)
        ],
    }
    if dice.percent(15):
        sidecar = {"restartPolicy": "Always"} if dice.percent(50) else {}
        spec["initContainers"] = [{"name": "i", "image": "init:1", "resources": resources(dice), **sidecar}]
    found = tolerations(dice)
    if found:
        spec["tolerations"] = found
    if dice.percent(15):
        spec["nodeSelector"] = dict([dice.pick((("disk", "ssd"), ("pool", "x"), ("zone", "a")))])
    placed = affinity(dice)
    if placed:
        spec["affinity"] = placed
    if dice.percent(35):
        spec["topologySpreadConstraints"] = spread(dice)
    volumes = (
        {"name": "v", "emptyDir": {}},
        {"name": "v", "hostPath": {"path": "/x"}},
        {"name": "v", "persistentVolumeClaim": {"claimName": dice.pick(("data-0", "data-1", "none"))}},
    )
    if dice.percent(18):
        spec["volumes"] = [dice.pick(volumes)]
    if dice.percent(5):
        spec["resourceClaims"] = [{"name": "r", "resourceClaimName": "claim"}]
    return spec


def container_status(dice: Dice, name: str) -> Manifest:
    roll = dice.randint(0, 9)
    state: Manifest = {"running": {"startedAt": "2026-03-02T08:00:00Z"}}
    if roll == 0:
        state = {"waiting": {"reason": dice.pick(REASONS)}}
    elif roll == 1:
        state = {"terminated": {"reason": dice.pick(ENDS), "exitCode": dice.pick((0, 1, 137))}}
    return {
        "name": name,
        "image": "x",
        "imageID": "",
        "ready": roll > 1,
        "restartCount": dice.pick((0, 0, 1, 5, 20, 100)),
        "state": state,
    }


def status(dice: Dice, clock: Clock, spec: Manifest) -> Manifest:
    phase = dice.pick(("Running",) * 12 + ("Failed", "Failed", "Succeeded", "Pending"))
    found: Manifest = {
        "phase": phase,
        "containerStatuses": [container_status(dice, item["name"]) for item in spec["containers"]],
    }
    if dice.percent(20):
        found["initContainerStatuses"] = [container_status(dice, "i")]
    if dice.percent(5):
        found["ephemeralContainerStatuses"] = [container_status(dice, "e")]
    if phase == "Failed" and dice.percent(50):
        found["reason"] = dice.pick(("Evicted", "NodeAffinity", "Shutdown"))
    if dice.percent(85):
        found["startTime"] = clock.ago(dice.randint(0, 200))
    if dice.percent(30):
        found["qosClass"] = dice.pick(("BestEffort", "Burstable", "Guaranteed"))
    if dice.percent(50):
        found["conditions"] = [
            {
                "type": "Ready",
                "status": dice.pick(("True", "False")),
                "reason": dice.pick(("", "ContainersNotReady")),
                "lastTransitionTime": clock.ago(dice.randint(0, 200)),
            }
        ]
    return found


def annotations(dice: Dice) -> Manifest:
    found = {}
    for key, chance in (
        (EVICT, 3),
        (PREFER_NOT, 8),
        ("kubernetes.io/config.mirror", 2),
        ("kubernetes.io/config.source", 3),
    ):
        if dice.percent(chance):
            found[key] = dice.pick(("true", "api", "file"))
    return found


def owners(dice: Dice, name: str) -> list[Manifest]:
    kinds = ["ReplicaSet"] * 6 + ["StatefulSet", "Job", "DaemonSet", ""]
    chosen = [dice.pick(kinds)] if dice.percent(94) else ["ReplicaSet", "Custom"]
    return [
        {"apiVersion": "v1", "kind": kind, "name": name, "uid": f"owner-{kind}-{name}"}
        for kind in chosen
        if kind
    ]


def pods(dice: Dice, clock: Clock, places: Sequence[str], number: int) -> Iterator[Manifest]:
    """Groups of pods, each of one owner, about ``number`` in all; most sit on few nodes."""
    made, group = 0, 0
    while made < number:
        group += 1
        spec, namespace = template(dice), dice.pick(NAMESPACES)
        name = f"g{group}"
        owned_by, app = owners(dice, name), dice.pick(APPS)
        crowded = dice.some(places, 2, 1)
        for _ in range(dice.randint(1, 6)):
            made += 1
            on = dice.pick(crowded) if dice.percent(60) else dice.pick([*places, ""])
            yield _pod(dice, clock, spec, meta(f"{name}-{made}", namespace), (owned_by, app, on))


def _pod(
    dice: Dice, clock: Clock, spec: Manifest, metadata: Manifest, rest: tuple[Any, str, str]
) -> Manifest:
    owned_by, app, on = rest
    metadata = {
        **metadata,
        "labels": {"app": app, "revision": dice.pick(("1", "2"))},
        "creationTimestamp": clock.ago(dice.randint(0, 300)),
    }
    if owned_by:
        metadata["ownerReferences"] = owned_by
    found = annotations(dice)
    if found:
        metadata["annotations"] = found
    if dice.percent(3):
        metadata["deletionTimestamp"] = clock.ago(0)
        metadata["deletionGracePeriodSeconds"] = 30
    spec = {**spec, **({"nodeName": on} if on else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": status(dice, clock, spec),
    }


def with_priorities(dice: Dice, items: Sequence[Manifest], *, distinct: bool) -> list[Manifest]:
    """Give pods their priorities: all different, or few values and sometimes none."""
    values = dice.sample(range(-50, 2000), len(items)) if distinct else None
    result = []
    for number, item in enumerate(items):
        priority = values[number] if values is not None else dice.pick((None, 0, 0, 10, 1000, 2_000_000_000))
        added = {} if priority is None else {"priority": priority}
        result.append({**item, "spec": {**item["spec"], **added}})
    return result
