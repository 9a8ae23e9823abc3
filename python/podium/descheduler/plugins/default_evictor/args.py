"""The arguments of DefaultEvictor, what may be wrong with them, and the protections they mean."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from podium.api import LabelSelector
from podium.descheduler.podfilter import PriorityThreshold
from podium.descheduler.policy.golang import GoName, Uint
from podium.descheduler.policy.model import Wire
from podium.framework.config.problems import quote
from podium.framework.duration import Duration

LOCAL_STORAGE: Final = "PodsWithLocalStorage"
DAEMON_SETS: Final = "DaemonSetPods"
SYSTEM_CRITICAL: Final = "SystemCriticalPods"
FAILED_BARE: Final = "FailedBarePods"
WITH_PVC: Final = "PodsWithPVC"
WITHOUT_PDB: Final = "PodsWithoutPDB"
RESOURCE_CLAIMS: Final = "PodsWithResourceClaims"

#: Protections that are on unless disabled, and those that are off unless enabled.
DEFAULT: Final = (LOCAL_STORAGE, SYSTEM_CRITICAL, FAILED_BARE, DAEMON_SETS)
EXTRA: Final = (WITH_PVC, WITHOUT_PDB, RESOURCE_CLAIMS)

PREFERRED: Final = "Preferred"
MANDATORY: Final = "Mandatory"

Protection = Annotated[str, GoName("defaultevictor.PodProtection")]
NoEvictionPolicy = Annotated[str, GoName("defaultevictor.NoEvictionPolicy")]


class StorageClass(Wire):
    """A storage class whose pods are protected."""

    GO_NAME = "defaultevictor.ProtectedStorageClass"
    name: str = ""


class PodsWithPVC(Wire):
    """The classes that PodsWithPVC protects; none: all."""

    GO_NAME = "defaultevictor.PodsWithPVCConfig"
    protected_storage_classes: Sequence[StorageClass] = ()


class ProtectionsConfig(Wire):
    """Settings of single protections."""

    GO_NAME = "defaultevictor.PodProtectionsConfig"
    pods_with_pvc: PodsWithPVC | None = msgspec.field(name="PodsWithPVC", default=None)


class PodProtections(Wire):
    """What is protected beside, or instead of, the default."""

    GO_NAME = "defaultevictor.PodProtections"
    extra_enabled: Sequence[Protection] = ()
    default_disabled: Sequence[Protection] = ()
    config: ProtectionsConfig | None = None


class Args(Wire):
    """``priority_threshold`` is resolved to a number when the policy is loaded."""

    GO_NAME = "DefaultEvictorArgs"
    api_version: str = ""
    kind: str = ""
    node_selector: str = ""
    label_selector: LabelSelector | None = None
    namespace_label_selector: LabelSelector | None = None
    priority_threshold: PriorityThreshold | None = None
    node_fit: bool = False
    min_replicas: Uint = 0
    min_pod_age: Duration | None = None
    no_eviction_policy: NoEvictionPolicy = ""
    pod_protections: PodProtections = msgspec.field(default_factory=PodProtections)
    evict_local_storage_pods: bool = False
    evict_daemon_set_pods: bool = False
    evict_system_critical_pods: bool = False
    ignore_pvc_pods: bool = False
    ignore_pods_without_pdb: bool = msgspec.field(name="ignorePodsWithoutPDB", default=False)
    evict_failed_bare_pods: bool = False

    def protections(self) -> frozenset[str]:
        """Return what is protected: the two lists decide if one has an item, else the deprecated switches."""
        lists = self.pod_protections
        if lists.default_disabled or lists.extra_enabled:
            return frozenset(DEFAULT) - frozenset(lists.default_disabled) | frozenset(lists.extra_enabled)
        switches = {
            LOCAL_STORAGE: not self.evict_local_storage_pods,
            DAEMON_SETS: not self.evict_daemon_set_pods,
            SYSTEM_CRITICAL: not self.evict_system_critical_pods,
            FAILED_BARE: not self.evict_failed_bare_pods,
            WITH_PVC: self.ignore_pvc_pods,
            WITHOUT_PDB: self.ignore_pods_without_pdb,
        }
        return frozenset(name for name, on in switches.items() if on)

    def storage_classes(self) -> frozenset[str]:
        """Return the classes that PodsWithPVC is limited to; empty: it is not."""
        config = self.pod_protections.config
        claims = config.pods_with_pvc if config else None
        return frozenset(item.name for item in claims.protected_storage_classes) if claims else frozenset()


def validate(args: Args) -> list[str]:
    """Return what is wrong with the arguments."""
    problems = []
    threshold, lists = args.priority_threshold, args.pod_protections
    if threshold is not None and threshold.value is not None and threshold.name:
        problems.append("priority threshold misconfigured, only one of priorityThreshold fields can be set")
    if args.no_eviction_policy not in ("", PREFERRED, MANDATORY):
        problems.append(f'noEvictionPolicy accepts only ["{PREFERRED}" "{MANDATORY}"] values')
    if lists.extra_enabled or lists.default_disabled:
        if _uses_deprecated(args):
            problems.append(
                "cannot use Deprecated fields alongside PodProtections.ExtraEnabled or "
                "PodProtections.DefaultDisabled"
            )
        problems += _list_problems(lists)
    return problems


def _uses_deprecated(args: Args) -> bool:
    return (
        args.evict_local_storage_pods
        or args.evict_daemon_set_pods
        or args.evict_system_critical_pods
        or args.ignore_pvc_pods
        or args.evict_failed_bare_pods
        or args.ignore_pods_without_pdb
    )


def _list_problems(lists: PodProtections) -> list[str]:
    problems = []
    for field, given, valid in (
        ("ExtraEnabled", lists.extra_enabled, EXTRA),
        ("DefaultDisabled", lists.default_disabled, DEFAULT),
    ):
        problems += [
            f"invalid pod protection policy in {field}: {quote(name)}. Valid options are: [{' '.join(valid)}]"
            for name in given
            if name not in valid
        ]
    for field, given in (
        ("DefaultDisabled", lists.default_disabled),
        ("ExtraEnabled", lists.extra_enabled),
    ):
        if len(set(given)) < len(given):
            problems.append(f"PodProtections.{field} contains duplicate entries")
    claims = lists.config.pods_with_pvc if lists.config else None
    if WITH_PVC in lists.extra_enabled and claims is not None:
        problems += [
            f"PodProtections.Config.PodsWithPVC.ProtectedStorageClasses[{at}] name cannot be empty"
            for at, item in enumerate(claims.protected_storage_classes)
            if not item.name
        ]
    return problems
