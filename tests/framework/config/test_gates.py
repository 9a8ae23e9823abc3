"""Closed gates and the configuration."""

from podium.api.features import FeatureGates
from podium.framework.config import default_config, with_gates


def scores(config) -> list[str]:
    (profile,) = config.profiles
    return profile.names("score")


def test_an_open_gate_changes_nothing():
    config = default_config()
    assert with_gates(config, FeatureGates()) is config
    assert "VolumeBinding" in scores(config)


def test_without_storage_capacity_scoring_volumes_are_not_scored_and_the_rest_is():
    config = default_config()
    closed = with_gates(config, FeatureGates({"StorageCapacityScoring": False}))
    assert scores(closed) == [name for name in scores(config) if name != "VolumeBinding"]
    assert "VolumeBinding" in closed.profiles[0].names("filter")
