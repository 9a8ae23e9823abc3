"""Feature gates by kube-scheduler's names, given and checked as for kube-scheduler."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podium.api import gates
from podium.errors import InputError

_ALL_ALPHA, _ALL_BETA = "AllAlpha", "AllBeta"

_ON = gates.BETA_ON | gates.OPEN_ON | gates.LOCKED_ON
_LOCKED = gates.LOCKED_ON | gates.LOCKED_OFF

KNOWN: frozenset[str] = (
    gates.ALPHA | gates.BETA_ON | gates.BETA_OFF | gates.OPEN_ON | gates.OPEN_OFF | _LOCKED
    | {_ALL_ALPHA, _ALL_BETA}
)  # fmt: skip
"""Every name that kube-scheduler accepts."""

IMPLEMENTED: frozenset[str] = frozenset(
    [
        "ContainerRestartRules",
        "RestartAllContainersOnContainerExits",
        "StorageCapacityScoring",
        "TaintTolerationComparisonOperators",
        "VolumeLimitScaling",
    ]
)
"""Gates whose setting changes what Podium does; the others stay at their default."""

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


class FeatureGates(NamedTuple):
    """The gates that were set; all others have their default."""

    settings: Mapping[str, bool] = {}

    def enabled(self, name: str) -> bool:
        """Tell whether a gate is on; an own setting beats AllAlpha and AllBeta, those the default."""
        if name not in KNOWN:
            raise ValueError(f"unknown feature gate {name}")
        if name in self.settings:
            return self.settings[name]
        if name in gates.ALPHA:
            return self.settings.get(_ALL_ALPHA, False)
        if name in gates.BETA_ON or name in gates.BETA_OFF:
            return self.settings.get(_ALL_BETA, name in gates.BETA_ON)
        return name in _ON

    @property
    def unimplemented(self) -> Sequence[str]:
        """Gates that were set to other than their default without effect here, to be named to the user."""
        default = FeatureGates()
        changed = (name for name, value in self.settings.items() if value != default.enabled(name))
        return sorted(name for name in changed if name not in IMPLEMENTED)


DEFAULT_GATES = FeatureGates()


def parse_gates(text: str) -> FeatureGates:
    """Read ``A=true,B=false``.

    Raises InputError in kube-scheduler's words for an unknown name, a value that is no boolean, or a
    gate that is locked to the other value.
    """
    settings: dict[str, bool] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise InputError(f"--feature-gates: missing bool value for {name}")
        if value not in _TRUE | _FALSE:
            raise InputError(f"--feature-gates: invalid value of {name}={value}: neither true nor false")
        if name not in KNOWN:
            raise InputError(f"--feature-gates: unrecognized feature gate: {name}")
        settings[name] = value in _TRUE
        _refuse_locked(name, value=settings[name])
    return FeatureGates(settings)


def _refuse_locked(name: str, *, value: bool) -> None:
    locked_to = name in gates.LOCKED_ON
    if name in _LOCKED and value != locked_to:
        word = {True: "true", False: "false"}
        raise InputError(
            f"--feature-gates: cannot set feature gate {name} to {word[value]}, "
            f"feature is locked to {word[locked_to]}"
        )
