"""The bundled sample: a synthetic cluster from a seed, in which every default plugin has something to decide.

Nothing in it is measured or taken from anyone: pools, teams and sizes are invented.
"""

import random
from pathlib import Path

import yaml

from podium.simulator.sample.applications import applications
from podium.simulator.sample.batch import batch
from podium.simulator.sample.manifests import Manifest
from podium.simulator.sample.nodes import nodes
from podium.simulator.sample.oddities import oddities
from podium.simulator.sample.policies import policies
from podium.simulator.sample.stateful import stateful
from podium.simulator.sample.storage import storage

__all__ = ["sample", "write_sample"]


def sample(seed: int = 0) -> list[Manifest]:
    """Return the manifests of the sample, not defaulted; one seed always gives the same list.

    About 320 nodes in seven pools and three zones, and workloads of about 3,300 pods.
    """
    rng = random.Random(seed)
    machines = nodes(rng)
    parts = [
        policies(),
        machines,
        storage(rng, machines),
        applications(rng),
        stateful(rng),
        batch(rng, machines),
        oddities(machines),
    ]
    return [manifest for part in parts for manifest in part]


def write_sample(path: str | Path, seed: int = 0) -> None:
    """Write the sample as one YAML file of many documents, for ``podium simulate -f``."""
    with Path(path).open("w", encoding="utf-8") as file:
        yaml.dump_all(sample(seed), file, Dumper=_PlainDumper, sort_keys=False)


class _PlainDumper(yaml.SafeDumper):
    """Writes objects that occur twice in full: anchors would confuse readers of manifests."""

    def ignore_aliases(self, _data: object) -> bool:
        return True
