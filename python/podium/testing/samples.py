"""Nodes and pods of many kinds, on which the conformance kit tries a plugin when it is given none."""

from podium.api import Node, Pod
from podium.testing.node_builder import make_node
from podium.testing.pod_builder import make_pod


def sample_nodes(count: int = 12) -> list[Node]:
    """Return nodes in three zones: some with taints, devices or a cordon, some small, one with nothing."""
    nodes = []
    for at in range(count):
        node = make_node(f"n{at}").label("topology.kubernetes.io/zone", f"zone-{at % 3}")
        if at % 6 != 5:
            node = node.capacity(cpu=str(2 << at % 4), memory=f"{4 << at % 4}Gi")
        if at % 4 == 1:
            node = node.capacity({"example.com/gpu": 4}).label("gpu", "yes")
        if at % 5 == 2:
            node = node.taint("dedicated", "batch")
        if at % 7 == 3:
            node = node.unschedulable()
        nodes.append(node.build())
    return nodes


def sample_pods() -> list[Pod]:
    """Return pending pods: an empty one, a plain one, and one for each kind of wish a pod can have."""
    zone = "topology.kubernetes.io/zone"
    web = make_pod("web").request(cpu="500m", memory="512Mi").label("app", "web").owner("ReplicaSet", "web")
    pods = [
        make_pod("empty").container(),
        web,
        make_pod("huge").request(cpu="1000", memory="10Ti"),
        make_pod("gpu").request({"cpu": "1", "example.com/gpu": 2}).node_selector({"gpu": "yes"}),
        make_pod("tolerant").request(cpu="1").toleration("dedicated").priority(1000),
        make_pod("spread").request(cpu="1").label("app", "s").spread(zone, {"app": "s"}),
        make_pod("lonely").request(cpu="1").label("app", "l").pod_anti_affinity(zone, {"app": "l"}),
        make_pod("near").request(cpu="1").pod_affinity(zone, {"app": "web"}, weight=10),
        make_pod("picky")
        .request(cpu="1")
        .node_affinity(zone, "In", ["zone-1"])
        .prefer_node(5, "gpu", "Exists"),
        make_pod("starting").request(cpu="1").init_container({"cpu": "3"}).host_port(80).priority(-1),
    ]
    return [pod.build() for pod in pods]


def sample_bound_pods(nodes: list[Node]) -> list[Pod]:
    """Return pods that run already, on every third node."""
    return [
        make_pod(f"bound-{at}").request(cpu="500m").label("app", "web").node(node.metadata.name).build()
        for at, node in enumerate(nodes)
        if at % 3 == 0
    ]
