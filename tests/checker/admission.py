"""What the API server fills in, for the fields that the checker reads; filling in twice changes nothing."""

from copy import deepcopy

from tests.checker.naming import namespace

TOLERATED_FOR_A_WHILE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
BUILT_IN_PRIORITY = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


class Admission:
    """The cluster objects that admission consults."""

    def __init__(self, objects: list[dict]) -> None:
        self.runtime_classes = {o["metadata"]["name"]: o for o in objects if o["kind"] == "RuntimeClass"}
        self.priority_classes = {o["metadata"]["name"]: o for o in objects if o["kind"] == "PriorityClass"}
        self.limit_ranges = [o for o in objects if o["kind"] == "LimitRange"]

    def admit(self, pod: dict) -> dict:
        """A copy of the pod as it would be stored; one stored before keeps what admission gave it then."""
        pod = deepcopy(pod)
        spec = pod["spec"]
        stored = "resourceVersion" in pod["metadata"]
        _requests_from_limits(spec)
        if not stored:
            self._limit_ranges(pod)
            self._runtime_class(spec)
            _default_tolerations(spec)
            _merge_label_keys(pod)
            _pod_level(spec)
        if "priority" not in spec:
            spec["priority"] = self._priority(spec)
        _host_network_ports(spec)
        return pod

    def _limit_ranges(self, pod: dict) -> None:
        for limit_range in self.limit_ranges:
            if namespace(limit_range) != namespace(pod):
                continue
            for item in limit_range["spec"].get("limits") or []:
                if item["type"] == "Container":
                    _limit_range_item(item, pod["spec"])

    def _runtime_class(self, spec: dict) -> None:
        runtime_class = self.runtime_classes.get(spec.get("runtimeClassName") or "")
        if runtime_class is None:
            return
        overhead = (runtime_class.get("overhead") or {}).get("podFixed")
        if overhead and not spec.get("overhead"):
            spec["overhead"] = overhead
        scheduling = runtime_class.get("scheduling") or {}
        if scheduling.get("nodeSelector"):
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **scheduling["nodeSelector"]}
        missing = [t for t in scheduling.get("tolerations") or [] if t not in (spec.get("tolerations") or [])]
        spec["tolerations"] = (spec.get("tolerations") or []) + missing

    def _priority(self, spec: dict) -> int:
        name = spec.get("priorityClassName")
        if name in BUILT_IN_PRIORITY:
            return BUILT_IN_PRIORITY[name]
        if name:
            return self.priority_classes.get(name, {}).get("value", 0)
        defaults = [c["value"] for c in self.priority_classes.values() if c.get("globalDefault")]
        return min(defaults, default=0)


def _containers(spec: dict) -> list[dict]:
    return (spec.get("containers") or []) + (spec.get("initContainers") or [])


def _fill(target: dict, defaults: dict | None) -> dict:
    return {**(defaults or {}), **target}


def _requests_from_limits(spec: dict) -> None:
    for container in _containers(spec):
        resources = container.setdefault("resources", {}) or {}
        container["resources"] = resources
        resources["requests"] = _fill(resources.get("requests") or {}, resources.get("limits"))


def _limit_range_item(item: dict, spec: dict) -> None:
    limits = _fill(item.get("default") or {}, item.get("max"))
    requests = _fill(_fill(item.get("defaultRequest") or {}, limits), item.get("min"))
    for container in _containers(spec):
        resources = container["resources"]
        resources["limits"] = _fill(resources.get("limits") or {}, limits)
        resources["requests"] = _fill(resources["requests"], requests)


def _pod_level(spec: dict) -> None:
    """Pod-level hugepages requests come from pod-level limits; cpu and memory only where no container asks.

    Where containers do ask, the request that the API server writes is their own sum, which is what the
    request arithmetic finds anyway.
    """
    resources = spec.get("resources") or {}
    if not resources.get("requests") and not resources.get("limits"):
        return
    asked = {name for c in _containers(spec) for name in c["resources"]["requests"]}
    requests = dict(resources.get("requests") or {})
    for name, amount in (resources.get("limits") or {}).items():
        huge = name.startswith("hugepages-")
        if name not in requests and (huge or (name in ("cpu", "memory") and name not in asked)):
            requests[name] = amount
    spec["resources"] = {**resources, "requests": requests}


def _default_tolerations(spec: dict) -> None:
    tolerations = list(spec.get("tolerations") or [])
    for key in TOLERATED_FOR_A_WHILE:
        if not any(
            t.get("key") in (key, None, "") and t.get("effect") in ("NoExecute", None, "")
            for t in tolerations
        ):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            )
    spec["tolerations"] = tolerations


def _host_network_ports(spec: dict) -> None:
    if spec.get("hostNetwork"):
        for container in _containers(spec):
            for port in container.get("ports") or []:
                port["hostPort"] = port.get("hostPort") or port["containerPort"]


def _merge_label_keys(pod: dict) -> None:
    """matchLabelKeys become requirements of the selector, as the API server stores them."""
    labels, spec = pod["metadata"].get("labels") or {}, pod["spec"]
    terms = list(spec.get("topologySpreadConstraints") or [])
    for side in ("podAffinity", "podAntiAffinity"):
        rules = (spec.get("affinity") or {}).get(side) or {}
        terms += rules.get("requiredDuringSchedulingIgnoredDuringExecution") or []
    for term in terms:
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
            for key in term.get(field) or []:
                requirement = {"key": key, "operator": operator, "values": [labels.get(key)]}
                expressions = (term.get("labelSelector") or {}).get("matchExpressions") or []
                if key in labels and term.get("labelSelector") is not None and requirement not in expressions:
                    term["labelSelector"]["matchExpressions"] = [*expressions, requirement]
