"""Defaults and validation against a table computed with the API server's own code, v1.37.2.

Each row has an object as given and either the errors of its creation or what is stored of it, trimmed to
what is read here. Values that are whole objects are printed with Go's field names there, so they are masked.
"""

import json
import re
from pathlib import Path

import msgspec
import pytest
from podium import api
from podium.api.admission import strategy
from podium.api.defaults import set_defaults
from podium.api.features import DEFAULT_GATES
from podium.api.identity import complete
from podium.api.manifest.decode import decode
from podium.api.manifest.documents import Document
from podium.api.validation import problems
from podium.errors import InputError

TABLE = Path(__file__).parent / "data" / "created.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text().splitlines()]
STORED = ("uid", "creationTimestamp", "generation")


def created(given):
    decoded = decode(Document("table:1", msgspec.Raw(json.dumps(given).encode())))
    item = decoded.item
    complete(item.metadata, decoded.kind.name, namespaced=decoded.kind.namespaced)
    set_defaults(item)
    if isinstance(item, api.Pod):
        strategy.merge_label_keys(item.spec, item.metadata.labels)
        strategy.default_pod_level(item.spec)
    return item


WHOLE = re.compile(r'(Invalid|Duplicate) value: \{(".*?)?\}(?=: |$)')


def masked(errors):
    return {WHOLE.sub(r"\1 value: {}", error) for error in errors}


def without_empty(value):
    if isinstance(value, dict):
        cleaned = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in cleaned.items() if item not in (None, {}, [], "")}
    return [without_empty(item) for item in value] if isinstance(value, list) else value


def stored(item):
    found = without_empty(msgspec.to_builtins(item))
    for field in STORED:
        found["metadata"].pop(field, None)
    if not isinstance(item, api.Node):
        found.pop("status", None)
    if isinstance(item, api.Job):
        found["metadata"].pop("labels", None)
        found["spec"]["template"].pop("metadata", None)
    return found


@pytest.mark.parametrize("kind", sorted({row["given"]["kind"] for row in ROWS}))
def test_creates_and_refuses_as_the_api_server(kind):
    rows = [row for row in ROWS if row["given"]["kind"] == kind]
    assert rows
    for row in rows:
        given = row["given"]
        if row.get("undecodable"):
            with pytest.raises(InputError):
                created(given)
            continue
        item = created(given)
        refused = masked(row.get("refused", []))
        assert masked(problems(item, DEFAULT_GATES)) == refused, json.dumps(given)
        if not refused:
            assert stored(item) == row["object"], json.dumps(given)


def test_the_table_is_whole():
    assert len(ROWS) > 1500
    assert sum("refused" in row for row in ROWS) > 1000
    assert sum("object" in row for row in ROWS) > 400
