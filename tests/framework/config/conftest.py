import pytest
from podium.errors import ConfigError
from podium.framework.config import parse_config
from podium.framework.registry import Registry

KUBE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PODIUM = "apiVersion: podium.dev/v1alpha1\nkind: PodiumConfiguration\n"


class Reader:
    """Reads configurations from text, with a registry that no installed package changes."""

    def __init__(self):
        self.registry = Registry.build(installed=())

    def __call__(self, kube="", podium=None):
        text = KUBE + kube + (f"\n---\n{PODIUM}{podium}" if podium is not None else "")
        return parse_config(text.encode(), "f.yaml", self.registry)

    def refusal(self, kube="", podium=None):
        with pytest.raises(ConfigError) as caught:
            self(kube, podium)
        text = str(caught.value)
        assert "\n" not in text
        return text

    def problems(self, kube):
        return self.refusal(kube).removeprefix("f.yaml: document 1: ").split("; ")


@pytest.fixture
def read():
    return Reader()
