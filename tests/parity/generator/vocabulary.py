"""The words that scenarios are made of. Few of each, so that selectors, taints and images meet."""

from __future__ import annotations

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"

ZONES = ("us-east1-a", "us-east1-b", "us-east1-c")
NAMESPACES = ("default", "team-a", "team-b", "orphan")  # orphan has no Namespace object
NAMESPACE_LABELS = {"team": ("a", "b"), "env": ("prod", "dev")}

APPS = ("web", "db", "cache")
TIERS = ("front", "back")
HASHES = ("h1", "h2")

NODE_VALUES = {
    "disk": ("ssd", "hdd", "nvme"),
    "gen": ("1", "3", "7", "12", "007", "abc"),
    "arch": ("amd64", "arm64"),
}

TAINTS = (
    {"key": "spot", "value": "true", "effect": "PreferNoSchedule"},
    {"key": "flaky", "value": "", "effect": "PreferNoSchedule"},
    {"key": "flaky", "value": "very", "effect": "PreferNoSchedule"},
    {"key": "old", "effect": "PreferNoSchedule"},
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "infra", "effect": "NoExecute"},
    {"key": "spot", "value": "maybe", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"},
)

IMAGES = (
    "nginx",
    "nginx:1.29",
    "registry.example:5000/web",
    "registry.example:5000/web:v2",
    "registry.example/db@sha256:" + "0" * 64,
    "busybox:latest",
)

EXTENDED = ("example.com/gpu", "vendor.io/fpga", "vendor.io/nic")
HUGEPAGES = {"hugepages-2Mi": (256 << 20, 64 << 20), "hugepages-1Gi": (2 << 30, 1 << 30)}

PRIORITIES = (0, 10, 100, 1000, -5)
PROFILE = "default-scheduler"

DECLARED_FEATURES = (
    "UserNamespacesHostNetworkSupport",
    "RestartAllContainersOnContainerExits",
    "VolumeBindMountOptions",
)

HOST_PORTS = (80, 443, 8080)
HOST_IPS = ("", "0.0.0.0", "127.0.0.1", "10.0.0.1")
PROTOCOLS = ("TCP", "UDP", "SCTP")

CSI_DRIVERS = ("csi.example.com", "disk.vendor.io")
