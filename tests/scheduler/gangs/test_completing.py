"""Members that a running gang misses go before everything of at most its priority, whoever's turn it is."""

from msgspec.structs import replace

from tests.scheduler.gangs.test_room import DRF, of
from tests.scheduler.gangs.world import World, gang, node, plain, with_minimum
from tests.scheduler.world import config_of


def world(*nodes):
    return World(*nodes, given=config_of(more=DRF))


def running(pods, name="n"):
    return [replace(pod, spec=replace(pod.spec, node_name=name)) for pod in pods]


def test_a_fresh_tenant_does_not_take_the_place_that_a_running_gang_needs():
    rich = of("rich", gang("r", 4))
    clients = world(node("n", gpu="4")).apply(*running(rich[:3]))
    clients.apply(*of("poor", [plain("p")]), rich[3]).settle()
    assert (clients.bound("r"), clients.bound("p")) == (["r-0", "r-1", "r-2", "r-3"], [])


def test_a_raised_minimum_takes_its_turn():
    rich = of("rich", gang("r", 4, 3))
    clients = world(node("n", gpu="4")).apply(*rich[:3]).settle()
    assert len(clients.bound("r")) == 3
    live = list(clients.cluster.pods())
    raised = [with_minimum(pod, 4) for pod in [*live, rich[3]]]
    clients.apply(*of("poor", [plain("p")]), *raised).settle()
    assert (len(clients.bound("r")), clients.bound("p")) == (3, ["p"])


def test_system_critical_pods_come_first_even_so():
    rich = of("rich", gang("r", 4))
    clients = world(node("n", gpu="4")).apply(*running(rich[:3]))
    critical = of("poor", [plain("p")])[0]
    critical = replace(critical, spec=replace(critical.spec, priority=2_000_000_000))
    clients.apply(critical, rich[3]).settle()
    assert clients.bound("p") == ["p"]
