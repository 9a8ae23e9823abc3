"""A scheduler with gangs on a cluster in memory, driven on the virtual clock."""

from msgspec.structs import replace
from podium.api import (
    CoschedulingPodGroup,
    ObjectMeta,
    Pod,
    PodGroup,
    ResourceRequirements,
    VolcanoPodGroup,
)
from podium.api.objects.groups import (
    CoschedulingPodGroupSpec,
    GangPolicy,
    PodGroupSpec,
    SchedulingPolicy,
    VolcanoPodGroupSpec,
)
from podium.cluster.port import Removed
from podium.cluster.simulated import SECOND, SimulatedCluster
from podium.framework.config import default_config
from podium.scheduler.loop import Scheduler
from podium.scheduler.observer import Observer
from podium.testing import make_node, make_pod

from tests.scheduler.world import config_of

LABEL, MINIMUM = "gang.example.com/name", "gang.example.com/min-available"
GPU = "example.com/gpu"


def config(**gangs):
    """The default configuration, with other settings for gangs."""
    default = default_config()
    podium = default.podium
    return replace(default, podium=replace(podium, gangs=replace(podium.gangs, **gangs)))


def node(name, cpu="64", gpu="4", **labels):
    built = make_node(name).capacity({GPU: gpu}, cpu=cpu, memory="64Gi", pods="110")
    return built.labels({key.replace("_", "-"): value for key, value in labels.items()}).build()


def member(gang, number, minimum, *, gpu="1", cpu="1", uid=None, **more):
    """A pod of a gang that is declared by label and annotation."""
    pod = make_pod(f"{gang}-{number}").request({GPU: gpu}, cpu=cpu)
    pod = pod.label(LABEL, gang).annotation(MINIMUM, str(minimum))
    if uid is not None:
        pod = pod.uid(uid)
    if "priority" in more:
        pod = pod.priority(more["priority"])
    built = pod.build()
    return replace(built, spec=replace(built.spec, termination_grace_period_seconds=more.get("grace", 0)))


def gang(name, size, minimum=None, **more):
    return [member(name, number, minimum or size, **more) for number in range(size)]


def declared(way, name, size, minimum):
    """The same gang, declared in one of four ways: its object, if there is one, and its pods."""
    plain = [make_pod(f"{name}-{number}").request({GPU: "1"}, cpu="1") for number in range(size)]
    meta = ObjectMeta(name=name, namespace="default", uid=f"group-{name}")
    if way == "label":
        return [], gang(name, size, minimum)
    if way == "scheduling.k8s.io":
        policy = SchedulingPolicy(gang=GangPolicy(min_count=minimum))
        group = PodGroup(metadata=meta, spec=PodGroupSpec(scheduling_policy=policy))
        return [group], [pod.group(name).build() for pod in plain]
    if way == "coscheduling":
        group = CoschedulingPodGroup(metadata=meta, spec=CoschedulingPodGroupSpec(min_member=minimum))
        return [group], [pod.label("scheduling.x-k8s.io/pod-group", name).build() for pod in plain]
    group = VolcanoPodGroup(metadata=meta, spec=VolcanoPodGroupSpec(min_member=minimum))
    return [group], [pod.annotation("scheduling.k8s.io/group-name", name).build() for pod in plain]


def plain(name, **more):
    """A pod in no gang."""
    pod = make_pod(name).request({GPU: "1"}, cpu="1")
    for key, value in more.items():
        pod = pod.annotation(key, value)
    built = pod.build()
    return replace(built, spec=replace(built.spec, termination_grace_period_seconds=0))


WAYS = ("label", "scheduling.k8s.io", "coscheduling", "volcano")


class Log(Observer):
    """Counts what happens to pods."""

    def __init__(self):
        self.binds = self.rollbacks = 0
        self.attempts = []

    def bound(self, entries):
        self.binds += len(entries)

    def rolled_back(self, entry, node, why):
        self.rollbacks += 1

    def attempted(self, attempt):
        self.attempts.append((attempt.entry.pod.metadata.name, attempt.result, attempt.message))


class World:
    def __init__(self, *nodes, latency=None, bind_fails=None, plugins=(), given=None, **gangs):
        self.cluster = SimulatedCluster(latency, bind_fails)
        self.config = given or (config_of(*plugins) if plugins else config(**gangs))
        self.log = Log()
        self.start()
        self.cluster.apply(nodes)

    def start(self):
        """Start the scheduler, or a new one that knows nothing yet."""
        self.scheduler = Scheduler(self.config, self.log)
        self.scheduler.follow(self.log)

    def restart(self, objects=()):
        """Forget everything but the cluster, and read that again."""
        nodes = list(self.nodes.values())
        self.cluster.events()
        self.start()
        self.cluster.apply([*nodes, *objects, *self.cluster.pods()])

    @property
    def nodes(self):
        return self.scheduler.state.nodes

    @property
    def now(self):
        return self.cluster.now() / SECOND

    def apply(self, *objects):
        self.cluster.apply(objects)
        return self

    def remove(self, *objects):
        for item in objects:
            self.cluster.schedule(self.cluster.now(), Removed(item))
        self.cluster.advance(self.cluster.now())
        return self

    def step(self, limit=None):
        before = self.scheduler.tries
        actions = self.scheduler.step(self.cluster.events(), self.cluster.now(), limit)
        self.cluster.perform(actions)
        return bool(actions) or self.scheduler.tries != before

    def settle(self, limit=None):
        """Run without letting time pass."""
        while self.step(limit):
            pass
        return self

    def until(self, seconds):
        """Let time pass up to a moment; everything due by then has happened."""
        end = round(seconds * SECOND)
        while True:
            self.settle()
            times = (self.cluster.next_time(), self.scheduler.next_retry())
            due = min((time for time in times if time is not None), default=None)
            if due is None or due > end:
                break
            self.cluster.advance(max(due, self.cluster.now() + 1))
        self.cluster.advance(end)
        return self.settle()

    def bound(self, prefix=""):
        """Names of the pods with this prefix that are on nodes."""
        pods = self.cluster.pods()
        return sorted(
            p.metadata.name for p in pods if p.spec.node_name and p.metadata.name.startswith(prefix)
        )

    def group(self, name):
        return next(group for group in self.scheduler.gangs if group.key.name == name)

    def state(self, name):
        return self.group(name).phase.value

    def message(self, name):
        """What a pending pod is told."""
        pod = next(p for p in self.cluster.pods() if p.metadata.name == name)
        return self.scheduler.state.entry(pod.metadata.uid).message


def resized(pod: Pod, gpu: str) -> Pod:
    container = pod.spec.containers[0]
    resources = ResourceRequirements(requests={GPU: gpu, "cpu": "1"})
    return replace(pod, spec=replace(pod.spec, containers=[replace(container, resources=resources)]))


def with_minimum(pod: Pod, minimum: int) -> Pod:
    annotations = {**pod.metadata.annotations, MINIMUM: str(minimum)}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))
