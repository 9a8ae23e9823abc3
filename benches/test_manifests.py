"""Reading manifests: JSON and YAML documents become admitted, valid objects."""

import msgspec
import pytest
from podium.api import Pod, manifest

from benches.conftest import build


@pytest.fixture(params=["json", "yaml"])
def dump(request, tmp_path):
    """Return the path of 2,000 pods as ``kubectl get pods`` prints them."""
    pods = build("hetero", (1, 2_000)).pods
    listed = {"apiVersion": "v1", "kind": "List", "items": [msgspec.to_builtins(pod) for pod in pods]}
    for item in listed["items"]:
        item["apiVersion"] = "v1"
    path = tmp_path / f"pods.{request.param}"
    encode = msgspec.json.encode if request.param == "json" else msgspec.yaml.encode
    path.write_bytes(encode(listed))
    return str(path)


def test_load(benchmark, dump):
    loaded = benchmark.pedantic(manifest.load, args=([dump],), rounds=3)
    assert len(loaded.of(Pod)) == 2_000
