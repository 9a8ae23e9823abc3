"""LimitRanger against a table computed with the API server's own plugin, v1.37.2."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from podium import api
from podium.api.admission import limits
from podium.api.defaults import set_defaults

TABLE = Path(__file__).parent.parent / "data" / "limits.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text().splitlines()]


def decode(kind, body):
    item = msgspec.convert(body, kind)
    set_defaults(item)
    return item


def split(text):
    """Take an aggregate apart: upstream walks maps, so its order varies."""
    body = text[1:-1] if text.startswith("[") else text
    return re.split(r", (?=minimum |maximum |\w[\w./-]* max limit)", body)


def plain(values):
    return {name: dict(values.get(name) or {}) for name in ("requests", "limits")}


def sets(errors):
    return [set(split(error)) for error in errors]


@pytest.mark.parametrize("row", [row for row in ROWS if "pod" in row])
def test_pods(row):
    ranges = [decode(api.LimitRange, body) for body in row["ranges"]]
    pod = decode(api.Pod, row["pod"])
    for item in ranges:
        limits.set_defaults(pod.spec, item)
    run = [*pod.spec.containers, *pod.spec.init_containers]
    found = [plain(msgspec.to_builtins(container.resources)) for container in run]
    assert found == [plain(resources) for resources in row["resources"]]
    refused = [reasons for item in ranges if (reasons := set(limits.judge_pod(pod.spec, item)))]
    assert refused == sets(row["errors"])


@pytest.mark.parametrize("row", [row for row in ROWS if "claim" in row])
def test_claims(row):
    ranges = [decode(api.LimitRange, body) for body in row["ranges"]]
    claim = decode(api.PersistentVolumeClaim, row["claim"])
    refused = [reasons for item in ranges if (reasons := set(limits.judge_claim(claim.spec, item)))]
    assert refused == sets(row["errors"])


def test_the_table_refuses_and_admits():
    assert sum(bool(row["errors"]) for row in ROWS) > 100
    assert sum(not row["errors"] for row in ROWS) > 50
