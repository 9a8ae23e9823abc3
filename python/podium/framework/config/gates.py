"""What closed feature gates take from a configuration."""

from msgspec.structs import replace

from podium.api.features import FeatureGates
from podium.framework.config.model import Profile, SchedulerConfig


def with_gates(config: SchedulerConfig, gates: FeatureGates) -> SchedulerConfig:
    """Return a configuration as kube-scheduler runs it with these gates.

    Without StorageCapacityScoring, VolumeBinding gives every node the same score.
    """
    if gates.enabled("StorageCapacityScoring"):
        return config
    return replace(config, profiles=[_without_score(profile, "VolumeBinding") for profile in config.profiles])


def _without_score(profile: Profile, name: str) -> Profile:
    score = [entry for entry in profile.points["score"] if entry[0] != name]
    return replace(profile, points={**profile.points, "score": score})
