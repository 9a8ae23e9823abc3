from podium.framework.config.v1 import Plugins
from podium.framework.native import NATIVE_PLUGINS
from podium.framework.points import POINTS, in_order, interface, label


def test_every_point_has_a_place_in_the_configuration():
    assert set(Plugins().by_point()) == {"multiPoint", *POINTS}


def test_native_plugins_use_known_points():
    assert all(set(points) <= set(POINTS) for points in NATIVE_PLUGINS.values())


def test_names():
    assert (label("preFilter"), interface("queueSort")) == ("PreFilter", "QueueSortPlugin")
    assert in_order(["score", "filter"]) == ("filter", "score")
