"""Makes the parts of a scheduler from its configuration."""

from collections.abc import Mapping, Sequence

from podium._core import Engine
from podium.errors import PluginError
from podium.framework.config import Profile, SchedulerConfig
from podium.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.events import bit, bits
from podium.scheduler.failures import Failures
from podium.scheduler.gangs.cycle import GangCycle
from podium.scheduler.gangs.gangs import Gangs
from podium.scheduler.profiles import DEFAULT_PREEMPTION, Profiles
from podium.scheduler.queue_order import QueueOrder
from podium.scheduler.registrations import NATIVE_EVENTS
from podium.scheduler.state import State

SECOND = 1_000_000_000

#: Points whose plugins can reject a pod.
_REJECTING = ("preEnqueue", "preFilter", "filter", "reserve", "permit")


def make_engine(config: SchedulerConfig, profiles: Sequence[Profile]) -> Engine:
    """Make a core with these profiles and nothing in it."""
    settings = config.podium
    engine = Engine(choose=settings.choose, seed=settings.seed, sample=settings.sampling == "upstream")
    engine.set_backoff(config.pod_initial_backoff_seconds * SECOND, config.pod_max_backoff_seconds * SECOND)
    for profile in profiles:
        engine.add_profile(profile.native_json())
    engine.set_pod_events(bit(Resource.ASSIGNED_POD, Action.ADD), bit(Resource.ASSIGNED_POD, Action.DELETE))
    return engine


def is_fair(config: SchedulerConfig) -> bool:
    """Whether tenants take turns; all profiles have the same queueSort plugin."""
    return config.profiles[0].names("queueSort") == ["DRF"]


def register_plugins(
    engine: Engine,
    profiles: Sequence[Profile],
    own: Mapping[str, Sequence[ClusterEvent]],
    *,
    fair: bool,
) -> tuple[dict[str, int], dict[str, int]]:
    """Give every plugin that can reject a pod its bit in the queue's sets.

    ``own`` has what Python plugins registered; one that is not there waits for all events. Returns the bit of
    each plugin, and the events, as bits, that it waits for.
    """
    names = dict.fromkeys(
        name for profile in profiles for point in _REJECTING for name in profile.names(point)
    )
    if fair:
        names["DRF"] = None
    everything = (ClusterEvent(Resource.WILDCARD, Action.ALL),)
    numbers: dict[str, int] = {}
    registered: dict[str, int] = {}
    for name in names:
        events = own.get(name) or NATIVE_EVENTS.get(name, () if name in own else everything)
        mask = bits(events)
        numbers[name] = 1 << engine.register_plugin(name, mask)
        registered[name] = mask
    return numbers, registered


def order_of(config: SchedulerConfig, engine: Engine, profiles: Profiles) -> QueueOrder | None:
    """Return the order of a Python queueSort plugin, None if it is native."""
    less = profiles.less()
    if less is None:
        return None
    (name,) = config.profiles[0].names("queueSort")
    if any("Gang" in profile.names("permit") for profile in config.profiles):
        text = f'plugin "{name}": a queueSort plugin written in Python orders single pods, not gangs'
        raise PluginError(f"{text}: disable the plugin Gang in every profile, or use PrioritySort or DRF")
    return QueueOrder(engine, less)


def gang_aware(config: SchedulerConfig) -> frozenset[str]:
    """Return the names of the profiles that know gangs."""
    return frozenset(p.scheduler_name for p in config.profiles if "Gang" in p.names("permit"))


def make_gang_cycle(config: SchedulerConfig, state: State, gangs: Gangs, failures: Failures) -> GangCycle:
    """Make what ends the cycles of gangs without places."""
    preempting = {p.scheduler_name for p in config.profiles if DEFAULT_PREEMPTION in p.names("postFilter")}
    return GangCycle(state.engine, state, gangs, failures, config.podium.gangs, frozenset(preempting))
