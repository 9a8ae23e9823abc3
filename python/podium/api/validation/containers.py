"""Containers, init containers and sidecars."""

from collections.abc import Iterable

from podium.api.objects.pod import Container, ContainerPort, PodSpec
from podium.api.validation.fields import Errors
from podium.api.validation.names import dns_label, port_name
from podium.api.validation.resources import port, requirements

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_RESTART = ("Always", "Never", "OnFailure")
_ACTIONS = ("Restart", "RestartAllContainers")
_MAX_RULES = 20


def containers(errors: Errors, spec: PodSpec, path: str) -> None:
    """Check the containers of a pod."""
    if not spec.containers:
        errors.required(path)
        return
    seen: set[str] = set()
    for index, item in enumerate(spec.containers):
        at = f"{path}[{index}]"
        _common(errors, item, at)
        if item.name in seen:
            errors.duplicate(f"{at}.name", item.name)
        seen.add(item.name)
        _restart(errors, item, at)
    _host_ports(errors, spec.containers, path)


def init_containers(errors: Errors, spec: PodSpec, path: str) -> None:
    """Check the init containers and sidecars of a pod."""
    seen = {item.name for item in spec.containers}
    for index, item in enumerate(spec.init_containers):
        at = f"{path}[{index}]"
        _common(errors, item, at)
        _restart(errors, item, at)
        if item.name in seen:
            errors.duplicate(f"{at}.name", item.name)
        elif item.name:
            seen.add(item.name)
        # Init containers run one by one, so each is checked alone (and upstream's path says index 0).
        _host_ports(errors, [item], path)


def _common(errors: Errors, item: Container, path: str) -> None:
    if not item.name:
        errors.required(f"{path}.name")
    else:
        errors.invalids(f"{path}.name", item.name, dns_label(item.name))
    if not item.image:
        errors.required(f"{path}.image")
    _ports(errors, item.ports, f"{path}.ports")
    requirements(errors, item.resources, f"{path}.resources")


def _restart(errors: Errors, item: Container, path: str) -> None:
    rules = item.restart_policy_rules
    if item.restart_policy is None:
        if rules:
            errors.required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
        return
    errors.one_of(f"{path}.restartPolicy", item.restart_policy, _RESTART)
    at = f"{path}.restartPolicyRules"
    if len(rules) > _MAX_RULES:
        errors.append(f"{at}: Too many: {len(rules)}: must have at most {_MAX_RULES} items")
    for index, rule in enumerate(rules):
        errors.one_of(f"{at}[{index}].action", rule.action, _ACTIONS)
        if rule.exit_codes is None:
            errors.required(f"{at}[{index}].exitCodes", "must be specified")


def _ports(errors: Errors, values: Iterable[ContainerPort], path: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(values):
        at = f"{path}[{index}]"
        if item.name:
            problems = port_name(item.name)
            errors.invalids(f"{at}.name", item.name, problems)
            if not problems and item.name in seen:
                errors.duplicate(f"{at}.name", item.name)
            seen.add(item.name)
        if item.container_port == 0:
            errors.required(f"{at}.containerPort")
        else:
            port(errors, f"{at}.containerPort", item.container_port)
        if item.host_port != 0:
            port(errors, f"{at}.hostPort", item.host_port)
        if not item.protocol:
            errors.required(f"{at}.protocol")
        else:
            errors.one_of(f"{at}.protocol", item.protocol, _PROTOCOLS)


def _host_ports(errors: Errors, values: Iterable[Container], path: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(values):
        for number, value in enumerate(item.ports):
            if value.host_port == 0:
                continue
            taken = f"{value.protocol}/{value.host_ip}/{value.host_port}"
            if taken in seen:
                errors.duplicate(f"{path}[{index}].ports[{number}].hostPort", taken)
            seen.add(taken)
