import pytest
from podium.framework.config import Profile
from podium.framework.plugin import Plugin
from podium.framework.points import POINTS
from podium.framework.registry import implemented_points
from podium.framework.runner import Runner
from podium.framework.state import CycleState
from podium.testing import FakeHandle, make_node, make_pod, node_view


class Bench:
    """Puts plugins into a profile and remembers what the observer was told."""

    def __init__(self):
        self.seen = []
        self.clock = iter(range(1000))

    def runner(self, *plugins, order=None, weights=None, **options):
        """``plugins`` are classes or instances; ``order`` lists names, native ones included."""
        made = [plugin(None, FakeHandle()) if isinstance(plugin, type) else plugin for plugin in plugins]
        by_name = {plugin.name: plugin for plugin in made}
        names = order or list(by_name)
        points = {
            point: [
                (name, (weights or {}).get(name, 1))
                for name in names
                if name not in by_name or point in implemented_points(type(by_name[name]))
            ]
            for point in POINTS
        }
        profile = Profile(scheduler_name="s", percentage_of_nodes_to_score=0, points=points, args={})
        return Runner(
            profile, by_name, observer=self._observe, timer=lambda: float(next(self.clock)), **options
        )

    def _observe(self, point, plugin, code, seconds):
        assert seconds > 0
        self.seen.append((point, plugin, str(code)))


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def state():
    return CycleState()


@pytest.fixture
def pod():
    return make_pod("p").request(cpu="1").build()


@pytest.fixture
def nodes():
    return node_view([make_node(f"n{at}").capacity(cpu="4").build() for at in range(5)])


def make_plugin(name, **methods):
    """Make a plugin class from functions."""
    return type(name, (Plugin,), {"name": name, **methods})
