"""The code of docs/writing-a-plugin.md runs, and its gang keeps the shape of the usual Go tutorial."""

import re
from pathlib import Path

import pytest
from podium.cluster.simulated import SECOND, SimulatedCluster
from podium.framework.config import parse_config
from podium.framework.registry import Registry
from podium.scheduler.loop import Scheduler
from podium.testing import check_plugin, make_node, make_pod

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-plugin.md"


@pytest.fixture(scope="module")
def page():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def test_every_block_runs(page):
    assert page["report"].name == "CoolNodes"


def test_the_gang_is_short():
    block = next(b for b in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if "GangExample" in b)
    assert len(block.splitlines()) < 60


class Gang:
    def __init__(self, page, cpu):
        registry = Registry.build(installed=())
        registry.register(page["GangExample"])
        text = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: GangExample}]}}}]
"""
        self.scheduler = Scheduler(parse_config(text, "test", registry))
        self.cluster = SimulatedCluster()
        self.cluster.apply([make_node("n").capacity(cpu=cpu, pods="99").build()])

    def member(self, number, minimum=3, label="group.example.com/of"):
        pod = make_pod(f"g-{number}").request(cpu="1").label("gang.example.com/name", "g")
        return pod.annotation("gang.example.com/min-available", str(minimum)).build()

    def run(self, until):
        while True:
            before = self.scheduler.tries
            actions = self.scheduler.step(self.cluster.events(), self.cluster.now())
            self.cluster.perform(actions)
            if actions or self.scheduler.tries != before:
                continue
            due = [t for t in (self.cluster.next_time(), self.scheduler.next_retry()) if t is not None]
            if not due or min(due) > until * SECOND:
                return
            self.cluster.advance(min(due))

    def nodes(self):
        return [entry.node for entry in self.scheduler.state.entries()]


def test_it_keeps_the_contract(page):
    assert check_plugin(page["GangExample"]).points == ("reserve", "permit")
